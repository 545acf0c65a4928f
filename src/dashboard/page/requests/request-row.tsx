/** One request in the list, as a link to its exchange. */

import type { BriefJson } from '../../journal-wire.js'
import { routes } from '../../routes.js'
import { Link } from '../widgets/link.jsx'
import { StatusBadge } from '../widgets/status-badge.jsx'
import { TimeBar } from './time-bar.jsx'
import { callerName, clockTime, decisionOf, duration } from './wording.js'

interface Props {
  readonly of: BriefJson
  /** What stands behind the `?` of its address. */
  readonly query: string
  readonly isOpen: boolean
  /** Whether the Tab key stops here: one row in the list does. */
  readonly isReachable: boolean
  readonly scaleMs: number
}

export function RequestRow({ of: brief, query, isOpen, isReachable, scaleMs }: Props) {
  const { at, method, path, model, mode, status, durationMs, scope } = brief
  const needsCare = brief.missed || brief.error || brief.openaiRefuses || !brief.complete
  return (
    <Link to={routes.requests + query} class="request" current={isOpen} reachable={isReachable}>
      <span class="request-time">
        {clockTime(at).slice(0, -4)}
        <span class="request-ms">{clockTime(at).slice(-4)}</span>
      </span>
      <StatusBadge status={status} />
      <span class="request-what">
        <span class="method">{method}</span> <bdi>{path}</bdi>
        {model && <bdi class="request-model"> {model}</bdi>}
      </span>
      <span class="request-who">
        <bdi>{callerName(brief)}</bdi>
        {scope && <bdi class="request-scope"> {scope}</bdi>}
      </span>
      <span class={`request-why${needsCare ? ' request-why-care' : ''}`}>
        <bdi>{decisionOf(brief)}</bdi>
        {mode && <span class="request-mode"> {mode}</span>}
      </span>
      <TimeBar of={brief} scaleMs={scaleMs} />
      <span class="request-duration" aria-hidden="true">
        {duration(durationMs)}
      </span>
    </Link>
  )
}
