/** The rows of the list: requests in flight, requests that have ended, and the runs of agents as waterfalls. */
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { JournalBrief, JournalFlight } from '../../../journal/operations.js'
import { exchangeAt, messagesAt } from '../../routes.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { Link } from '../routing.jsx'
import { useAction } from '../widgets/action.js'
import { Button, CopyButton } from '../widgets/button.jsx'
import { useTicks } from '../widgets/moment.jsx'
import { Badge, Disclosure, StatusBadge } from '../widgets/view.jsx'
import { callerName, clockTime, count, counted, duration } from '../wording.js'
import { filterBy, openExchange } from './addresses.js'
import { RepairNote, Repairs } from './repairs.jsx'
import {
  type AgentRun,
  factsOfRun,
  kindOf,
  labelOf,
  reasonOf,
  type Span,
  spansOf,
  subjectOf,
  ticksOf,
} from './words.js'

/** The values that are not the same in all rows. What repeats is not shown. */
export interface Shows {
  readonly showsModel: boolean
  readonly showsCaller: boolean
}

interface RowProps {
  readonly of: JournalBrief
  readonly isOpen: boolean
  /** Whether the Tab key stops at its link. It does at one row of the list; arrow keys lead to the others. */
  readonly isReachable: boolean
}

interface RequestRowProps extends RowProps, Shows {
  readonly title: string | undefined
}

/** The same element as before, which is not compared again, unless something has changed. */
export const RequestRow = (row: RequestRowProps) => useMemo(() => <DrawnRow {...row} />, Object.values(row))

const DrawnRow = ({ of: brief, title, isOpen, isReachable, ...shows }: RequestRowProps) => (
  <li class={isOpen ? 'request request-open' : 'request'}>
    <div class="request-line">
      <Value word="status" value={String(brief.status ?? 'none')}>
        <StatusBadge status={brief.status} />
      </Value>
      <Value word={brief.call === null ? 'endpoint' : 'call'} value={brief.call ?? brief.endpoint ?? brief.path}>
        <span class="quiet">{kindOf(brief)}</span>
      </Value>
      <ExchangeLink of={brief} isOpen={isOpen} isReachable={isReachable} label={title} />
      <Reason of={brief} />
      <span class="request-end">
        <Repairs of={brief} />
        <Facts of={brief} {...shows} />
      </span>
    </div>
    <RepairNote id={brief.id} />
  </li>
)

interface ValueProps {
  readonly word: string
  readonly value: string
  /** What is shown, if not the value itself. */
  readonly children?: ComponentChildren
}

/** A value that filters the list when it is clicked. */
const Value = ({ word, value, children }: ValueProps) => (
  <button
    type="button"
    class="value"
    tabIndex={-1}
    title={`Only ${word}: ${value}`}
    onClick={() => filterBy(word, value)}
  >
    {children ?? <bdi>{value}</bdi>}
  </button>
)

interface ExchangeLinkProps extends RowProps {
  readonly label?: string | undefined
}

/** Opens an exchange beside the list, which stays filtered as it is. */
function ExchangeLink({ of: { id, ...brief }, isOpen, isReachable, label }: ExchangeLinkProps) {
  return (
    <Link
      to={exchangeAt(id)}
      class="request-what cut"
      current={isOpen}
      reachable={isReachable}
      open={() => openExchange(id)}
    >
      <bdi>{label ?? subjectOf(brief)}</bdi>
    </Link>
  )
}

function Reason({ of: brief }: { readonly of: JournalBrief }) {
  const needsCare = brief.error !== null || brief.openaiRefuses !== null || !brief.complete
  return (
    <span class={needsCare ? 'request-why cut care' : 'request-why cut quiet'} title={reasonOf(brief)}>
      <bdi>{reasonOf(brief)}</bdi>
      {brief.message !== null && (
        <>
          {': '}
          <Link to={messagesAt({ message: brief.message })}>its message</Link>
        </>
      )}
    </span>
  )
}

