/** Shows the secret of a new key, this once. */
import type { NewKeyJson } from '../../wire.js'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Notice } from '../widgets/notice.jsx'

interface Props {
  readonly fresh: NewKeyJson
  readonly onClosed: () => void
}

export function SecretDialog({ fresh, onClosed }: Props) {
  return (
    <Dialog title={`Your key “${fresh.name}”`} onClosed={onClosed}>
      {close => (
        <>
          <div class="secret">
            <code>{fresh.key}</code>
            <CopyButton text={fresh.key} what="the key" main />
          </div>
          <Notice tone="care">
            <p>Copy it now: it is not shown again. Only its fingerprint is kept.</p>
          </Notice>
          <div class="form-buttons">
            <button type="button" class="button" onClick={close}>
              Done
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}
