/** One exchange in full, beside the list or instead of it; or what the list knows of one that the journal has dropped. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { JournalBrief } from '../../journal/operations.js'
import type { Control } from '../api.js'
import { StatusBadge } from '../widgets/badge.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Link } from '../widgets/link.jsx'
import { FailureNote, Notice, Waiting } from '../widgets/states.jsx'
import { ExchangeView } from './exchange-view.jsx'
import { TimeBar } from './request-row.jsx'
import { useExchange } from './use-exchange.js'
import { callerName, decisionOf, duration, size } from './wording.js'

interface Props {
  readonly id: string
  readonly control: Control
  /** The exchange as the list knows it. The journal may have dropped it. */
  readonly brief: JournalBrief | undefined
  /** The links to its neighbours in the list. */
  readonly newer: string | undefined
  readonly older: string | undefined
  readonly onClose: () => void
}

export function ExchangePanel({ id, control, brief, newer, older, onClose }: Props) {
  const { loaded, again } = useExchange(id, control)
  const entry = loaded.kind === 'ready' ? loaded.exchange.entry : undefined
  const { method, path } = entry?.request ?? brief ?? {}
  const status = (entry ?? brief)?.status
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    const before = document.title
    document.title = `Request ${id} · Standin`
    heading.current?.focus()
    return () => {
      document.title = before
    }
  }, [id])
  return (
    <aside class="exchange" aria-labelledby="exchange">
      <header class="exchange-head">
        <nav aria-label="Requests beside this one">
          <button type="button" class="button button-small" onClick={onClose}>
            <Icon name="back" />
            All requests
          </button>
          <Step to={newer}>Newer</Step>
          <Step to={older}>Older</Step>
        </nav>
        <h2 id="exchange" ref={heading} tabIndex={-1}>
          {method === undefined ? `Request ${id}` : <bdi>{`${method} ${path}`}</bdi>}
        </h2>
        {status !== undefined && <StatusBadge status={status} none="No answer" />}
      </header>
      {loaded.kind === 'loading' && <Waiting />}
      {loaded.kind === 'failed' && <FailureNote failure={loaded.failure} retry={again} />}
      {loaded.kind === 'gone' && <Gone brief={brief} />}
      {loaded.kind === 'ready' && <ExchangeView of={loaded.exchange} />}
    </aside>
  )
}

/** Stays visible at the end of the list, so that the link beside it does not move. */
function Step({ to, children }: { readonly to: string | undefined; readonly children: ComponentChildren }) {
  if (to !== undefined) {
    return (
      <Link to={to} class="button button-small">
        {children}
      </Link>
    )
  }
  return (
    <button type="button" class="button button-small" disabled>
      {children}
    </button>
  )
}

/** An exchange that the journal no longer keeps: shows what the list still knows. */
function Gone({ brief }: { readonly brief: JournalBrief | undefined }) {
  return (
    <>
      <Notice tone="care">
        <p>
          This exchange is not kept any more. The journal holds the last ones, and of very many at a time only some;{' '}
          <code>journal.maxEntries</code> in the configuration says how many.
        </p>
      </Notice>
      {brief && (
        <>
          <dl class="pairs">
            <Fact name="Who">{callerName(brief)}</Fact>
            <Fact name="Why this answer">{decisionOf(brief)}</Fact>
            <Fact name="Asked">{size(brief.requestBytes)}</Fact>
            <Fact name="Answered">
              {size(brief.responseBytes)} in {duration(brief.durationMs)}
            </Fact>
          </dl>
          <TimeBar of={brief} scaleMs={Math.max(brief.durationMs, 1)} />
        </>
      )}
    </>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
