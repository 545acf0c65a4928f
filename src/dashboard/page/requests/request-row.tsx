/** A request in the list: a link to its exchange, with a bar for its duration. */
import type { ComponentChildren } from 'preact'
import type { JournalBrief } from '../../../journal/operations.js'
import { routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { StatusBadge } from '../widgets/badge.jsx'
import { Link } from '../widgets/link.jsx'
import { callerName, clockTime, countInShort, decisionOf, duration, timesInWords } from '../wording.js'

interface Props {
  readonly of: JournalBrief
  readonly query: string
  readonly isOpen: boolean
  /** Whether the Tab key stops here. It does at only one row of the list. */
  readonly isReachable: boolean
  readonly scaleMs: number
}

export function RequestRow({ of: brief, query, isOpen, isReachable, scaleMs }: Props) {
  const { at, method, path, prompt, call, model, stream, mode, tokens, status, durationMs, scope } = brief
  const usual = useConfig().mode
  const needsCare = brief.missed || brief.error || brief.openaiRefuses || !brief.complete
  const about = prompt ?? call
  const target = (
    <>
      <span class="quiet">{method}</span> <bdi>{path}</bdi>
    </>
  )
  return (
    <Link to={routes.requests + query} class="request quiet" current={isOpen} reachable={isReachable}>
      <span class="request-time cut">{clockTime(at).slice(0, -4)}</span>
      <StatusBadge status={status} />
      <Cell name="what" tone="ink" below={about !== null && target}>
        {about === null ? target : <bdi>{about}</bdi>}
      </Cell>
      <Cell name="model" below={stream && 'stream'}>
        <bdi>{model}</bdi>
      </Cell>
      <Cell name="who" below={scope && <bdi>{scope}</bdi>}>
        <bdi>{callerName(brief)}</bdi>
      </Cell>
      <Cell name="why" tone={needsCare ? 'care' : ''} below={mode !== null && mode !== usual && mode}>
        <bdi>{decisionOf(brief)}</bdi>
      </Cell>
      <span class="request-tokens cut">
        {tokens && <span class="unseen">tokens: </span>}
        {tokens && `${countInShort(tokens.prompt)} + ${countInShort(tokens.completion)}`}
      </span>
      <span class="request-duration cut">
        <span aria-hidden="true">{duration(durationMs)}</span>
        <TimeBar of={brief} scaleMs={scaleMs} />
      </span>
    </Link>
  )
}

interface CellProps {
  readonly name: string
  readonly tone?: 'ink' | 'care' | ''
  readonly below?: ComponentChildren
  readonly children: ComponentChildren
}

const Cell = ({ name, below, tone = '', children }: CellProps) => (
  <span class={`cut request-${name}`}>
    <span class={`request-line cut ${tone}`}>{children} </span>
    {below && <small class="cut">{below} </small>}
  </span>
)

interface TimeBarProps {
  readonly of: Pick<JournalBrief, 'firstByteMs' | 'firstTokenMs' | 'durationMs' | 'pieces' | 'piecesAtMs'>
  /** The duration that fills the whole width. */
  readonly scaleMs: number
}

const WIDTH = 1000

/** The duration of a response as a bar: the wait for the headers, the rest, and a mark for each piece. */
export function TimeBar({ of, scaleMs }: TimeBarProps) {
  const { firstByteMs, durationMs, piecesAtMs } = of
  const at = (ms: number) => Math.round(Math.min(1, ms / scaleMs) * WIDTH)
  const headMs = firstByteMs ?? durationMs
  const end = Math.max(at(durationMs), 4)
  const ticks = piecesAtMs.map(ms => `M${at(headMs + ms)} 3V9`).join('')
  return (
    <span class="time-bar">
      <svg fill="currentColor" viewBox={`0 0 ${WIDTH} 12`} preserveAspectRatio="none" aria-hidden="true">
        <rect class="quiet" opacity="0.6" x="0" y="5" width={Math.min(at(headMs), end)} height="2" />
        <rect class="accent" opacity="0.45" x={at(headMs)} y="3" width={Math.max(end - at(headMs), 0)} height="6" />
        <path class="accent" d={ticks} />
        {firstByteMs !== null && <path class="ink" stroke-width="1.5" d={`M${at(headMs)} 0V12`} />}
      </svg>
      <span class="unseen">{timesInWords(of)}</span>
    </span>
  )
}

const scales = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000]

/** A round duration that is at least as long as all of these, or their longest if it is very long. */
export function scaleFor(rows: readonly Pick<JournalBrief, 'durationMs'>[]): number {
  const longestMs = rows.reduce((most, { durationMs }) => Math.max(most, durationMs), 0)
  return scales.find(scale => scale >= longestMs) ?? longestMs
}
