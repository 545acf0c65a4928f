/** What can be done with an exchange. Only what works for this one is shown. */
import { playgroundWith, routes } from '../../dashboard/routes.js'
import type { JournalEntry } from '../../journal/operations.js'
import type { Control } from '../api.js'
import { MakeRecording } from '../make/make-recording.jsx'
import { MakeRule } from '../make/make-rule.jsx'
import { navigate } from '../routing.js'
import { announce } from '../widgets/announcer.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { useWorking } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice } from '../widgets/states.jsx'
import { turnsAsked } from './conversation.js'

interface Props {
  readonly entry: JournalEntry
  /** The curl command that repeats the request. */
  readonly curl: string
  readonly control: Control
}

export function ExchangeActions({ entry, curl, control }: Props) {
  const { id, request, repeatable } = entry
  const { busy, failure, run } = useWorking()
  const sendAgain = () =>
    run(async () => {
      const sent = await control('POST /journal/{id}/again', { id })
      announce('The request was sent again.')
      navigate(`${routes.requests}?id=${sent.id}`)
    })
  return (
    <>
      <div class="row">
        {repeatable && (
          <button type="button" class="button button-small" aria-disabled={busy} onClick={sendAgain}>
            {busy ? 'Sending…' : 'Send again'}
          </button>
        )}
        {turnsAsked(request.body).length > 0 && (
          <Link to={playgroundWith(id)} class="button button-small">
            Open in playground
          </Link>
        )}
        {canBeRule(entry) && <MakeRule entry={entry} />}
        {canBeRecording(entry) && <MakeRecording entry={entry} />}
        <CopyButton text={curl} what="as curl" words="Copy as curl" />
        <CopyButton text={`${location.origin}${routes.requests}?id=${id}`} what="link" words="Copy link" />
      </div>
      {failure && <Notice tone="danger">{failure.message}</Notice>}
    </>
  )
}

/** Rules answer chat completions. Of Standin's own errors, only a missing rule is worth one. */
const canBeRule = ({ endpoint, request, status, answeredBy, fault, code }: JournalEntry) =>
  endpoint === 'POST /v1/chat/completions' &&
  status !== null &&
  turnsAsked(request.body).length > 0 &&
  (answeredBy !== null || fault !== null || code === 'no_rule_matches')

/** As the server judges it (recordings/past.ts), which also looks at what the journal has of a long response. */
const canBeRecording = ({ endpoint, status, error, fault, complete }: JournalEntry) =>
  endpoint !== null &&
  !endpoint.includes(' /auth/v1/') &&
  status !== null &&
  error === null &&
  !fault?.isSpoilt &&
  complete
