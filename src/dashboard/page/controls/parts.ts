/** What each group of controls works with. */
import type { Controls, ControlsClient } from './controls-client.js'

export interface ControlProps {
  readonly controls: Controls
  readonly client: ControlsClient
  /** Reads everything again. */
  readonly reload: () => void
}
