/** One exchange in full, beside the list or in its place. If the journal has dropped it, shows what the list knows. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { JournalBrief } from '../../../journal/operations.js'
import { StatusBadge } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { Link } from '../widgets/link.jsx'
import { Pairs } from '../widgets/pairs.jsx'
import { useResource } from '../widgets/resource.js'
import { Notice, Shown } from '../widgets/states.jsx'
import { callerName, decisionOf, duration, size } from '../wording.js'
import { ExchangeView, loadExchange } from './exchange-view.jsx'
import { TimeBar } from './request-row.jsx'

interface Props {
  readonly id: string

  /** The exchange as the list knows it, in case the journal has dropped it. */
  readonly brief: JournalBrief | undefined
  readonly newer: string | undefined
  readonly older: string | undefined
  readonly onClose: () => void
}

/** Moves the focus to the panel's heading, and titles the document after the exchange. */
function useHeading(id: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    const before = document.title
    document.title = `Request ${id} · Standin`
    heading.current?.focus()
    return () => {
      document.title = before
    }
  }, [id])
  return heading
}

export function ExchangePanel({ id, brief, newer, older, onClose }: Props) {
  const loaded = useResource(signal => loadExchange(id, signal), [id])
  const { value, failure } = loaded
  const { method, path } = value?.entry.request ?? brief ?? {}
  const status = (value?.entry ?? brief)?.status
  const heading = useHeading(id)
  return (
    <aside class="exchange stack" aria-labelledby="exchange">
      <header class="exchange-head">
        <nav class="row" aria-label="Previous and next request">
          <Button small push icon="back" onClick={onClose}>
            All requests
          </Button>
          <Step to={newer} shortcut="k">
            Newer
          </Step>
          <Step to={older} shortcut="j">
            Older
          </Step>
        </nav>
        <h2 id="exchange" ref={heading} tabIndex={-1}>
          {method === undefined ? `Request ${id}` : <bdi>{`${method} ${path}`}</bdi>}
        </h2>
        {status !== undefined && <StatusBadge status={status} none="No response" />}
      </header>
      {!value && failure?.status === 404 ? (
        <DroppedExchange why={failure.message} brief={brief} />
      ) : (
        <Shown of={loaded}>{exchange => <ExchangeView {...exchange} />}</Shown>
      )}
    </aside>
  )
}

interface StepProps {
  readonly to: string | undefined
  readonly shortcut: string
  readonly children: ComponentChildren
}

/** Stays visible at the ends of the list, so that the link beside it does not move. */
function Step({ to, shortcut, children }: StepProps) {
  const content = (
    <>
      {children} <kbd class="quiet">{shortcut}</kbd>
    </>
  )
  if (to !== undefined) {
    return (
      <Link to={to} class="button button-small">
        {content}
      </Link>
    )
  }
  return (
    <Button small disabled>
      {content}
    </Button>
  )
}

/** What the list knows of an exchange that the journal does not have. */
function DroppedExchange({ why, brief }: { readonly why: string; readonly brief: JournalBrief | undefined }) {
  return (
    <>
      <Notice tone="care">{why}</Notice>
      {brief && (
        <>
          <Pairs
            of={[
              ['Caller', callerName(brief)],
              ['Why this response', decisionOf(brief)],
              ['Request size', size(brief.requestBytes)],
              ['Response size', `${size(brief.responseBytes)} in ${duration(brief.durationMs)}`],
            ]}
          />
          <TimeBar of={brief} scaleMs={Math.max(brief.durationMs, 1)} />
        </>
      )}
    </>
  )
}
