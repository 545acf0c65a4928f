/** Form fields made from the schema of options: their labels, help, kinds and limits are those of the configuration. */
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Schema } from '../../api/operation.js'
import { check } from '../../check/check.js'
import { type Failure, failureOf } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { Button } from '../widgets/button.jsx'
import { Field, NumberField, Select } from '../widgets/fields.jsx'
import { capitalized, spaced } from '../wording.js'
import { Restored } from './section.jsx'

/** What is read of a schema or of a step in it. */
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

/** `First token` for `firstTokenMs`, whose unit is named beside the field. */
export const labelOf = (name: string) => capitalized(spaced(name.replace(/Ms$/, '')))

const unitOf = (name: string) => (name.endsWith('Ms') ? 'ms' : name.endsWith('Bytes') ? 'bytes' : undefined)

type OptionForm = ReturnType<typeof optionOf>

export function optionOf(name: string, schema: Schema) {
  const parts = [...partsOf(schema as unknown as Part)]
  const has = (type: string) => parts.some(part => part.type === type)
  const choices = parts.find(({ type }) => type === 'picklist')?.options ?? []
  const kind = choices.length > 0 ? 'choice' : has('literal') ? 'yes' : has('number') ? 'number' : 'text'
  const hint = parts.find(({ description }) => description !== undefined)?.description ?? ''
  return { label: labelOf(name), hint, unit: unitOf(name), kind, choices } as const
}

/** What is wrong with settings, by the name of the option; the name is empty for what concerns no single one. */
export function problemsIn(schema: Schema, settings: unknown): ReadonlyMap<string, string> {
  const checked = check(schema, settings)
  const mistakes = 'mistakes' in checked ? checked.mistakes : []
  return new Map(mistakes.map(({ path, sentence }) => [String(path.at(-1) ?? ''), sentence]))
}

interface Slider {
  readonly max: number
  readonly step: number
}

interface OptionFieldProps {
  readonly option: OptionForm
  readonly id?: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onSettle?: (value: string) => void
  readonly error?: string | undefined
  readonly slider?: Slider | undefined
  readonly optional?: boolean
}

export function OptionField({ option, onSettle, slider, optional = false, ...field }: OptionFieldProps) {
  const { label, hint, unit, kind, choices } = option
  if (kind === 'choice') {
    const options = [...(optional ? ['' as const] : []), ...choices]
    return (
      <Select
        {...field}
        {...{ label, hint }}
        options={options.map(choice => [choice, choice || 'any'])}
        onChange={value => {
          field.onChange(value)
          onSettle?.(value)
        }}
      />
    )
  }
  if (kind === 'number') {
    const placeholder = optional ? 'none' : undefined
    return <NumberField {...field} {...{ label, hint, unit, slider, onSettle, placeholder }} />
  }
  return <Field {...field} {...{ label, hint }} required={!optional} placeholder={optional ? 'any' : undefined} />
}

interface OptionFieldsProps {
  readonly entries: Readonly<Record<string, Schema>>
  readonly settings: object
  readonly configured: object
  readonly sliders?: Readonly<Record<string, Slider>>
  /** What is wrong with a value, before it is sent. */
  readonly problemOf: (name: string, value: unknown) => string | undefined
  readonly onChange: (name: string, value: unknown) => void
}

const valueIn = (settings: object, name: string) => (settings as Readonly<Record<string, unknown>>)[name]

/** A field for each option. A valid value is applied as soon as it is settled. What was changed is marked, and can be undone. */
export const OptionFields = ({ entries, settings, configured, sliders, ...more }: OptionFieldsProps) => (
  <div class="fields">
    {Object.entries(entries).map(([name, schema]) => (
      <AppliedOption
        key={name}
        option={optionOf(name, schema)}
        value={valueIn(settings, name)}
        configured={valueIn(configured, name)}
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
  const { shown, error, write, settle } = useWritten(props)
  const undo = () => {
    settle(String(configured))
    document.getElementById(id)?.focus()
  }
  const isChanged = value !== configured
  return (
    <div class={isChanged ? 'field stack option-changed' : undefined}>
      <OptionField {...{ option, id, slider, error }} value={shown} onChange={write} onSettle={settle} />
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

/** What is shown in the field of an option: its value, or what is typed until it is settled and valid. */
function useWritten({ option, value, problemOf, onChange }: AppliedOptionProps) {
  const [written, write] = useState<string>()
  const [error, setError] = useState<string>()
  const restored = useContext(Restored)
  // What was refused gives way to a value that is set elsewhere. What is still being typed does not.
  useEffect(() => {
    if (error === undefined) return
    write(undefined)
    setError(undefined)
  }, [value, restored])
  const settle = (text: string) => {
    const number = text.trim() === '' ? Number.NaN : Number(text)
    const settled = option.kind === 'number' ? number : text
    const problem = Number.isNaN(settled) ? 'Enter a number.' : problemOf(settled)
    setError(problem)
    write(problem === undefined ? undefined : text)
    if (problem === undefined && settled !== value) onChange(settled)
  }
  return { shown: written ?? String(value), error, write, settle }
}

interface Sent<Settings> {
  readonly settings: Settings
  readonly isWaiting: boolean
  /** What was in force when it was answered: what is loaded later replaces it. */
  readonly before: Settings
}

interface AppliedParts<Settings> {
  readonly inForce: Settings
  readonly send: (settings: Settings) => Promise<unknown>
  readonly reload: () => void
}

/** Sends settings as soon as they change, one after the other. What was sent is shown until the server's answer. */
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
