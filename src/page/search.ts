/** The search text and the page number of a list. Both are kept in the address, so that a reload restores them. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { navigate, useAddress } from './routing.js'

/** How many items a page shows. */
const LIMIT = 20
/** The search waits until the user stops typing. */
const SETTLE_MS = 150

export interface PagedSearch {
  /** The text in the field. */
  readonly words: string
  /** The query for the list, updated a moment after the last key press. */
  readonly query: { readonly search: string; readonly limit: number; readonly offset: number }
  readonly limit: number
  readonly offset: number
  setWords(words: string): void
  move(offset: number): void
}

/** `route` is the address of the list, which may have a query of its own. */
export function useSearch(route: string): PagedSearch {
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
  const settled = useSettled(words)
  const query = useMemo(() => ({ search: settled, limit: LIMIT, offset }), [settled, offset])
  return {
    words,
    query,
    limit: LIMIT,
    offset,
    setWords: words => go(words, 1, true),
    move: offset => go(words, offset / LIMIT + 1, false),
  }
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
