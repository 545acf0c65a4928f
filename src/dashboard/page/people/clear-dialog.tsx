/** Empties the outbox, once somebody has said that they mean it. */
import { announce } from '../widgets/announcer.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import { goOnFromHeading } from '../widgets/view.jsx'
import type { PeopleClient } from './people-client.js'

interface Props {
  readonly people: PeopleClient
  readonly onCleared: () => void
  readonly onClosed: () => void
}

export function ClearDialog({ people, onCleared, onClosed }: Props) {
  return (
    <Dialog title="Clear the outbox?" onClosed={onClosed}>
      {close => (
        <Form
          send="Clear"
          tone="danger"
          onSend={async () => {
            await people.clearMessages()
            close()
            goOnFromHeading()
            onCleared()
            announce('The outbox is empty.')
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          <p>The messages are gone for good. Their codes and links go on working until they expire.</p>
        </Form>
      )}
    </Dialog>
  )
}
