/** Revokes a key, once somebody has said that they mean it. */
import type { KeyJson } from '../../wire.js'
import { announce } from '../widgets/announcer.jsx'
import { ConfirmDialog } from '../widgets/confirm-dialog.jsx'
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
    <ConfirmDialog
      title={`Revoke “${old.name}”?`}
      send="Revoke key"
      tone="danger"
      onSend={() => keys.revoke(old.id)}
      onDone={() => {
        goOnFromHeading()
        onRevoked()
        announce(`The key ${old.name} is revoked.`)
      }}
      onClosed={onClosed}
    >
      <p>
        Whatever uses <code>{old.start}…</code> is refused from now on. This cannot be taken back.
      </p>
    </ConfirmDialog>
  )
}
