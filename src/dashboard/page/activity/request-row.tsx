/** A request in the list: what it asked, why it got its answer, and what can be done about it. */
import type { ComponentChildren } from 'preact'
import type { JournalBrief } from '../../../journal/operations.js'
import { exchangeAt, messagesAt } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { navigate } from '../routing.js'
import { StatusBadge } from '../widgets/badge.jsx'
import { Link } from '../widgets/link.jsx'
import { memo } from '../widgets/memo.jsx'
import { callerName, clockTime, count, duration } from '../wording.js'
import { filterBy, filterIn, queryOf } from './filter.js'
import { Repairs } from './repairs.jsx'
import { kindOf, reasonOf, subjectOf } from './words.js'

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
    navigate(location.pathname + queryOf(filterIn(new URLSearchParams(location.search)), id))
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
