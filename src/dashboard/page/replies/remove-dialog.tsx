/** Removes a rule that was added at run time, once somebody has said that they mean it. */
import { announce } from '../widgets/announcer.jsx'
import { ConfirmDialog } from '../widgets/confirm-dialog.jsx'
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
    <ConfirmDialog
      title={`Remove “${nameOf(rule)}”?`}
      send="Remove rule"
      tone="danger"
      onSend={() => replies.remove(rule.id ?? '')}
      onDone={() => {
        goOnFromHeading()
        onRemoved()
        announce(`The rule ${nameOf(rule)} is removed.`)
      }}
      onClosed={onClosed}
    >
      <p>It was added while Standin runs and is in no file, so it is gone for good.</p>
    </ConfirmDialog>
  )
}
