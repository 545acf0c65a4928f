/** A view with a list: search, table, row actions, pages and an empty state. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import { navigate, useAddress } from '../routing.js'
import { count, counted } from '../wording.js'
import { announce } from './announcer.jsx'
import { Button } from './button.jsx'
import { DeveloperOnly } from './developer-only.jsx'
import { EVERY_MS, type Resource, useResource } from './resource.js'
import { Empty } from './states.jsx'
import { Table, type TableProps } from './table.jsx'
import { View } from './view.jsx'

const LIMIT = 20
/** The search waits until the user stops typing. */
const SETTLE_MS = 150

type PagedSearch = ReturnType<typeof useSearch>

/** `route` is the address of the list. It may have a query of its own. */
function useSearch(route: string) {
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

interface Page<Row> {
  readonly data: readonly Row[]
  /** The number of rows on all pages. Absent if there is only one page. */
  readonly total?: number | undefined
  readonly offset?: number
}

type PagedList<Loaded> = Resource<Loaded & { readonly offset: number }> & { readonly search: PagedSearch }

/** A list that the server searches and pages. The search and the page are kept in the address. */
export function useList<Loaded extends Page<unknown>>(
  route: string,
  load: (query: PagedSearch['query'], signal: AbortSignal) => Promise<Loaded>,
  everyMs = EVERY_MS,
): PagedList<Loaded> {
  const search = useSearch(route)
  const { query } = search
  // The offset belongs to the loaded page, which stays visible until the next one has loaded.
  const resource = useResource(
    async signal => ({ ...(await load(query, signal)), offset: query.offset }),
    [route, query],
    everyMs,
  )
  return { ...resource, search }
}

interface ListBase<Row> {
  /** From `useList`, or a resource with all rows. */
  readonly of: Resource<Page<Row>> & { readonly search?: PagedSearch }
  /** The noun for one row, such as `session`. */
  readonly what: string
  /** What the search covers, such as `names and places`. Without it there is no search field. */
  readonly searches?: string | undefined
  readonly empty: ComponentChildren
}

interface ListProps<Row> extends ListBase<Row> {
  readonly children: (rows: readonly Row[]) => ComponentChildren
}

/** The list without the view around it, in any form. */
export function List<Row>({ of, what, searches, empty, children }: ListProps<Row>) {
  const { search } = of
  return (
    <DeveloperOnly of={of}>
      {page => {
        const { data, total = data.length, offset = 0 } = page
        const isSearching = search !== undefined && search.words !== ''
        return (
          <>
            {search && searches && (total > 0 || isSearching) && (
              <SearchField
                label={`Search ${what}s`}
                value={search.words}
                onChange={search.setWords}
                found={counted(total, what)}
              />
            )}
            {data.length > 0 && children(data)}
            {total === 0 && !isSearching && empty}
            {total === 0 && isSearching && <Empty title={`No ${what}s match`}>The search looks at {searches}.</Empty>}
            {search && <Pager offset={offset} total={total} onMove={search.move} />}
          </>
        )
      }}
    </DeveloperOnly>
  )
}

interface ListPageProps<Row> extends ListBase<Row>, Omit<TableProps<Row>, 'rows' | 'caption'> {
  readonly title: string
  /** The table's caption, if not the title. */
  readonly caption?: string
  readonly lead?: ComponentChildren
  readonly action?: ComponentChildren
  /** Shown above the list, such as the failure of a row's action. */
  readonly note?: ComponentChildren
  /** Shown below the list, such as further sections. */
  readonly children?: ComponentChildren
}

export function ListPage<Row>({ title, lead, action, note, children, ...more }: ListPageProps<Row>) {
  const { of, what, searches, empty, caption = title, ...table } = more
  return (
    <View title={title} lead={lead} action={action}>
      {note}
      <List of={of} what={what} searches={searches} empty={empty}>
        {rows => <Table {...table} caption={caption} rows={rows} />}
      </List>
      {children}
    </View>
  )
}

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly found: string
}

function SearchField({ label, value, onChange, found }: SearchFieldProps) {
  const id = useId()
  useEffect(() => {
    if (value !== '') announce(`${found} found.`)
  }, [found])
  return (
    <search class="row">
      <label for={id} class="unseen">
        {label}
      </label>
      <input
        type="search"
        id={id}
        value={value}
        placeholder={label}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <p class="quiet">{found}</p>
    </search>
  )
}

interface PagerProps {
  readonly offset: number
  readonly total: number
  readonly onMove: (offset: number) => void
}

function Pager({ offset, total, onMove }: PagerProps) {
  if (total <= LIMIT && offset === 0) return null
  const last = Math.min(offset + LIMIT, total)
  // Not `disabled`, which would take the focus from a button that was just pressed.
  const button = (name: string, isPossible: boolean, to: number) => (
    <Button small aria-disabled={!isPossible} onClick={() => isPossible && onMove(to)}>
      {name}
    </Button>
  )
  return (
    <nav class="row" aria-label="Pages">
      <span class="push quiet">
        {count(Math.min(offset + 1, total))} to {count(last)} of {count(total)}
      </span>
      {button('Previous', offset > 0, Math.max(0, offset - LIMIT))}
      {button('Next', last < total, offset + LIMIT)}
    </nav>
  )
}
