/** Dialogs for an existing key: roll it, revoke it, and show a new secret once. */
import { useState } from 'preact/hooks'
import type { ApiKeyView, NewApiKey } from '../../keys/operations.js'
import type { DashboardApi } from '../api.js'
import { announce } from '../widgets/announcer.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Confirm, Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import { Notice } from '../widgets/states.jsx'
import { goOnFromHeading } from '../widgets/view.jsx'

const HOUR_S = 3600

const overlaps = [
  { name: 'Stops now', seconds: 0 },
  { name: 'Works for 1 more hour', seconds: HOUR_S },
  { name: 'Works for 24 more hours', seconds: 24 * HOUR_S },
  { name: 'Works for 7 more days', seconds: 7 * 24 * HOUR_S },
] as const

interface Props {
  readonly old: ApiKeyView
  readonly api: DashboardApi
  readonly onMade: (key: NewApiKey) => void
  readonly onClosed: () => void
}

export function RollDialog({ old, api, onMade, onClosed }: Props) {
  const [overlap, setOverlap] = useState(0)
  return (
    <Dialog title={`Roll “${old.name}”`} onClosed={onClosed}>
      {close => (
        <Form
          send="Roll key"
          onSend={async () => {
            const key = await api('POST /keys/{id}/roll', { id: old.id, body: { overlap_seconds: overlap } })
            close()
            onMade(key)
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          <p>You get a new key with the same name and lifetime.</p>
          {old.state === 'active' && (
            <fieldset>
              <legend>The old key {old.start}…</legend>
              {overlaps.map(({ name, seconds }) => (
                <label key={seconds} class="choice">
                  <input
                    type="radio"
                    name="overlap"
                    checked={seconds === overlap}
                    onChange={() => setOverlap(seconds)}
                  />
                  {name}
                </label>
              ))}
            </fieldset>
          )}
        </Form>
      )}
    </Dialog>
  )
}

interface RevokeDialogProps {
  readonly old: ApiKeyView
  readonly api: DashboardApi
  readonly onRevoked: () => void
  readonly onClosed: () => void
}

/** Asks for confirmation, then revokes a key. */
export function RevokeDialog({ old, api, onRevoked, onClosed }: RevokeDialogProps) {
  return (
    <Confirm
      title={`Revoke “${old.name}”?`}
      send="Revoke key"
      tone="danger"
      onSend={() => api('DELETE /keys/{id}', { id: old.id })}
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
    </Confirm>
  )
}

interface SecretDialogProps {
  readonly fresh: NewApiKey
  readonly onClosed: () => void
}

/** Shows the secret of a new key. It cannot be shown again. */
export function SecretDialog({ fresh, onClosed }: SecretDialogProps) {
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
