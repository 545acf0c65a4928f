/** Where answers come from, for all endpoints or for individual ones. */
import { useState } from 'preact/hooks'
import type { CurrentModes } from '../../../http/mode-operations.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { ask } from '../widgets/dialog.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { RadioGroup, Select } from '../widgets/fields.jsx'
import { useAction } from '../widgets/form.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { type ControlProps, ControlSection } from './section.jsx'

type Mode = CurrentModes['mode']

/** In the order in which they are offered: local ones first. */
const modes: Readonly<Record<Mode, { readonly name: string; readonly does: string; readonly warns?: string }>> = {
  emulate: { name: 'Emulate', does: 'Answers come from rules, or are made up. Nothing leaves this machine.' },
  replay: { name: 'Replay', does: 'Answers come from recordings. Requests that were not recorded are refused.' },
  record: {
    name: 'Record',
    does: 'Answers come from the live platform, and each is saved to a file.',
    warns: 'Requests go to the live platform from now on, and each answer is saved to the recordings folder.',
  },
  proxy: {
    name: 'Proxy',
    does: 'Answers come from the live platform, unchanged.',
    warns: 'Requests go to the live platform from now on.',
  },
}

const modeOrder = Object.keys(modes) as Mode[]

/** Modes that use the live platform may cost money, so they need confirmation. */
function useChoice(reload: () => void) {
  const { failure, run } = useAction()
  const change = (to: CurrentModes) => control('PUT /mode', { body: to }).finally(reload)
  const said = 'The mode was changed.'
  const choose = (to: CurrentModes, mode: Mode) => {
    const { name, warns } = modes[mode]
    if (warns === undefined) return void run(() => change(to), said)
    ask({
      title: `Switch to ${name.toLowerCase()}?`,
      send: 'Switch',
      tone: 'main',
      children: <p>{warns} This may cost money.</p>,
      onSend: () => change(to),
      said,
    })
  }
  return { failure, choose }
}

export function ModeSection({ controls, reload }: ControlProps) {
  const { mode: current, choices } = controls
  const { failure, choose } = useChoice(reload)
  const reasonOf = (mode: Mode) => choices.data.find(choice => choice.mode === mode)?.reason
  return (
    <ControlSection
      of="mode"
      lead="Credentials are checked in every mode."
      restore={() => control('DELETE /mode')}
      controls={controls}
      reload={reload}
    >
      <RadioGroup
        label="Mode"
        bare
        value={current.mode}
        options={modeOrder.map(mode => {
          const { name: label, does } = modes[mode]
          const reason = reasonOf(mode)
          return {
            value: mode,
            label,
            hint: reason === undefined ? does : `${does} ${reason}`,
            disabled: reason !== undefined,
          }
        })}
        onChange={mode => choose({ ...current, mode }, mode)}
      />
      <FailureNote failure={failure} />
      <EndpointModes current={current} reasonOf={reasonOf} onChoose={choose} />
    </ControlSection>
  )
}

interface Props {
  readonly current: CurrentModes
  readonly reasonOf: (mode: Mode) => string | undefined
  readonly onChoose: (to: CurrentModes, mode: Mode) => void
}

function EndpointModes({ current, reasonOf, onChoose }: Props) {
  const documented = useConfig().endpoints.map(({ method, path }) => `${method} ${path}`)
  const { mode, modes: own } = current
  // The order stays the same when modes change. Other patterns follow, in the order in which they are tried.
  const patterns = [...new Set([...documented, ...Object.keys(own)])]
  const count = Object.keys(own).length
  // Decided once, so that it does not close while a field in it has the focus.
  const [isOpenAtFirst] = useState(count > 0)

  const choose = (pattern: string, chosen: Mode | '') =>
    onChoose({ mode, modes: changed(own, pattern, chosen) }, chosen || 'emulate')
  return (
    <Disclosure
      summary="Individual endpoints"
      note={count === 0 ? 'all in this mode' : `${count} with their own mode`}
      open={isOpenAtFirst}
    >
      <div class="fields">
        {patterns.map(pattern => (
          <Select<Mode | ''>
            key={pattern}
            label={pattern}
            value={own[pattern] ?? ''}
            options={[
              ['', `Default (${mode})`],
              ...modeOrder.map(one => [one, modes[one].name, reasonOf(one) !== undefined] as const),
            ]}
            onChange={chosen => choose(pattern, chosen)}
          />
        ))}
      </div>
    </Disclosure>
  )
}

/** The first match wins, so a new pattern goes first. An existing one keeps its place. */
function changed(own: CurrentModes['modes'], pattern: string, chosen: Mode | ''): CurrentModes['modes'] {
  const { [pattern]: before, ...others } = own
  if (chosen === '') return others
  return before === undefined ? { [pattern]: chosen, ...others } : { ...own, [pattern]: chosen }
}
