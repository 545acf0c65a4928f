/** The fields of a form for a tool's arguments, and the arguments that were written in them. */
import { Failure } from '../failure.js'
import { indented, isObject, valueWritten } from '../widgets/json.js'

export interface ToolField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'choice' | 'json'
  readonly isRequired: boolean
  readonly description: string | undefined
  /** The values of a choice, as JSON. */
  readonly values: readonly string[]
  /** What is written in it at first. */
  readonly initial: string
}

/** What is written in each field. */
export type Written = ReadonlyMap<string, string>

type Schema = Readonly<Record<string, unknown>>

/** One field for each property. */
export function fieldsOf({ properties, required }: Schema): readonly ToolField[] {
  const needed = Array.isArray(required) ? required : []
  const all = isObject(properties) ? Object.entries(properties) : []
  return all.map(([name, property]) => fieldFor(name, isObject(property) ? property : {}, needed.includes(name)))
}

function fieldFor(name: string, schema: Schema, isRequired: boolean): ToolField {
  const { type, description, default: usual } = schema
  const values = Array.isArray(schema.enum) ? schema.enum : type === 'boolean' ? [true, false] : []
  const isNumber = type === 'number' || type === 'integer'
  const kind = values.length > 0 ? 'choice' : type === 'string' ? 'text' : isNumber ? 'number' : 'json'
  const initial = kind === 'text' ? String(usual) : kind === 'json' ? indented(usual) : JSON.stringify(usual)
  return {
    ...{ name, kind, isRequired, values: values.map(value => JSON.stringify(value)) },
    description: typeof description === 'string' ? description : undefined,
    initial: usual === undefined ? '' : initial,
  }
}

export const firstWritten = (fields: readonly ToolField[]): Written =>
  new Map(fields.map(({ name, initial }) => [name, initial]))

/** An empty field is no argument: the server says which ones it needs. Throws a Failure for a field that cannot be read. */
export const argumentsIn = (fields: readonly ToolField[], written: Written): Schema =>
  Object.fromEntries(
    fields.flatMap(field => {
      const text = written.get(field.name) ?? ''
      return text.trim() === '' ? [] : [[field.name, readAs(field, text)] as const]
    }),
  )

function readAs({ name, kind }: ToolField, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'number') {
    const number = Number(text)
    if (Number.isFinite(number)) return number
    throw new Failure(-1, 'Enter a number.', { field: name })
  }
  return valueWritten(text, name)
}
