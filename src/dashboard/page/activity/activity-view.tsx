/** Activity: the requests as they come in, those in flight, the runs of agents, and one exchange in full. */
import type { ComponentType } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { JournalBrief } from '../../../journal/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { ConnectCard } from '../connect/connect-card.jsx'
import { isRefusal } from '../live/feed.js'
import { useLive } from '../live/live.js'
import { navigate, useAddress, useKeys } from '../routing.jsx'
import { useAction } from '../widgets/action.js'
import { Button } from '../widgets/button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { reportAnswer, useOnce } from '../widgets/resource.js'
import { announce } from '../widgets/shared.js'
import { Empty, FailureNote, Waiting } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { count, counted } from '../wording.js'
import type { ExchangePanelProps } from './exchange-panel.jsx'
import { type Filter, filterIn, matching, queryOf, textIn } from './filter.js'
import { Flights, RequestRow, RunRow } from './request-row.jsx'
import { itemsOf } from './words.js'

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
  const { rows, paused, fresh, pause, resume, hold } = useRows(filter)
  const all = useLive(({ rows }) => rows)
  const era = useLive(({ era }) => era)
  const open = query.get('id') ?? all.find(({ message }) => message !== null && message === query.get('message'))?.id
  const close = () => navigate(routes.activity + queryOf(filter))
  const neighbours = useNeighbours(rows, open, filter, close)
  const flights = useLive(({ flights }) => flights)
  return (
    <div class={open === undefined ? 'activity stack' : 'activity activity-open stack'}>
      <div class="activity-list stack">
        <Toolbar filter={filter} open={open} paused={paused} fresh={fresh} pause={pause} resume={resume} />
        {rows.length > 0 || flights.length > 0 ? (
          <>
            <Flights of={flights} />
            <List rows={rows} open={open} hold={hold} />
          </>
        ) : (
          <Nothing isFiltered={all.length > 0} />
        )}
      </div>
      {open !== undefined && (
        <LatePanel
          key={`${era} ${open}`}
          id={open}
          {...neighbours}
          brief={all.find(({ id }) => id === open) ?? rows.find(({ id }) => id === open)}
          onClose={close}
        />
      )}
    </div>
  )
}

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
  const rows = useLive(({ rows }) => rows)
  const era = useLive(({ era }) => era)
  const [isPaused, setPaused] = useState(false)
  const [isPointing, setPointing] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const held = useRef({ rows, era })
  if (!(isPaused || isPointing) || held.current.era !== era) held.current = { rows, era }
  const { rows: base } = held.current
  const withText = useTextMatches(textIn(filter), base[0]?.id)
  const shown = useMemo(() => {
    const fits = matching(filter)
    return base.filter(brief => fits(brief) && (withText?.has(brief.id) ?? true))
  }, [base, filter, withText])
  useEffect(() => () => clearTimeout(timer.current), [])
  return {
    rows: shown,
    paused: isPaused,
    /** How many requests came since the list was paused. */
    fresh: Number(rows[0]?.id ?? 0) - Number(base[0]?.id ?? 0),
    pause() {
      announce('Paused.')
      setPaused(true)
    },
    resume() {
      announce('Resumed.')
      setPaused(false)
    },
    hold() {
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setPointing(false), POINTED_MS)
      setPointing(true)
    },
  }
}

const TYPING_MS = 300
const nothingYet: ReadonlySet<string> = new Set()

/** The ids of the exchanges whose request or answer contains `text`, which only the journal knows; undefined without a text. */
function useTextMatches(text: string | undefined, newestId: string | undefined) {
  const [found, setFound] = useState(nothingYet)
  const find = async (signal: AbortSignal): Promise<ReadonlySet<string>> => {
    const search = (where: object) => control('GET /journal', { query: { ...where, brief: true, limit: 1000 }, signal })
    const pages = await Promise.all([search({ text }), search({ answer: text })])
    return new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)))
  }
  const load = text === undefined ? undefined : find
  useOnce({ load, take: setFound, failed: () => setFound(nothingYet), afterMs: TYPING_MS }, [text, newestId])
  return text === undefined ? undefined : found
}

