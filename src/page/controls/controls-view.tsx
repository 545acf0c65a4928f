/** Controls for the running platform: where answers come from, faults, pace, limits and the clock. */
import { useEffect, useState } from 'preact/hooks'
import { configHasChanged, useConfig } from '../config.jsx'
import { useListing } from '../listing.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { announce } from '../widgets/announcer.jsx'
import { Confirm } from '../widgets/dialog.jsx'
import { View } from '../widgets/view.jsx'
import { ClockSection } from './clock-section.jsx'
import { type Controls, type ControlsClient, useControlsClient } from './controls-client.js'
import { FaultsSection } from './faults-section.jsx'
import { LimitsSection } from './limits-section.jsx'
import { ModeSection } from './mode-section.jsx'
import { PaceSection } from './pace-section.jsx'

/** Polls, because tests and other tabs can change the same settings. */
const EVERY_MS = 3000

export function ControlsView() {
  const client = useControlsClient()
  const loaded = useListing(client.load, EVERY_MS)
  const [resetting, setResetting] = useState(false)
  const { listing, reload } = loaded
  useModeBeside(listing.kind === 'ready' ? listing.value : undefined)
  const reset = listing.kind === 'ready' && (
    <button type="button" class="button button-warns" onClick={() => setResetting(true)}>
      Reset everything
    </button>
  )
  return (
    <View
      title="Controls"
      lead="What you change holds from the next request on, until the configuration changes or everything is reset."
      action={reset}
    >
      <DeveloperOnly of={loaded}>
        {controls => {
          const parts = { controls, client, reload }
          return (
            <div class="control-list">
              <ModeSection {...parts} />
              <FaultsSection {...parts} />
              <PaceSection {...parts} />
              <LimitsSection {...parts} />
              <ClockSection {...parts} />
            </div>
          )
        }}
      </DeveloperOnly>
      {resetting && <ResetDialog client={client} onReset={reload} onClosed={() => setResetting(false)} />}
    </View>
  )
}

/** Reloads the configuration when the mode has changed, as the page shows the mode next to every view. */
function useModeBeside(controls: Controls | undefined): void {
  const { mode } = useConfig()
  const current = controls?.mode.mode
  useEffect(() => {
    if (current !== undefined && current !== mode) configHasChanged()
  }, [current, mode])
}

interface Props {
  readonly client: ControlsClient
  readonly onReset: () => void
  readonly onClosed: () => void
}

/** Asks for confirmation, then resets everything. */
export function ResetDialog({ client, onReset, onClosed }: Props) {
  const reset = async () => {
    await client.reset()
    onReset()
    announce('Everything is reset.')
  }
  return (
    <Confirm title="Reset everything?" send="Reset" tone="danger" onSend={reset} onClosed={onClosed}>
      <p>
        Mode, pace, limits and faults by chance are as the configuration has them again, and the clock shows the real
        time.
      </p>
      <p>
        Faults that wait, rules that were added while it ran, what rules remember, what was used of the limits and the
        journal are forgotten. Users, keys and recordings stay.
      </p>
    </Confirm>
  )
}
