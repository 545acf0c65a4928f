/** Activity: the requests as they come in, those in flight, the runs of agents, and one exchange in full. */
import type { ComponentType } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { JournalBrief, JournalFlight } from '../../../journal/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { ConnectCard } from '../connect/connect-card.jsx'
import { isRefusal } from '../live/feed.js'
import { type LiveList, useLive } from '../live/live.js'
import { navigate, useAddress, useKeys } from '../routing.jsx'
import { SinceSave } from '../since-save.jsx'
import { useAction } from '../widgets/action.js'
import { Button } from '../widgets/button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { CloseButton, Dialog, openDialog } from '../widgets/dialog.jsx'
import { SearchField } from '../widgets/fields.jsx'
import { reportAnswer, useOnce } from '../widgets/resource.js'
import { announce } from '../widgets/shared.js'
import { Empty, FailureNote, Waiting } from '../widgets/states.jsx'
import { Pairs, View } from '../widgets/view.jsx'
import { callerName, count, counted } from '../wording.js'
import { sendAgain } from './addresses.js'
import type { ExchangePanelProps } from './exchange-panel.jsx'
import { type Filter, filterIn, journalQueryOf, queryOf } from './filter.js'
import { openRepair } from './repairs.jsx'
import { Flights, RequestRow, RunRow, type Shows } from './request-row.jsx'
import { itemsOf, subjectOf, titlesOf } from './words.js'

export function ActivityView() {
  const connection = useLive(({ connection }) => connection)
  const failure = useLive(({ failure }) => failure)
  // A lost connection comes back by itself. Only a refusal needs the user.
  const refusal = failure && isRefusal(failure) ? failure : undefined
  const value = connection === 'opening' ? undefined : true
  return (
    <View title="Activity" bare>
      <DeveloperOnly of={{ value, failure: refusal, reload: () => {} }}>{() => <Activity />}</DeveloperOnly>
    </View>
  )
}

function Activity() {
  const { query } = useAddress()
  const search = query.toString()
  const filter = useMemo(() => filterIn(new URLSearchParams(search)), [search])
  const list = useRows(filter)
  const { rows, found, hold } = list
  const { rows: all, era, flights } = useLive(live => live)
  const open = query.get('id') ?? all.find(({ message }) => message !== null && message === query.get('message'))?.id
  const close = () => navigate(routes.activity + queryOf(filter))
  useListKeys(rows, open, filter, close)
  const brief = all.find(({ id }) => id === open) ?? rows.find(({ id }) => id === open)
  return (
    <div class={open === undefined ? 'activity stack' : 'activity activity-open stack'}>
      <div class="activity-list stack">
        <Toolbar filter={filter} list={list} open={open} />
        {rows.length > 0 || flights.length > 0 ? (
          <>
            <SinceSave />
            <Flights of={flights.filter(({ run }) => !rows.some(row => row.run === run))} />
            <List rows={rows} flights={flights} open={open} hold={hold} />
          </>
        ) : (
          <Nothing isFiltered={all.length > 0} isSearching={found?.of !== filter} />
        )}
      </div>
      {open !== undefined && (
        <LatePanel
          key={`${era} ${open}`}
          id={open}
          brief={brief}
          messagesBefore={brief && stepBefore(brief, all)}
          onClose={close}
        />
      )}
    </div>
  )
}

const stepBefore = ({ id, run, prompt }: JournalBrief, all: readonly JournalBrief[]) =>
  prompt === null
    ? undefined
    : all.find(row => row.run === run && row.prompt !== null && Number(row.id) < Number(id))?.id

let Panel: ComponentType<ExchangePanelProps> | undefined

/** The panel, loaded when the first exchange is opened. */
function LatePanel(props: ExchangePanelProps) {
  const [, render] = useState({})
  useEffect(() => {
    if (Panel) return
    import('./exchange-panel.jsx').then(({ ExchangePanel }) => {
      Panel = ExchangePanel
      render({})
    }, reportLost)
  }, [])
  return Panel ? <Panel {...props} /> : <Waiting />
}

const reportLost = () => reportAnswer(false)

/** How long rows stay in place after the pointer stops moving over them. */
const POINTED_MS = 1500

