/** “Make a recording of this”: saves the answer to a request on disk. */
import { useState } from 'preact/hooks'
import type { Existing } from '../../recordings/operations.js'
import { useControl } from '../api.js'
import { addressOf } from '../recordings/recording-table.jsx'
import { announce } from '../widgets/announcer.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice } from '../widgets/states.jsx'

interface Props {
  readonly entry: { readonly id: string }
}

export function MakeRecording({ entry }: Props) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="button button-small" onClick={() => setOpen(true)}>
        Make a recording<span class="unseen"> of request {entry.id}</span>
      </button>
      {open && <MakeRecordingDialog entry={entry} onClosed={() => setOpen(false)} />}
    </>
  )
}

const choices: readonly (readonly [Existing, string])[] = [
  ['refuse', 'Leave it as it is and tell me'],
  ['replace', 'Put this one in its place'],
  ['append', 'Add this one, to be played after it'],
]

/** The dialog alone, for lists in which the request may disappear while it is open. */
export function MakeRecordingDialog({ entry, onClosed }: Props & { readonly onClosed: () => void }) {
  const control = useControl()
  const [existing, setExisting] = useState<Existing>('refuse')
  const [file, setFile] = useState<string>()
  return (
    <Dialog title="Make a recording of this" onClosed={onClosed}>
      {close =>
        file === undefined ? (
          <Form
            send="Make recording"
            onSend={async () => {
              setFile((await control('POST /recordings', { body: { exchange: entry.id, existing } })).file)
              announce('The recording is made.')
            }}
            beside={
              <button type="button" class="button" onClick={close}>
                Cancel
              </button>
            }
          >
            <p>The request and its answer become a file without their secrets. In mode replay it is the answer.</p>
            <fieldset>
              <legend>If this request is recorded already</legend>
              {choices.map(([value, label]) => (
                <label key={value} class="choice">
                  <input
                    type="radio"
                    name="existing"
                    checked={existing === value}
                    onChange={() => setExisting(value)}
                  />
                  {label}
                </label>
              ))}
            </fieldset>
          </Form>
        ) : (
          <>
            <Notice tone="good">
              <p>
                It is kept as <Link to={addressOf(file)}>{file}</Link>.
              </p>
            </Notice>
            <div class="form-buttons">
              <Done close={close} />
            </div>
          </>
        )
      }
    </Dialog>
  )
}

/** Takes the focus, because the element that had it is gone. */
function Done({ close }: { readonly close: () => void }) {
  return (
    <button type="button" class="button button-main" ref={button => button?.focus()} onClick={close}>
      Done
    </button>
  )
}