/** Who asked, with which model, when, how many tokens it took and how long. */
function Facts({ of: brief, showsModel, showsCaller }: Shows & { readonly of: JournalBrief }) {
  const { at, model, tokens, durationMs, mode, scope } = brief
  const usual = useConfig().mode
  const caller = callerName(brief)
  return (
    <span class="request-facts quiet">
      {mode !== null && mode !== usual && (
        <Value word="mode" value={mode}>
          {mode}
        </Value>
      )}
      {scope && <Value word="scope" value={scope} />}
      {model && showsModel && <Value word="model" value={model} />}
      {(showsCaller || brief.caller.kind === 'refused') && (
        <Value word="credential" value={caller === 'no credential' || caller === 'not identified' ? 'none' : caller}>
          <bdi>{caller}</bdi>
        </Value>
      )}
      {tokens && <span>{count(tokens.prompt + tokens.completion)} tok</span>}
      <span class="request-duration">{duration(durationMs)}</span>
      <time class="request-time" dateTime={at}>
        {clockTime(at).slice(0, -4)}
      </time>
    </span>
  )
}

interface Props {
  readonly of: AgentRun
  readonly title: string | undefined
  readonly open: string | undefined
  readonly isReachable: boolean
}

/** How often what is in flight grows. */
const GROWS_EVERY_MS = 250

/** The run of an agent as a waterfall: each step with its time, on one scale, with the gaps in which the app itself worked. */
export function RunRow({ of: run, title, open, isReachable }: Props) {
  const { steps, flights } = run
  useTicks(flights.length > 0 ? GROWS_EVERY_MS : undefined)
  const now = Date.now()
  const { startMs, durationMs, tokens, worst, slowestMs } = factsOfRun(run, now)
  const part = (ms: number) => `${Math.min(100, (ms / Math.max(durationMs, 1)) * 100)}%`
  const asTest = () => control('GET /journal/{id}/{form}', { id: run.id, form: 'test', query: { run: true } })
  return (
    <li class="request run">
      <div class="request-line">
        <Value word="run" value={run.id}>
          <Badge tone="plain">run</Badge>
        </Value>
        <strong class="request-what cut">
          <bdi>{title}</bdi>
        </strong>
        <span class="request-facts quiet">
          {worst !== undefined && <StatusBadge status={worst} />}
          <span>{counted(steps.length + flights.length, 'step')}</span>
          <span class="request-duration">{duration(durationMs)}</span>
          {tokens > 0 && <span>{count(tokens)} tok</span>}
          <CopyButton text={asTest} what="the run as a test" words="Test" />
        </span>
      </div>
      <Scale ticks={ticksOf(durationMs)} part={part} />
      <ol class="steps" aria-label="Steps of the run">
        {spansOf(run, startMs, durationMs, now).map(span => (
          <SpanRow
            key={span.kind === 'app' ? `gap ${span.afterMs}` : `${span.kind} ${span.of.id}`}
            of={span}
            part={part}
            isSlowest={span.kind === 'step' && steps.length > 1 && span.durationMs === slowestMs}
            isOpen={span.kind === 'step' && span.of.id === open}
            isReachable={isReachable}
          />
        ))}
      </ol>
    </li>
  )
}

const Scale = ({ ticks, part }: { readonly ticks: readonly number[] } & Pick<SpanProps, 'part'>) => (
  <div class="step scale quiet" aria-hidden="true">
    <span class="lane">
      {ticks.map(ms => (
        <span key={ms} class="tick" style={{ left: part(ms) }}>
          {ms === 0 ? '0' : duration(ms)}
        </span>
      ))}
    </span>
  </div>
)

interface SpanProps {
  readonly of: Span
  readonly part: (ms: number) => string
  readonly isSlowest: boolean
  readonly isOpen: boolean
  readonly isReachable: boolean
}

