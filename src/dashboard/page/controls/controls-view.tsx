/** Controls for the running platform: where answers come from, faults and the clock. */
import { useEffect } from 'preact/hooks'
import { control } from '../api.js'
import { configHasChanged, useConfig } from '../config.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { AskButton } from '../widgets/dialog.jsx'
import { useResource } from '../widgets/resource.js'
import { View } from '../widgets/view.jsx'
import { ClockSection } from './clock-section.jsx'
import { FaultsSection } from './faults-section.jsx'
import { ModeSection } from './mode-section.jsx'
import { type Controls, changedIn, loadControls, sections } from './section.jsx'

/** How often to reload, because tests and other tabs can change the same settings. */
const CONTROLS_EVERY_MS = 3000

export function ControlsView() {
  const loaded = useResource(loadControls, [], CONTROLS_EVERY_MS)
  const { value, reload } = loaded
  useModeChanges(value)
  return (
    <View
      title="Controls"
      lead="Changes apply from the next request on, until the configuration changes or you reset them."
      action={value && <ResetButton reload={reload} />}
    >
      <DeveloperOnly of={loaded}>
        {controls => (
          <div class="controls stack">
            <Sections controls={controls} />
            <div class="control-list stack">
              <ModeSection controls={controls} reload={reload} />
              <FaultsSection controls={controls} reload={reload} />
              <ClockSection controls={controls} reload={reload} />
            </div>
          </div>
        )}
      </DeveloperOnly>
    </View>
  )
}

/** Links to the groups. Those that differ from the configuration are marked. */
function Sections({ controls }: { readonly controls: Controls }) {
  const changed = changedIn(controls)
  return (
    <nav class="sections" aria-label="Controls">
      <ul class="row">
        {(Object.keys(sections) as (keyof typeof sections)[]).map(name => (
          <li key={name}>
            <a href={`#${name}`} class={changed.has(name) ? 'item section-changed' : 'item'}>
              {sections[name]}
              {changed.has(name) && <span class="unseen">, changed</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Reloads the configuration when the mode has changed, since the frame shows the mode. */
function useModeChanges(controls: Controls | undefined): void {
  const { mode } = useConfig()
  const current = controls?.mode.mode
  useEffect(() => {
    if (current !== undefined && current !== mode) configHasChanged()
  }, [current, mode])
}

function ResetButton({ reload }: { readonly reload: () => void }) {
  const isInMemory = useConfig().users.run !== null
  const onDone = () => {
    reload()
    // The signed-in user's session may be gone.
    configHasChanged()
  }
  return (
    <AskButton
      label="Reset everything"
      title="Reset everything?"
      send="Reset"
      onSend={() => control('POST /reset')}
      onDone={onDone}
      said="Everything was reset."
    >
      {resetInWords(isInMemory)}
    </AskButton>
  )
}

/** A reset clears state in memory, but not in a file or a folder. */
const resetInWords = (isInMemory: boolean) => (
  <>
    <p>Mode, pace, limits, random faults and the clock go back to the configuration.</p>
    {isInMemory && (
      <p>
        So do users, keys, messages and the rows of resources, which are in memory only. Sessions end, and everyone has
        to sign in again.
      </p>
    )}
    <p>
      Pending faults, rules added at run time, the state of rules, limit usage and the journal are cleared.{' '}
      {isInMemory ? 'Recordings stay.' : 'Users, keys and recordings stay.'}
    </p>
  </>
)
