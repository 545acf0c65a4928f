/** The search text and the page number of a list. Both are kept in the address, so that a reload restores them. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { navigate, useAddress } from './routing.js'

/** How many items a page shows. */
const LIMIT = 20
/** The search waits until the user stops typing. */
const SETTLE_MS = 150

export type PagedSearch = ReturnType<typeof useSearch>

/** `route` is the address of the list, which may have a query of its own. */
export function useSearch(route: string) {
  const { query: address } = useAddress()
  const words = address.get('search') ?? ''
  const page = Math.max(1, Math.floor(Number(address.get('page'))) || 1)
  const offset = (page - 1) * LIMIT
  const go = (words: string, page: number, replace: boolean) => {
    const [path, own] = route.split('?')
    const next = new URLSearchParams(own)
    if (words) next.set('search', words)
    if (page > 1) next.set('page', String(page))
    navigate(`${path}${next.size > 0 ? `?${next}` : ''}`, { replace })
  }
  const [settled, setSettled] = useState(words)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [words])
  const query = useMemo(() => ({ search: settled, limit: LIMIT, offset }), [settled, offset])
  return {
    words,
    /** For the list, updated a moment after the last key press. */
    query,
    setWords: (words: string) => go(words, 1, true),
    move: (offset: number) => go(words, offset / LIMIT + 1, false),
  }
}
