/** One exchange in full: beside the list, or instead of it where there is no room. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { BriefJson } from '../../journal-wire.js'
import { FailureNote } from '../widgets/failure-note.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Link } from '../widgets/link.jsx'
import { StatusBadge } from '../widgets/status-badge.jsx'
import { Waiting } from '../widgets/waiting.jsx'
import { ExchangeView } from './exchange-view.jsx'
import { Gone } from './gone.jsx'
import type { JournalClient } from './journal-client.js'
import { useExchange } from './use-exchange.js'

interface Props {
  readonly id: string
  readonly client: JournalClient
  /** What the list knows of it, which may be more than the journal keeps. */
  readonly brief: BriefJson | undefined
  /** Where its neighbours in the list are. */
  readonly newer: string | undefined
  readonly older: string | undefined
  readonly onClose: () => void
}

export function ExchangePanel({ id, client, brief, newer, older, onClose }: Props) {
  const { loaded, again } = useExchange(id, client)
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

/** Stays where it is at the end of the list, so that the one beside it does not move. */
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
