/** Empties the outbox, once somebody has said that they mean it. */
import { announce } from '../widgets/announcer.jsx'
import { ConfirmDialog } from '../widgets/confirm-dialog.jsx'
import { goOnFromHeading } from '../widgets/view.jsx'
import type { PeopleClient } from './people-client.js'

interface Props {
  readonly people: PeopleClient
  readonly onCleared: () => void
  readonly onClosed: () => void
}

export function ClearDialog({ people, onCleared, onClosed }: Props) {
  return (
    <ConfirmDialog
      title="Clear the outbox?"
      send="Clear"
      tone="danger"
      onSend={() => people.clearMessages()}
      onDone={() => {
        goOnFromHeading()
        onCleared()
        announce('The outbox is empty.')
      }}
      onClosed={onClosed}
    >
      <p>The messages are gone for good. Their codes and links go on working until they expire.</p>
    </ConfirmDialog>
  )
}
