/** Makes a key. */
import { useState } from 'preact/hooks'
import type { NewKeyJson } from '../../wire.js'
import { Dialog } from '../widgets/dialog.jsx'
import { Field } from '../widgets/field.jsx'
import { Form } from '../widgets/form.jsx'
import { type Expiry, momentOf } from './expiry.js'
import { ExpiryField } from './expiry-field.jsx'
import type { KeysClient } from './keys-client.js'

interface Props {
  readonly keys: KeysClient
  readonly onMade: (key: NewKeyJson) => void
  readonly onClosed: () => void
}

export function CreateDialog({ keys, onMade, onClosed }: Props) {
  const [name, setName] = useState('')
  const [expiry, setExpiry] = useState<Expiry>({ choice: 'never', day: '' })
  return (
    <Dialog title="Create an API key" onClosed={onClosed}>
      {close => (
        <Form
          send="Create key"
          onSend={async () => {
            const key = await keys.create({ name, expires_at: momentOf(expiry, Date.now()) })
            close()
            onMade(key)
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          <Field
            label="Name"
            value={name}
            onChange={setName}
            maxLength={100}
            autocomplete="off"
            hint="Where it is used, for example “my laptop” or “CI”."
          />
          <ExpiryField value={expiry} onChange={setExpiry} />
        </Form>
      )}
    </Dialog>
  )
}
