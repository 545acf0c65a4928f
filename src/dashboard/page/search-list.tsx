/** A list that the server searches: a field, how many were found, and the first of them. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { DeveloperOnly } from './widgets/developer-only.jsx'
import { SearchField } from './widgets/fields.jsx'
import { EVERY_MS, type Resource, useResource } from './widgets/resource.js'
import { announce } from './widgets/shared.js'
import { Empty } from './widgets/states.jsx'
import { count, counted } from './wording.js'

/** More would make the page slow. The search finds the rest. */
const MOST = 200
/** The search waits until the user stops typing. */
const SETTLE_MS = 150

interface Found<Row> {
  readonly data: readonly Row[]
  readonly total: number
}

interface Searched<Row> extends Resource<Found<Row>> {
  readonly words: string
  setWords(words: string): void
}

export function useSearch<Row>(
  load: (query: { readonly search: string; readonly limit: number }, signal: AbortSignal) => Promise<Found<Row>>,
  first = '',
): Searched<Row> {
  const [words, setWords] = useState(first)
  const [settled, setSettled] = useState(first)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [words])
  const resource = useResource(signal => load({ search: settled, limit: MOST }, signal), [settled], EVERY_MS)
  return { ...resource, words, setWords }
}

interface SearchListProps<Row> {
  readonly of: Searched<Row>
  /** The noun for one row, such as `session`. */
  readonly what: string
  /** What the search looks at. */
  readonly searches: string
  readonly empty: ComponentChildren
  /** Beside the search. */
  readonly action?: ComponentChildren
  readonly children: (rows: readonly Row[]) => ComponentChildren
}

export function SearchList<Row>({ of, what, searches, empty, action, children }: SearchListProps<Row>) {
  const { words, setWords } = of
  const id = useId()
  const label = `Search ${what}s`
  const found = of.value && counted(of.value.total, what)
  useEffect(() => {
    if (words !== '' && found) announce(`${found} found.`)
  }, [found])
  return (
    <DeveloperOnly of={of}>
      {({ data, total }) => (
        <div class="stack">
          <div class="row">
            {(total > 0 || words !== '') && (
              <search class="row grow">
                <SearchField id={id} label={label} placeholder={label} value={words} onChange={setWords} />
                <span class="quiet">{found}</span>
              </search>
            )}
            {action}
          </div>
          {data.length > 0 && children(data)}
          {total > data.length && data.length > 0 && <p class="quiet">… {count(total - data.length)} more: search.</p>}
          {total === 0 &&
            (words === '' ? empty : <Empty title={`No ${what}s match`}>The search looks at {searches}.</Empty>)}
        </div>
      )}
    </DeveloperOnly>
  )
}
