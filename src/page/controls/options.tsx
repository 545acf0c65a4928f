/** Form fields made from schemas of options: labels, hints, kinds and limits are those of the configuration. */
import type { ComponentProps } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Schema } from '../../api/operation.js'
import { check } from '../../check/check.js'
import { type Failure, failureOf } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { Button } from '../widgets/button.jsx'
import { TypedField } from '../widgets/fields.jsx'
import { capitalized, spaced } from '../wording.js'
import { Restored } from './section.jsx'

/** The members of a schema, or of a step of its pipe, that matter here. */
interface Part {
  readonly type: string
  readonly wrapped?: Part
  readonly pipe?: readonly Part[]
  readonly options?: readonly string[]
  readonly description?: string
}

function* partsOf(schema: Part): Generator<Part> {
  yield schema
  if (schema.wrapped) yield* partsOf(schema.wrapped)
  for (const part of schema.pipe ?? []) yield* partsOf(part)
}

/** `First token` for `firstTokenMs`. The unit is shown in the field. */
export const labelOf = (name: string) => capitalized(spaced(name.replace(/Ms$/, '')))

const unitOf = (name: string) => (name.endsWith('Ms') ? 'ms' : name.endsWith('Bytes') ? 'bytes' : undefined)

type OptionForm = ReturnType<typeof optionOf>

export function optionOf(name: string, schema: Schema) {
  const parts = [...partsOf(schema as unknown as Part)]
  const has = (type: string) => parts.some(part => part.type === type)
  const choices = parts.find(({ type }) => type === 'picklist')?.options ?? []
  const kind = choices.length > 0 ? 'choice' : has('number') ? 'number' : 'text'
  const hint = parts.find(({ description }) => description !== undefined)?.description ?? ''
  return { label: labelOf(name), hint, unit: unitOf(name), kind, choices, isFlag: has('literal') } as const
}

/** What is wrong with settings, by the name of the option. The name is empty for problems that are not about one option. */
export function problemsIn(schema: Schema, settings: unknown): ReadonlyMap<string, string> {
  const checked = check(schema, settings)
  const mistakes = 'mistakes' in checked ? checked.mistakes : []
  return new Map(mistakes.map(({ path, sentence }) => [String(path.at(-1) ?? ''), sentence]))
}

interface Slider {
  readonly max: number
  readonly step: number
}

interface OptionFieldProps
  extends Pick<ComponentProps<typeof TypedField>, 'id' | 'value' | 'onChange' | 'onSettle' | 'error' | 'slider'> {
  readonly option: OptionForm
  readonly optional?: boolean
}

export function OptionField({ option, optional = false, ...field }: OptionFieldProps) {
  const none = option.kind === 'number' ? 'none' : 'any'
  return (
    <TypedField
      {...option}
      {...field}
      choices={[...(optional ? [['', none] as const] : []), ...option.choices]}
      placeholder={optional ? none : undefined}
      required={!optional}
    />
  )
}

interface OptionFieldsProps {
  readonly entries: Readonly<Record<string, Schema>>
  readonly settings: object
  readonly configured: object
  readonly sliders?: Readonly<Record<string, Slider>>
  /** Checks a value before it is sent. */
  readonly problemOf: (name: string, value: unknown) => string | undefined
  readonly onChange: (name: string, value: unknown) => void
}

const settingIn = (settings: object, name: string) => (settings as Readonly<Record<string, unknown>>)[name]

/** A field for each option. Valid values are applied when the user leaves the field. Changed options are marked and can be undone. */
export const OptionFields = ({ entries, settings, configured, sliders, ...more }: OptionFieldsProps) => (
  <div class="fields">
    {Object.entries(entries).map(([name, schema]) => (
      <AppliedOption
        key={name}
        option={optionOf(name, schema)}
        value={settingIn(settings, name)}
        configured={settingIn(configured, name)}
        slider={sliders?.[name]}
        problemOf={value => more.problemOf(name, value)}
        onChange={value => more.onChange(name, value)}
      />
    ))}
  </div>
)

interface AppliedOptionProps {
  readonly option: OptionForm
  readonly value: unknown
  readonly configured: unknown
  readonly slider: Slider | undefined
  readonly problemOf: (value: unknown) => string | undefined
  readonly onChange: (value: unknown) => void
}

function AppliedOption(props: AppliedOptionProps) {
  const { option, value, configured, slider } = props
  const id = useId()
  const { shown, error, type, settle } = useTyped(props)
  const undo = () => {
    settle(String(configured))
    document.getElementById(id)?.focus()
  }
  const isChanged = value !== configured
  return (
    <div class={isChanged ? 'field stack option-changed' : undefined}>
      <OptionField {...{ option, id, slider, error }} value={shown} onChange={type} onSettle={settle} />
      {isChanged && (
        <p class="row spread care hint">
          Changed from {String(configured)}
          <Button small aria-label={`Undo ${option.label}`} onClick={undo}>
            Undo
          </Button>
        </p>
      )}
    </div>
  )
}

/** The text in an option's field: its value, or what the user types until it is settled and valid. */
function useTyped({ option, value, problemOf, onChange }: AppliedOptionProps) {
  const [typed, type] = useState<string>()
  const [error, setError] = useState<string>()
  const restored = useContext(Restored)
  // A refused text is replaced when the value is changed elsewhere. A text that is still being typed is not.
  useEffect(() => {
    if (error === undefined) return
    type(undefined)
    setError(undefined)
  }, [value, restored])
  const settle = (text: string) => {
    const number = text.trim() === '' ? Number.NaN : Number(text)
    const settled = option.kind === 'number' ? number : text
    const problem = Number.isNaN(settled) ? 'Enter a number.' : problemOf(settled)
    setError(problem)
    type(problem === undefined ? undefined : text)
    if (problem === undefined && settled !== value) onChange(settled)
  }
  return { shown: typed ?? String(value), error, type, settle }
}

interface Sent<Settings> {
  readonly settings: Settings
  readonly isWaiting: boolean
  /** The settings in force when the server had answered. Newer ones replace what was sent. */
  readonly before: Settings
}

interface AppliedParts<Settings> {
  readonly inForce: Settings
  readonly send: (settings: Settings) => Promise<unknown>
  readonly reload: () => void
}

/** Sends changed settings at once, one request after the other, and shows them until the server reports its own. */
export function useApplied<Settings>({ inForce, send, reload }: AppliedParts<Settings>) {
  const [sent, setSent] = useState<Sent<Settings>>()
  const [failure, setFailure] = useState<Failure>()
  const line = useRef({ last: Promise.resolve(), waiting: 0 })
  const latest = useRef(inForce)
  latest.current = inForce
  const apply = (settings: Settings, said: string) => {
    line.current.waiting += 1
    setSent({ settings, isWaiting: true, before: inForce })
    const settled = (failure: Failure | undefined) => {
      line.current.waiting -= 1
      setFailure(failure)
      if (!failure) announce(said)
      if (line.current.waiting > 0) return
      setSent(failure ? undefined : { settings, isWaiting: false, before: latest.current })
      reload()
    }
    line.current.last = line.current.last
      .then(() => send(settings))
      .then(
        () => settled(undefined),
        thrown => settled(failureOf(thrown)),
      )
  }
  const isShown = sent !== undefined && (sent.isWaiting || sent.before === inForce)
  return { shown: isShown ? sent.settings : inForce, failure, apply }
}