/** The addresses of the previous and next exchange, and the keys that open them or close the current one. */
function useNeighbours(rows: readonly JournalBrief[], open: string | undefined, filter: Filter, close: () => void) {
  const place = rows.findIndex(({ id }) => id === open)
  const linkTo = (index: number) => {
    const there = place < 0 ? undefined : rows[index]
    return there && routes.activity + queryOf(filter, there.id)
  }
  const [newer, older] = [linkTo(place - 1), linkTo(place + 1)]
  useKeys({
    Escape: open === undefined ? undefined : close,
    j: older === undefined ? undefined : () => navigate(older),
    k: newer === undefined ? undefined : () => navigate(newer),
    '/': () => document.getElementById(SEARCH)?.focus(),
  })
  return { newer, older }
}

const SEARCH = 'activity-search'

interface ToolbarProps extends Pick<ReturnType<typeof useRows>, 'paused' | 'fresh' | 'pause' | 'resume'> {
  readonly filter: Filter
  readonly open: string | undefined
}

function Toolbar({ filter, open, paused, fresh, pause, resume }: ToolbarProps) {
  const live = useLive(live => live)
  const { failure, run } = useAction()
  const change = (changes: Partial<Filter>) =>
    navigate(routes.activity + queryOf({ ...filter, ...changes }, open), { replace: true })
  return (
    <div class="activity-bar">
      <search class="row">
        <label for={SEARCH} class="unseen">
          Search requests
        </label>
        <input
          id={SEARCH}
          type="search"
          class="grow"
          placeholder="Search, or status:4xx model:gpt-4o text:hello"
          spellcheck={false}
          autocomplete="off"
          value={filter.search}
          onInput={({ currentTarget }) => change({ search: currentTarget.value })}
        />
        <Button small aria-pressed={filter.problems} onClick={() => change({ problems: !filter.problems })}>
          Problems {count(live.problems)}
        </Button>
        <p class="quiet small">{stateInWords(live)}</p>
        {paused && fresh > 0 && (
          <Button small tone="main" onClick={resume}>
            Show {count(fresh)} new
          </Button>
        )}
        <Button small icon={paused ? 'play' : 'pause'} onClick={paused ? resume : pause}>
          {paused ? 'Resume' : 'Pause'}
        </Button>
        <Button small onClick={() => run(() => control('DELETE /journal'), 'The requests were cleared.')}>
          Clear
        </Button>
      </search>
      <FailureNote failure={failure} />
    </div>
  )
}

type LiveNow = Parameters<Parameters<typeof useLive>[0]>[0]

/** `2 in flight · 1,204 tokens`. */
function stateInWords({ connection, flights, tokens, skipped }: LiveNow): string {
  const parts = [
    connection === 'lost' && 'Not connected',
    flights.length > 0 && `${flights.length} in flight`,
    tokens > 0 && counted(tokens, 'token'),
    skipped > 0 && `${counted(skipped, 'request')} not listed`,
  ]
  return parts.filter(Boolean).join(' · ')
}

interface ListProps {
  readonly rows: readonly JournalBrief[]
  readonly open: string | undefined
  /** Called while the pointer moves over the rows. */
  readonly hold: () => void
}

/** Arrow keys move between the rows; the Tab key stops at one of them. */
function List({ rows, open, hold }: ListProps) {
  const list = useRef<HTMLOListElement>(null)
  const items = useMemo(() => itemsOf(rows), [rows])
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
          <RunRow key={`run ${item.id}`} of={item} open={open} isReachable={i === 0} />
        ) : (
          <RequestRow key={item.id} of={item} isOpen={item.id === open} isReachable={i === 0} />
        ),
      )}
    </ol>
  )
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No requests match">Change the search, or show more than problems.</Empty>
  return (
    <section class="welcome stack">
      <h2>Waiting for your first request</h2>
      <p class="quiet">Point your app at this address; every request appears here as it begins.</p>
      <ConnectCard />
    </section>
  )
}
