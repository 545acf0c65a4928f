/** Where answers come from, for all endpoints or for single ones. */
import { useId, useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { announce } from '../widgets/announcer.jsx'
import { Confirm } from '../widgets/dialog.jsx'
import { useWorking } from '../widgets/form.jsx'
import { Notice } from '../widgets/states.jsx'
import type { ChosenMode, ModesJson } from './controls-client.js'
import { type ControlProps, Section } from './section.jsx'

/** A chosen mode that waits for confirmation. */
interface Asked {
  readonly to: ModesJson
  readonly mode: ChosenMode
}

export function ModeSection({ controls, client, reload }: ControlProps) {
  const { mode: current, choices, configuredMode } = controls
  const [asked, setAsked] = useState<Asked>()
  const { failure, run } = useWorking()
  const id = useId()
  const reasonOf = (mode: ChosenMode) => choices.find(choice => choice.mode === mode)?.reason

  async function change(to: ModesJson): Promise<void> {
    try {
      await client.setMode(to)
      announce('The mode is changed.')
    } finally {
      reload()
    }
  }

  /** Modes that use the live platform may cost money, so they need confirmation. */
  function choose(to: ModesJson, mode: ChosenMode): void {
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
                  // The choice is shown once the server has confirmed it.
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
        <Confirm
          title={`Switch to ${modeWords[asked.mode].name.toLowerCase()}?`}
          send="Switch"
          onSend={() => change(asked.to)}
          onClosed={() => setAsked(undefined)}
        >
          <p>{modeWords[asked.mode].warns} It may cost something.</p>
        </Confirm>
      )}
    </Section>
  )
}

interface ModeWords {
  readonly name: string
  readonly does: string
  /** A warning shown before the live platform is used. */
  readonly warns?: string
}

/** The names and descriptions of the modes on the page. */
const modeWords: Readonly<Record<ChosenMode, ModeWords>> = {
  emulate: { name: 'Emulate', does: 'Answers are made here, from rules or made up. Nothing leaves this machine.' },
  replay: { name: 'Replay', does: 'Answers come from recordings. What was not recorded is refused.' },
  record: {
    name: 'Record',
    does: 'Answers come from the live platform, and each is kept as a file.',
    warns: 'Requests go to the live platform from now on, and each answer is written to the folder of recordings.',
  },
  proxy: {
    name: 'Proxy',
    does: 'Answers come from the live platform, as they are.',
    warns: 'Requests go to the live platform from now on.',
  },
}

/** The order in which modes are offered: local ones first. */
const modeOrder: readonly ChosenMode[] = ['emulate', 'replay', 'record', 'proxy']

/** The option for an endpoint without its own mode. */
const WITH_ALL = ''

interface Props {
  readonly current: ModesJson
  readonly reasonOf: (mode: ChosenMode) => string | undefined
  readonly onChoose: (to: ModesJson, mode: ChosenMode) => void
}

/** Single endpoints with their own modes. */
function EndpointModes({ current, reasonOf, onChoose }: Props) {
  const documented = useConfig().endpoints.map(({ method, path }) => `${method} ${path}`)
  const { mode, modes } = current
  // A fixed order, even when modes change. Other patterns follow, in the order in which they are tried.
  const patterns = [...new Set([...documented, ...Object.keys(modes)])]

  function choose(pattern: string, chosen: string): void {
    const { [pattern]: before, ...others } = modes
    if (chosen === WITH_ALL) return onChoose({ mode, modes: others }, 'emulate')
    const own = chosen as ChosenMode
    // The first match wins. A new pattern goes before those that would hide it; an existing one keeps its place.
    onChoose({ mode, modes: before === undefined ? { [pattern]: own, ...others } : { ...modes, [pattern]: own } }, own)
  }

  return (
    <table class="table endpoint-modes">
      <caption class="unseen">Modes of single endpoints</caption>
      <thead>
        <tr>
          <th scope="col">Endpoint</th>
          <th scope="col">Mode</th>
        </tr>
      </thead>
      <tbody>
        {patterns.map(pattern => {
          const own = modes[pattern]
          return (
            <tr key={pattern}>
              <th scope="row">
                <code>{pattern}</code>
              </th>
              <td>
                <select
                  class={own === undefined ? 'select select-usual' : 'select'}
                  aria-label={`Mode of ${pattern}`}
                  value={own ?? WITH_ALL}
                  onChange={({ currentTarget }) => {
                    const chosen = currentTarget.value
                    // The choice is shown once the server has confirmed it.
                    currentTarget.value = own ?? WITH_ALL
                    choose(pattern, chosen)
                  }}
                >
                  <option value={WITH_ALL}>With all others</option>
                  {modeOrder.map(mode => (
                    <option key={mode} value={mode} disabled={reasonOf(mode) !== undefined}>
                      {modeWords[mode].name}
                    </option>
                  ))}
                </select>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
