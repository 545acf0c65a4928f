/** Puts a new key in the place of an old one. */
import { useState } from 'preact/hooks'
import type { KeyJson, NewKeyJson } from '../../wire.js'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import type { KeysClient } from './keys-client.js'

const HOUR_S = 3600

const overlaps = [
  { name: 'Stops now', seconds: 0 },
  { name: 'Works for 1 more hour', seconds: HOUR_S },
  { name: 'Works for 24 more hours', seconds: 24 * HOUR_S },
  { name: 'Works for 7 more days', seconds: 7 * 24 * HOUR_S },
] as const

interface Props {
  readonly old: KeyJson
  readonly keys: KeysClient
  readonly onMade: (key: NewKeyJson) => void
  readonly onClosed: () => void
}

export function RollDialog({ old, keys, onMade, onClosed }: Props) {
  const [overlap, setOverlap] = useState(0)
  return (
    <Dialog title={`Roll “${old.name}”`} onClosed={onClosed}>
      {close => (
        <Form
          send="Roll key"
          onSend={async () => {
            const key = await keys.roll(old.id, overlap)
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
