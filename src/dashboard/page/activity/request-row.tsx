/** The rows of the list: requests in flight, requests that have ended, and the runs of agents as waterfalls. */
import type { ComponentChildren } from 'preact'
import type { JournalBrief, JournalFlight } from '../../../journal/operations.js'
import { exchangeAt, messagesAt } from '../../routes.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { Link } from '../routing.jsx'
import { useAction } from '../widgets/action.js'
import { Button, CopyButton } from '../widgets/button.jsx'
import { memo } from '../widgets/memo.jsx'
import { useTicks } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { StatusBadge } from '../widgets/view.jsx'
import { callerName, clockTime, count, counted, duration } from '../wording.js'
import { filterBy, openExchange } from './addresses.js'
import { Repairs } from './repairs.jsx'
import { type AgentRun, factsOfRun, kindOf, reasonOf, subjectOf } from './words.js'

interface RowProps {
  readonly of: JournalBrief
  readonly isOpen: boolean
  /** Whether the Tab key stops at its link. It does at one row of the list; arrow keys lead to the others. */
  readonly isReachable: boolean
}

export const RequestRow = memo(({ of: brief, isOpen, isReachable }: RowProps) => (
  <li class={isOpen ? 'request request-open' : 'request'}>
    <div class="request-line">
      <Value word="status" value={String(brief.status ?? 'none')}>
        <StatusBadge status={brief.status} />
      </Value>
      <Value word={brief.call === null ? 'endpoint' : 'call'} value={brief.call ?? brief.endpoint ?? brief.path}>
        <span class="quiet">{kindOf(brief)}</span>
      </Value>
      <ExchangeLink of={brief} isOpen={isOpen} isReachable={isReachable} />
      <Reason of={brief} />
      <Facts of={brief} />
    </div>
    <Repairs of={brief} />
  </li>
))

interface ValueProps {
  readonly word: string
  readonly value: string
  readonly children: ComponentChildren
}

/** A value that filters the list when it is clicked. */
export const Value = ({ word, value, children }: ValueProps) => (
  <button
    type="button"
    class="value"
    tabIndex={-1}
    title={`Only ${word}: ${value}`}
    onClick={() => filterBy(word, value)}
  >
    {children}
  </button>
)

interface ExchangeLinkProps extends RowProps {
  readonly label?: string
}

/** Opens an exchange beside the list, which stays filtered as it is. */
export function ExchangeLink({ of: { id, ...brief }, isOpen, isReachable, label }: ExchangeLinkProps) {
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    openExchange(id)
  }
  return (
    <a
      href={exchangeAt(id)}
      class="request-what cut"
      data-id={id}
      aria-current={isOpen ? 'page' : undefined}
      tabIndex={isReachable ? undefined : -1}
      onClick={open}
    >
      <bdi>{label ?? subjectOf({ ...brief })}</bdi>
    </a>
  )
}

