/** Resets everything, once somebody has said that they mean it. */
import { announce } from '../widgets/announcer.jsx'
import { ConfirmDialog } from '../widgets/confirm-dialog.jsx'
import type { ControlsClient } from './controls-client.js'

interface Props {
  readonly client: ControlsClient
  readonly onReset: () => void
  readonly onClosed: () => void
}

export function ResetDialog({ client, onReset, onClosed }: Props) {
  const reset = async () => {
    await client.reset()
    onReset()
    announce('Everything is reset.')
  }
  return (
    <ConfirmDialog title="Reset everything?" send="Reset" tone="danger" onSend={reset} onClosed={onClosed}>
      <p>
        Mode, pace, limits and faults by chance are as the configuration has them again, and the clock shows the real
        time.
      </p>
      <p>
        Faults that wait, rules that were added while it ran, what rules remember, what was used of the limits and the
        journal are forgotten. Users, keys and recordings stay.
      </p>
    </ConfirmDialog>
  )
}
