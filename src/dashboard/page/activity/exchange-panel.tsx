/** One exchange in full, beside the list or in its place: first what was said, last how large it was. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { JournalBrief, JournalEntry } from '../../../journal/operations.js'
import { exchangeAt, tryWith } from '../../routes.js'
import { control } from '../api.js'
import { StatusBadge } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { useAction } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { useResource } from '../widgets/resource.js'
import { FailureNote, Notice, Shown } from '../widgets/states.jsx'
import { duration } from '../wording.js'
import { turnsAsked } from './conversation.js'
import { CopyTest } from './copy-test.jsx'
import { ExchangeView } from './exchange-view.jsx'
import { answerThis, Repairs, sendAgain } from './repairs.jsx'
import { reasonOf, subjectOf } from './words.js'

export interface ExchangePanelProps {
  readonly id: string
  /** The exchange as the list knows it, in case the journal has dropped it. */
  readonly brief: JournalBrief | undefined
  readonly newer: string | undefined
  readonly older: string | undefined
  readonly onClose: () => void
}

export function ExchangePanel({ id, brief, newer, older, onClose }: ExchangePanelProps) {
  const loaded = useResource(signal => control('GET /journal/{id}', { id, signal }), [id])
  const { value, failure } = loaded
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [id])
  const title = brief ? subjectOf(brief) : (value?.request.path ?? `Request ${id}`)
  return (
    <aside class="exchange stack" aria-labelledby="exchange">
      <nav class="row" aria-label="Previous and next request">
        <Button small push icon="back" onClick={onClose}>
          Close
        </Button>
        <Neighbour to={newer} name="Newer" />
        <Neighbour to={older} name="Older" />
      </nav>
      <header class="row spread">
        <h2 id="exchange" ref={heading} tabIndex={-1} class="grow cut">
          <bdi>{title}</bdi>
        </h2>
        <span class="row">
          <StatusBadge status={(value ?? brief)?.status ?? null} />
          <span class="quiet">{duration((value ?? brief)?.durationMs ?? 0)}</span>
        </span>
      </header>
      {failure?.status === 404 ? (
        <Notice tone="care">
          <p>{failure.message}</p>
          {brief && <p>{reasonOf(brief)}</p>}
        </Notice>
      ) : (
        <Shown of={loaded}>
          {entry => (
            <>
              <Actions of={entry} />
              {brief && <Repairs of={brief} />}
              <ExchangeView entry={entry} />
            </>
          )}
        </Shown>
      )}
    </aside>
  )
}

const Neighbour = ({ to, name }: { readonly to: string | undefined; readonly name: string }) =>
  to === undefined ? (
    <Button small aria-disabled>
      {name}
    </Button>
  ) : (
    <Link to={to} class="button button-small">
      {name}
    </Link>
  )

/** Only what works for this exchange. */
function Actions({ of: { id, request, repeatable, status } }: { readonly of: JournalEntry }) {
  const { busy, failure, run } = useAction()
  const isChat = turnsAsked(request.body).length > 0
  const copyCurl = useResource(signal => control('GET /journal/{id}/curl', { id, signal }), [id])
  return (
    <>
      <div class="row">
        {repeatable && (
          <Button small aria-disabled={busy} onClick={() => run(() => sendAgain(id), 'The request was sent again.')}>
            Send again
          </Button>
        )}
        {isChat && (
          <Button small onClick={() => run(() => answerThis(id))}>
            Answer this
          </Button>
        )}
        {isChat && (
          <Link to={tryWith(id)} class="button button-small">
            Open in Try
          </Link>
        )}
        <CopyButton text={copyCurl.value ?? ''} what="as curl" words="Copy as curl" />
        {status !== null && <CopyTest id={id} />}
        <CopyButton text={location.origin + exchangeAt(id)} what="link" words="Copy link" />
      </div>
      <FailureNote failure={failure} />
    </>
  )
}
