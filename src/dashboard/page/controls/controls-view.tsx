/** What steers the platform while it runs: where answers come from, what goes wrong, how fast, how much, and when. */
import { useEffect, useState } from 'preact/hooks'
import { configHasChanged, useConfig } from '../config.jsx'
import { useListing } from '../listing.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { View } from '../widgets/view.jsx'
import { ClockSection } from './clock-section.jsx'
import { type Controls, useControlsClient } from './controls-client.js'
import { FaultsSection } from './faults-section.jsx'
import { LimitsSection } from './limits-section.jsx'
import { ModeSection } from './mode-section.jsx'
import { PaceSection } from './pace-section.jsx'
import { ResetDialog } from './reset-dialog.jsx'

/** Tests and other tabs change the same things. */
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

/** The page names the mode beside every view. */
function useModeBeside(controls: Controls | undefined): void {
  const { mode } = useConfig()
  const current = controls?.mode.mode
  useEffect(() => {
    if (current !== undefined && current !== mode) configHasChanged()
  }, [current, mode])
}
