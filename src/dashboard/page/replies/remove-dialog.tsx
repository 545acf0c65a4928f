/** Removes a rule that was added at run time, once somebody has said that they mean it. */
import { announce } from '../widgets/announcer.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import { goOnFromHeading } from '../widgets/view.jsx'
import type { RepliesClient, RuleJson } from './replies-client.js'
import { nameOf } from './rule-table.jsx'

interface Props {
  readonly rule: RuleJson
  readonly replies: RepliesClient
  readonly onRemoved: () => void
  readonly onClosed: () => void
}

export function RemoveDialog({ rule, replies, onRemoved, onClosed }: Props) {
  return (
    <Dialog title={`Remove “${nameOf(rule)}”?`} onClosed={onClosed}>
      {close => (
        <Form
          send="Remove rule"
          tone="danger"
          onSend={async () => {
            await replies.remove(rule.id ?? '')
            close()
            goOnFromHeading()
            onRemoved()
            announce(`The rule ${nameOf(rule)} is removed.`)
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          <p>It was added while Standin runs and is in no file, so it is gone for good.</p>
        </Form>
      )}
    </Dialog>
  )
}