function SpanRow({ of: span, part, isSlowest, isOpen, isReachable }: SpanProps) {
  const time = <SpanTime of={span} part={part} />
  if (span.kind === 'app')
    return (
      <li class="step gap quiet">
        <span />
        <span class="request-what">your app</span>
        {time}
      </li>
    )
  if (span.kind === 'flight')
    return (
      <li class="step">
        <span class="quiet">{kindOf(span.of)}</span>
        <span class="step-label">
          <span class="request-what cut">{progressOf(span.of)}</span>
          <Held of={span.of} />
        </span>
        {time}
      </li>
    )
  const { of: brief } = span
  return (
    <li class={['step', isOpen && 'request-open', isSlowest && 'step-slowest'].filter(Boolean).join(' ')}>
      <span class="quiet">{kindOf(brief)}</span>
      <span class="step-label">
        {(brief.status ?? 0) >= 400 && <StatusBadge status={brief.status} />}
        <ExchangeLink of={brief} isOpen={isOpen} isReachable={isReachable} label={labelOf(brief)} />
        <Reason of={brief} />
      </span>
      {time}
      <Repairs of={brief} />
      <RepairNote id={brief.id} />
    </li>
  )
}

/** Its bar on the scale of the run, and how long it took. */
const SpanTime = ({ of: { kind, afterMs, durationMs }, part }: Pick<SpanProps, 'of' | 'part'>) => (
  <>
    <span class={kind === 'step' ? 'lane step-time' : 'lane'} aria-hidden="true">
      <span
        class={kind === 'step' ? 'bar-of step-bar' : `bar-of bar-of-${kind}`}
        style={{ marginLeft: part(afterMs), width: part(durationMs) }}
      />
    </span>
    <span class="step-took">{duration(durationMs)}</span>
  </>
)

/** More would push the list out of sight. */
const MOST_FLIGHTS = 6

/** The requests in flight that belong to no run; many are folded into one line. */
export function Flights({ of: flights }: { readonly of: readonly JournalFlight[] }) {
  useTicks(flights.length > 0 ? GROWS_EVERY_MS : undefined)
  if (flights.length === 0) return null
  const list = (
    <ol class="requests" aria-label="Requests in flight">
      {flights.map(flight => (
        <li key={flight.id} class="request flight">
          <div class="request-line">
            <span class="spinner" aria-hidden="true" />
            <span class="quiet">{kindOf(flight)}</span>
            <bdi class="request-what cut">{subjectOf(flight)}</bdi>
            <span class="request-why cut accent">{progressOf(flight)}</span>
            <span class="request-end">
              <Held of={flight} />
              <span class="request-facts quiet">
                <span class="request-duration">{duration(Math.max(0, Date.now() - Date.parse(flight.at)))}</span>
              </span>
            </span>
          </div>
        </li>
      ))}
    </ol>
  )
  if (flights.length <= MOST_FLIGHTS) return list
  const oldest = duration(Math.max(0, Date.now() - Date.parse(flights[0]?.at ?? '')))
  return (
    <Disclosure summary={`${count(flights.length)} in flight`} note={`the oldest for ${oldest}`} lazy>
      {list}
    </Disclosure>
  )
}

/** Holds a request by hand, and lets it go. A test may hold it, too. The buttons stay where they are. */
function Held({ of: { id, hold } }: { readonly of: JournalFlight }) {
  const { busy, run } = useAction()
  const holdIt = () => control('POST /holds', { body: { request: id } })
  const act = (action: 'release' | 'cut' | 'end') => () =>
    run(async () => control('POST /holds/{id}', { id: hold ?? (await holdIt()).id, body: { action, request: id } }))
  return (
    <span class="request-repairs row" aria-busy={busy}>
      <Button small class="button-held" onClick={hold ? act('release') : () => run(holdIt)}>
        {hold ? 'Release' : 'Hold'}
      </Button>
      <Button small onClick={act('cut')}>
        Cut
      </Button>
      <Button small onClick={act('end')}>
        End
      </Button>
    </span>
  )
}

/** `no answer yet`, `no token yet`, `12 tokens`, `3 pieces`. */
function progressOf(flight: JournalFlight): string {
  const { status, pieces, tokens } = flight
  if (status === null) return 'no answer yet'
  if (kindOf(flight) !== 'chat') return counted(pieces, 'piece')
  return tokens === 0 ? 'no token yet' : `${count(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`
}
