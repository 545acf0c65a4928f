/** Revokes a key, once somebody has said that they mean it. */
import type { KeyJson } from '../../wire.js'
import { announce } from '../widgets/announcer.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import { goOnFromHeading } from '../widgets/view.jsx'
import type { KeysClient } from './keys-client.js'

interface Props {
  readonly old: KeyJson
  readonly keys: KeysClient
  readonly onRevoked: () => void
  readonly onClosed: () => void
}

export function RevokeDialog({ old, keys, onRevoked, onClosed }: Props) {
  return (
    <Dialog title={`Revoke “${old.name}”?`} onClosed={onClosed}>
      {close => (
        <Form
          send="Revoke key"
          tone="danger"
          onSend={async () => {
            await keys.revoke(old.id)
            close()
            goOnFromHeading()
            onRevoked()
            announce(`The key ${old.name} is revoked.`)
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          <p>
            Whatever uses <code>{old.start}…</code> is refused from now on. This cannot be taken back.
          </p>
        </Form>
      )}
    </Dialog>
  )
}
