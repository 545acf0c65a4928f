/** Deletes a recording, once somebody has said that they mean it. */
import { announce } from '../widgets/announcer.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import { goOnFromHeading } from '../widgets/view.jsx'
import type { RecordingsClient } from './recordings-client.js'

interface Props {
  readonly file: string
  readonly recordings: RecordingsClient
  readonly onDeleted: () => void
  readonly onClosed: () => void
}

export function DeleteDialog({ file, recordings, onDeleted, onClosed }: Props) {
  return (
    <Dialog title="Delete this recording?" onClosed={onClosed}>
      {close => (
        <Form
          send="Delete"
          tone="danger"
          onSend={async () => {
            await recordings.remove(file)
            close()
            goOnFromHeading()
            onDeleted()
            announce('The recording is deleted.')
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          <p class="long-name">
            <code>{file}</code>
          </p>
          <p>The file is removed from the disk. In mode replay its request is answered no longer.</p>
        </Form>
      )}
    </Dialog>
  )
}