/** The rows that pass the filter. They stay as they are while the list is paused, or the pointer moves over it. */
function useRows(filter: Filter) {
  const live = useLive(({ rows }) => rows)
  const era = useLive(({ era }) => era)
  const found = useSearch(filter, live[0]?.id, era)
  const rows = found?.rows ?? live
  const [isPaused, setPaused] = useState(false)
  const [isPointing, setPointing] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const held = useRef({ rows, era, filter })
  const isHeld = (isPaused || isPointing) && held.current.filter === filter
  if (!isHeld || held.current.era !== era)
    held.current = { rows, era, filter: found && found.of !== filter ? held.current.filter : filter }
  const { rows: shown } = held.current
  useEffect(() => () => clearTimeout(timer.current), [])
  return {
    rows: shown,
    found,
    isPaused,
    /** How many requests came since the list was paused. */
    fresh: Number(rows[0]?.id ?? 0) - Number(shown[0]?.id ?? 0),
    /** Pauses it, or resumes it. */
    toggle() {
      announce(isPaused ? 'Resumed.' : 'Paused.')
      setPaused(!isPaused)
    },
    hold() {
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setPointing(false), POINTED_MS)
      setPointing(true)
    },
  }
}

const TYPING_MS = 250
const MOST_FOUND = 200

interface Found {
  readonly rows: readonly JournalBrief[]
  readonly count: number
  readonly total: number
  readonly of: Filter
}

/** What the journal finds, again for each newer request; undefined without a filter. What was found last stays until then. */
function useSearch(filter: Filter, newestId: string | undefined, era: number): Found | undefined {
  const [found, setFound] = useState<Found>()
  const query = journalQueryOf(filter)
  const find = async (signal: AbortSignal): Promise<Found> => {
    const search = async (query: object) => {
      const page = await control('GET /journal', { query: { ...query, brief: true, limit: MOST_FOUND }, signal })
      return page as Extract<typeof page, { count: number }>
    }
    const [page, answers] = await Promise.all([search(query ?? {}), query?.text ? search(answered(query)) : undefined])
    const byId = new Map([...page.data, ...(answers?.data ?? [])].map(row => [row.id, row]))
    const rows = [...byId.values()].sort((a, b) => Number(b.id) - Number(a.id))
    const isWhole = page.data.length === page.count
    return { rows, count: answers && isWhole ? rows.length : page.count, total: page.total, of: filter }
  }
  useOnce({ load: query && find, take: setFound, failed: () => {}, afterMs: TYPING_MS }, [filter, newestId, era])
  return query && found
}

/** `text` is looked for in answers as well. */
const answered = ({ text, ...others }: Readonly<Record<string, unknown>>) => ({ ...others, answer: text })

/** The keys of the list: to move in it, and to act on the open exchange. */
function useListKeys(rows: readonly JournalBrief[], open: string | undefined, filter: Filter, close: () => void) {
  const place = rows.findIndex(({ id }) => id === open)
  const { run } = useAction()
  const go = (index: number) => {
    const there = rows[index]
    return there && (() => navigate(routes.activity + queryOf(filter, there.id)))
  }
  useKeys({
    Escape: open === undefined ? undefined : close,
    j: go(place + 1),
    k: place > 0 ? go(place - 1) : undefined,
    a: open === undefined ? undefined : () => run(() => openRepair(open, 'answer')),
    r: open === undefined ? undefined : () => run(() => sendAgain(open), 'The request was sent again.'),
    h: () => run(() => control('POST /holds', { body: {} }), 'The next chat is held.'),
    '/': () => document.getElementById(SEARCH)?.focus(),
    '?': () => openDialog(<Keys />),
  })
}

const keys = [
  ['/', 'search'],
  ['j', 'the next exchange'],
  ['k', 'the one before'],
  ['a', 'answer the open one by hand'],
  ['r', 'send it again'],
  ['h', 'hold the next chat'],
  ['Esc', 'close'],
] as const

const Keys = () => (
  <Dialog title="Keys">
    <Pairs of={keys} />
    <div class="form-buttons row">
      <CloseButton>Close</CloseButton>
    </div>
  </Dialog>
)

const SEARCH = 'activity-search'
/** Finds the requests that no rule answered. */
const CANNED = 'source:canned'

interface ToolbarProps {
  readonly filter: Filter
  readonly list: ReturnType<typeof useRows>
  readonly open: string | undefined
}

