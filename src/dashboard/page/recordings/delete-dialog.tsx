/** Deletes a recording, once somebody has said that they mean it. */
import { announce } from '../widgets/announcer.jsx'
import { ConfirmDialog } from '../widgets/confirm-dialog.jsx'
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
    <ConfirmDialog
      title="Delete this recording?"
      send="Delete"
      tone="danger"
      onSend={() => recordings.remove(file)}
      onDone={() => {
        goOnFromHeading()
        onDeleted()
        announce('The recording is deleted.')
      }}
      onClosed={onClosed}
    >
      <p class="long-name">
        <code>{file}</code>
      </p>
      <p>The file is removed from the disk. In mode replay its request is answered no longer.</p>
    </ConfirmDialog>
  )
}
