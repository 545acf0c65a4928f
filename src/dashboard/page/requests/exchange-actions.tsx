/** The actions for an exchange. Only those that work for this one are shown. */

import type { JournalEntry } from '../../../journal/operations.js'
import { playgroundWith, routes } from '../../routes.js'
import { control } from '../api.js'
import { navigate } from '../routing.js'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { openDialog } from '../widgets/dialog.jsx'
import { useAction } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { turnsAsked } from './conversation.js'
import { RuleDialog } from './rule-dialog.jsx'

export function ExchangeActions({ entry, curl }: { readonly entry: JournalEntry; readonly curl: string }) {
  const { id, request, repeatable } = entry
  const { busy, failure, run } = useAction()
  const sendAgain = async () => {
    const sent = await control('POST /journal/{id}/again', { id })
    navigate(`${routes.requests}?id=${sent.id}`)
  }
  return (
    <>
      <div class="row">
        {repeatable && (
          <Button small aria-disabled={busy} onClick={() => run(sendAgain, 'The request was sent again.')}>
            {busy ? 'Sending…' : 'Send again'}
          </Button>
        )}
        {turnsAsked(request.body).length > 0 && (
          <Link to={playgroundWith(id)} class="button button-small">
            Open in playground
          </Link>
        )}
        {canBeRule(entry) && (
          <Button small about={`from request ${id}`} onClick={() => openDialog(<RuleDialog exchange={id} />)}>
            Create rule
          </Button>
        )}
        <CopyButton text={curl} what="as curl" words="Copy as curl" />
        <CopyButton text={`${location.origin}${routes.requests}?id=${id}`} what="link" words="Copy link" />
      </div>
      <FailureNote failure={failure} />
    </>
  )
}

/** Rules answer chat completions. Of Standin's own errors, only "no rule matches" calls for a new rule. */
const canBeRule = ({ endpoint, request, status, answeredBy, fault, code }: JournalEntry) =>
  endpoint === 'POST /v1/chat/completions' &&
  status !== null &&
  turnsAsked(request.body).length > 0 &&
  (answeredBy !== null || fault !== null || code === 'no_rule_matches')
