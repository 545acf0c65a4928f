/** Saves the answer to a request on disk. */
import { useState } from 'preact/hooks'
import { recordingAt } from '../../dashboard/routes.js'
import type { ExistingPolicy } from '../../recordings/operations.js'
import { useControl } from '../api.js'
import { Button } from '../widgets/button.jsx'
import { Dialog, Done } from '../widgets/dialog.jsx'
import { RadioGroup } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Notice } from '../widgets/states.jsx'

const choices: readonly { readonly value: ExistingPolicy; readonly label: string }[] = [
  { value: 'refuse', label: 'Keep it and tell me' },
  { value: 'replace', label: 'Replace it' },
  { value: 'append', label: 'Add this one, to be played after it' },
]

/** `id` is that of the exchange. */
export function MakeRecordingDialog({ id }: { readonly id: string }) {
  const control = useControl()
  const [existing, setExisting] = useState<ExistingPolicy>('refuse')
  const [file, setFile] = useState<string>()
  return (
    <Dialog title="Create recording from this request">
      {close =>
        file === undefined ? (
          <Form
            send="Create recording"
            onSend={async () => {
              setFile((await control('POST /recordings', { body: { exchange: id, existing } })).file)
            }}
            said="The recording was saved."
            beside={<Button onClick={close}>Cancel</Button>}
          >
            <p>The request and its answer are saved to a file, without their secrets. Replay then answers with it.</p>
            <RadioGroup
              label="If this request is recorded already"
              value={existing}
              onChange={setExisting}
              options={choices}
            />
          </Form>
        ) : (
          <>
            <Notice tone="good">
              <p class="long-name">
                Saved to <Link to={recordingAt(file)}>{file}</Link>.
              </p>
            </Notice>
            <div class="form-buttons row">
              <Done onClick={close} />
            </div>
          </>
        )
      }
    </Dialog>
  )
}
