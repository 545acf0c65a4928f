/** What is looked for in a listing, and which page of it: kept in the address, so that a reload finds it again. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { navigate, useAddress } from './routing.js'

/** So many stand on a page. */
const LIMIT = 20
/** Whoever types is not interrupted. */
const SETTLE_MS = 150

interface Search {
  /** As it stands in the field. */
  readonly words: string
  /** The query for the listing, a moment after the last letter was typed. */
  readonly query: { readonly search: string; readonly limit: number; readonly offset: number }
  readonly limit: number
  readonly offset: number
  setWords(words: string): void
  move(offset: number): void
}

export function useSearch(route: string): Search {
  const { query: address } = useAddress()
  const words = address.get('search') ?? ''
  const page = Math.max(1, Math.floor(Number(address.get('page'))) || 1)
  const offset = (page - 1) * LIMIT
  const go = (words: string, page: number, replace: boolean) => {
    const next = new URLSearchParams({ ...(words && { search: words }), ...(page > 1 && { page: String(page) }) })
    navigate(`${route}${next.size > 0 ? `?${next}` : ''}`, { replace })
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
