/** The fields of the fault form, made from the schema of faults: their labels, hints and limits are those of the configuration. */

import { check } from '../../../check/check.js'
import type { Schema } from '../../../control/operation.js'
import { Field, NumberField, Select } from '../widgets/fields.jsx'
import { capitalized, spaced } from '../wording.js'

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

interface OptionFieldProps {
  readonly option: OptionForm
  readonly optional: boolean
  readonly id: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}

/** The field for an option. An optional one may stay empty, which means none, or any. */
export function OptionField({ option, optional, ...field }: OptionFieldProps) {
  const { label, hint, unit, kind, choices } = option
  const none = optional ? (kind === 'number' ? 'none' : 'any') : undefined
  const shared = { ...field, label, hint }
  switch (kind) {
    case 'choice':
      return <Select {...shared} options={none === undefined ? choices : [['', none], ...choices]} />
    case 'number':
      return <NumberField {...shared} unit={unit} placeholder={none} />
    case 'text':
      return <Field {...shared} placeholder={none} required={!optional} />
  }
}