export function Reason({ of: brief }: { readonly of: JournalBrief }) {
  const needsCare = brief.missed || brief.error !== null || brief.openaiRefuses !== null || !brief.complete
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
function Facts({ of: brief }: { readonly of: JournalBrief }) {
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
      {scope && (
        <Value word="scope" value={scope}>
          <bdi>{scope}</bdi>
        </Value>
      )}
      {model && (
        <Value word="model" value={model}>
          <bdi>{model}</bdi>
        </Value>
      )}
      <Value word="credential" value={caller === 'no credential' || caller === 'not identified' ? 'none' : caller}>
        <bdi>{caller}</bdi>
      </Value>
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
  readonly open: string | undefined
  readonly isReachable: boolean
}

export const RunRow = memo(({ of: run, open, isReachable }: Props) => {
  const { steps } = run
  const facts = factsOfRun(run)
  const [first] = steps
  return (
    <li class="request run">
      <div class="request-line">
        <Value word="run" value={run.id}>
          <span class="badge tone-plain">run</span>
        </Value>
        <strong class="request-what cut">
          <bdi>{first && subjectOf(first)}</bdi>
        </strong>
        <span class="request-facts quiet">
          <span>{counted(steps.length, 'step')}</span>
          {facts.tokens > 0 && <span>{count(facts.tokens)} tok</span>}
          <span class="request-duration">{duration(facts.durationMs)}</span>
          <CopyButton
            text={() => control('GET /journal/{id}/test', { id: run.id, query: { run: true } })}
            what="the run as a test"
            words="Test"
          />
        </span>
      </div>
      <ol class="steps" aria-label="Steps of the run">
        {steps.map(step => (
          <Step key={step.id} of={step} run={facts} isOpen={step.id === open} isReachable={isReachable} />
        ))}
      </ol>
    </li>
  )
})

interface StepProps {
  readonly of: JournalBrief
  readonly run: ReturnType<typeof factsOfRun>
  readonly isOpen: boolean
  readonly isReachable: boolean
}

function Step({ of: brief, run, isOpen, isReachable }: StepProps) {
  const part = (ms: number) => `${Math.min(100, (ms / Math.max(run.durationMs, 1)) * 100)}%`
  const afterMs = Date.parse(brief.at) - run.startMs
  return (
    <li class={isOpen ? 'step request-open' : 'step'}>
      <span class="quiet">{kindOf(brief)}</span>
      <ExchangeLink of={brief} isOpen={isOpen} isReachable={isReachable} label={labelOf(brief)} />
      <Reason of={brief} />
      <span class="step-time" aria-hidden="true">
        <span class="step-bar" style={{ marginLeft: part(afterMs), width: part(brief.durationMs) }} />
      </span>
      {(brief.status ?? 0) >= 400 && <StatusBadge status={brief.status} />}
      <Repairs of={brief} />
    </li>
  )
}

/** The chats of a run have the same prompt, so that their answers tell more. */
const labelOf = (brief: JournalBrief) => brief.said || subjectOf(brief)

const EVERY_MS = 250

export function Flights({ of: flights }: { readonly of: readonly JournalFlight[] }) {
  useTicks(flights.length > 0 ? EVERY_MS : undefined)
  if (flights.length === 0) return null
  return (
    <ol class="requests" aria-label="Requests in flight">
      {flights.map(flight => (
        <li key={flight.id} class="request flight">
          <div class="request-line">
            <span class="spinner" aria-hidden="true" />
            <span class="quiet">{kindOf(flight)}</span>
            <bdi class="request-what cut">{subjectOf(flight)}</bdi>
            <span class="request-why cut accent">{progressOf(flight)}</span>
            <span class="request-facts quiet">
              <bdi>{callerName(flight)}</bdi>
              <Held id={flight.id} />
              <span class="request-duration">{duration(Math.max(0, Date.now() - Date.parse(flight.at)))}</span>
            </span>
          </div>
        </li>
      ))}
    </ol>
  )
}

const HELD_EVERY_MS = 1000

/** Holds a request by hand, and lets it go. A test may hold it, too. */
function Held({ id }: { readonly id: string }) {
  const load = async (signal: AbortSignal) =>
    (await control('GET /requests', { signal })).data.find(one => one.id === id)?.hold
  const { value: hold, reload } = useResource(load, [id], HELD_EVERY_MS)
  const { run } = useAction()
  const holdIt = () => control('POST /requests/{id}/hold', { id })
  const act = (action: 'release' | 'cut' | 'end') => () =>
    run(async () => {
      const held = hold ?? (await holdIt()).id
      await control('POST /holds/{id}', { id: held, body: { action } })
    }).then(reload)
  return (
    <>
      {hold ? (
        <Button small onClick={act('release')}>
          Release
        </Button>
      ) : (
        <Button small onClick={() => run(holdIt).then(reload)}>
          Hold
        </Button>
      )}
      {hold && (
        <Button small onClick={act('end')}>
          End
        </Button>
      )}
      <Button small onClick={act('cut')}>
        Cut
      </Button>
    </>
  )
}

/** `no answer yet`, `no token yet`, `12 tokens`, `3 pieces`. */
function progressOf(flight: JournalFlight): string {
  const { status, pieces, tokens } = flight
  if (status === null) return 'no answer yet'
  if (kindOf(flight) !== 'chat') return counted(pieces, 'piece')
  return tokens === 0 ? 'no token yet' : `${count(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`
}