function Toolbar({ filter, list, open }: ToolbarProps) {
  const live = useLive(live => live)
  const { failure, run } = useAction()
  const isCanned = filter.search === CANNED
  const change = (changes: Partial<Filter>) =>
    navigate(routes.activity + queryOf({ ...filter, ...changes }, open), { replace: true })
  return (
    <div class="activity-bar">
      <search class="row">
        <SearchField
          id={SEARCH}
          label="Search requests"
          class="grow"
          placeholder="Search, or status:4xx model:gpt-4o text:hello"
          value={filter.search}
          onChange={search => change({ search })}
        />
        {list.found && (
          <p class="quiet small" role="status">
            {count(list.found.count)} of {count(list.found.total)}
          </p>
        )}
        <Button small aria-pressed={filter.problems} onClick={() => change({ problems: !filter.problems })}>
          Problems {count(live.problems)}
        </Button>
        {live.unruled > 0 && (
          <Button small tone="bare" aria-pressed={isCanned} onClick={() => change({ search: isCanned ? '' : CANNED })}>
            no rule {count(live.unruled)}
          </Button>
        )}
        <p class="quiet small">{stateInWords(live)}</p>
        <PauseButtons of={list} />
        <Button small onClick={() => run(() => control('DELETE /journal'), 'The requests were cleared.')}>
          Clear
        </Button>
      </search>
      <FailureNote failure={failure} />
    </div>
  )
}

/** What came while the list was paused is counted, and shown when it is resumed. */
const PauseButtons = ({ of: { isPaused, fresh, toggle } }: { readonly of: ToolbarProps['list'] }) => (
  <>
    {isPaused && fresh > 0 && (
      <Button small tone="main" onClick={toggle}>
        Show {count(fresh)} new
      </Button>
    )}
    <Button small icon={isPaused ? 'play' : 'pause'} onClick={toggle}>
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  </>
)

/** `Not connected · 300 requests not listed`. */
function stateInWords({ connection, skipped }: LiveList): string {
  const parts = [connection === 'lost' && 'Not connected', skipped > 0 && `${counted(skipped, 'request')} not listed`]
  return parts.filter(Boolean).join(' · ')
}

interface ListProps {
  readonly rows: readonly JournalBrief[]
  readonly flights: readonly JournalFlight[]
  readonly open: string | undefined
  /** Called while the pointer moves over the rows. */
  readonly hold: () => void
}

/** Arrow keys move between the rows; the Tab key stops at one of them. */
function List({ rows, flights, open, hold }: ListProps) {
  const list = useRef<HTMLOListElement>(null)
  const items = useMemo(() => itemsOf(rows, flights), [rows, flights])
  const shows = showsOf(rows)
  const titles = useMemo(() => titlesOf(rows), [rows])
  const titleOf = (brief: JournalBrief | undefined) => brief && (titles.get(brief.prompt) ?? subjectOf(brief))
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const links = [...(list.current?.querySelectorAll<HTMLElement>('a.request-what') ?? [])]
    const now = links.indexOf(document.activeElement as HTMLElement)
    if (step === undefined || now < 0) return
    event.preventDefault()
    links[Math.max(0, Math.min(links.length - 1, now + step))]?.focus()
  }
  return (
    <ol
      ref={list}
      class="requests"
      aria-label="Requests, the newest first"
      onKeyDown={move}
      onPointerMove={hold}
      onPointerDown={hold}
    >
      {items.map((item, i) =>
        'steps' in item ? (
          <RunRow key={`run ${item.id}`} of={item} title={titleOf(item.steps[0])} open={open} isReachable={i === 0} />
        ) : (
          <RequestRow
            key={item.id}
            of={item}
            title={titleOf(item)}
            isOpen={item.id === open}
            isReachable={i === 0}
            {...shows}
          />
        ),
      )}
    </ol>
  )
}

/** Which values are not the same in all rows. */
function showsOf(rows: readonly JournalBrief[]): Shows {
  const varies = (read: (row: JournalBrief) => string | null) =>
    new Set(rows.map(read).filter(value => value !== null)).size > 1
  return { showsModel: varies(({ model }) => model), showsCaller: varies(callerName) }
}

function Nothing({ isFiltered, isSearching }: { readonly isFiltered: boolean; readonly isSearching: boolean }) {
  if (isFiltered && isSearching) return <Waiting />
  if (isFiltered) return <Empty title="No requests match">Change the search, or show more than problems.</Empty>
  return (
    <section class="welcome stack">
      <h2>Waiting for your first request</h2>
      <p class="quiet">Point your app at this address; every request appears here as it begins.</p>
      <ConnectCard />
    </section>
  )
}
