/** The actions for an exchange. Only those that work for this one are shown. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { playgroundWith, recordingAt, routes } from '../../dashboard/routes.js'
import type { JournalEntry } from '../../journal/operations.js'
import type { ExistingPolicy } from '../../recordings/operations.js'
import { control } from '../api.js'
import { RuleDialog } from '../make/rule-editor.jsx'
import { navigate } from '../routing.js'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Dialog, Finished, openDialog } from '../widgets/dialog.jsx'
import { RadioGroup } from '../widgets/fields.jsx'
import { Form, useAction } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { turnsAsked } from './conversation.js'

export function ExchangeActions({ entry, curl }: { readonly entry: JournalEntry; readonly curl: string }) {
  const { id, request, repeatable } = entry
  const { busy, failure, run } = useAction()
  const create = (what: string, dialog: ComponentChildren) => (
    <Button small about={`from request ${id}`} onClick={() => openDialog(dialog)}>
      Create {what}
    </Button>
  )
  const begin = (signal: AbortSignal) => control('POST /replies/draft', { body: { exchange: id }, signal })
  const ruleDialog = <RuleDialog title="Create rule from this request" begin={begin} exchange={id} />
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
        {canBeRule(entry) && create('rule', ruleDialog)}
        {canBeRecording(entry) && create('recording', <MakeRecordingDialog id={id} />)}
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

/** The server's checks (recordings/past.ts), except that it also checks whether the journal has all of a long response. */
const canBeRecording = ({ endpoint, status, error, fault, complete }: JournalEntry) =>
  endpoint !== null &&
  !endpoint.includes(' /auth/v1/') &&
  status !== null &&
  error === null &&
  !fault?.isSpoilt &&
  complete

const choices: readonly { readonly value: ExistingPolicy; readonly label: string }[] = [
  { value: 'refuse', label: 'Keep it and tell me' },
  { value: 'replace', label: 'Replace it' },
  { value: 'append', label: 'Add this one, to be played after it' },
]

/** Saves an exchange as a recording. */
function MakeRecordingDialog({ id }: { readonly id: string }) {
  const [existing, setExisting] = useState<ExistingPolicy>('refuse')
  const [file, setFile] = useState<string>()
  return (
    <Dialog title="Create recording from this request">
      {close =>
        file === undefined ? (
          <Form
            send="Create recording"
            onSend={async () => {
              setFile((await control('POST /recordings', { body: { exchange: id, existing } })).file)
            }}
            said="The recording was saved."
            beside={<Button onClick={close}>Cancel</Button>}
          >
            <p>The request and its answer are saved to a file, without their secrets. Replay then answers with it.</p>
            <RadioGroup
              label="If this request is already recorded"
              value={existing}
              onChange={setExisting}
              options={choices}
            />
          </Form>
        ) : (
          <Finished onClose={close}>
            Saved to <Link to={recordingAt(file)}>{file}</Link>.
          </Finished>
        )
      }
    </Dialog>
  )
}
