/** A rule as a file would have it. */
import { CodeBlock } from '../widgets/code-block.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import type { RuleJson } from './replies-client.js'
import { nameOf } from './rule-table.jsx'

interface Props {
  readonly rule: RuleJson
  readonly onClosed: () => void
}

export function RuleDialog({ rule, onClosed }: Props) {
  return (
    <Dialog title={nameOf(rule)} onClosed={onClosed}>
      {close => (
        <>
          <p class="quiet wide-dialog">{rule.place}</p>
          <CodeBlock code={rule.yaml} label="The rule" />
          <div class="form-buttons">
            <button type="button" class="button" onClick={close}>
              Close
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}
