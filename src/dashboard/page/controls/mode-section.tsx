/** Where answers come from: for all endpoints, and for single ones. */
import { useId, useState } from 'preact/hooks'
import { announce } from '../widgets/announcer.jsx'
import { ConfirmDialog } from '../widgets/confirm-dialog.jsx'
import { Notice } from '../widgets/notice.jsx'
import { useWorking } from '../widgets/working.js'
import type { Mode, ModesJson } from './controls-client.js'
import { EndpointModes } from './endpoint-modes.jsx'
import { modeOrder, modeWords } from './modes.js'
import type { ControlProps } from './parts.js'
import { Section } from './section.jsx'

/** What is about to be asked for, where that wants to be confirmed. */
interface Asked {
  readonly to: ModesJson
  readonly mode: Mode
}

export function ModeSection({ controls, client, reload }: ControlProps) {
  const { mode: current, choices, configuredMode } = controls
  const [asked, setAsked] = useState<Asked>()
  const { failure, run } = useWorking()
  const id = useId()
  const reasonOf = (mode: Mode) => choices.find(choice => choice.mode === mode)?.reason

  async function change(to: ModesJson): Promise<void> {
    try {
      await client.setMode(to)
      announce('The mode is changed.')
    } finally {
      reload()
    }
  }

  /** Whatever goes to the live platform may cost something, and wants to be meant. */
  function choose(to: ModesJson, mode: Mode): void {
    if (modeWords[mode].warns === undefined) void run(() => change(to))
    else setAsked({ to, mode })
  }

  const state = {
    isChanged: JSON.stringify(current) !== JSON.stringify(configuredMode),
    restore: () => client.restoreMode().finally(reload),
  }

  return (
    <Section title="Where answers come from" lead="The bearer rules hold in every mode." state={state}>
      <fieldset class="modes">
        <legend class="unseen">Mode</legend>
        {modeOrder.map(mode => {
          const { name, does } = modeWords[mode]
          const reason = reasonOf(mode)
          return (
            <label key={mode} class={reason === undefined ? 'mode-choice' : 'mode-choice mode-closed'}>
              <input
                type="radio"
                name={id}
                checked={mode === current.mode}
                disabled={reason !== undefined}
                aria-labelledby={`${id}-${mode}-name`}
                aria-describedby={`${id}-${mode}`}
                onClick={event => {
                  if (mode === current.mode) return
                  // It is chosen when the server says so.
                  event.preventDefault()
                  choose({ ...current, mode }, mode)
                }}
              />
              <span class="mode-name" id={`${id}-${mode}-name`}>
                {name}
              </span>
              <span class="mode-does" id={`${id}-${mode}`}>
                {does}
                {reason !== undefined && <span class="mode-reason"> {reason}</span>}
              </span>
            </label>
          )
        })}
      </fieldset>
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      <EndpointModes current={current} reasonOf={reasonOf} onChoose={choose} />
      {asked && (
        <ConfirmDialog
          title={`Switch to ${modeWords[asked.mode].name.toLowerCase()}?`}
          send="Switch"
          onSend={() => change(asked.to)}
          onClosed={() => setAsked(undefined)}
        >
          <p>{modeWords[asked.mode].warns} It may cost something.</p>
        </ConfirmDialog>
      )}
    </Section>
  )
}
