/** Finds options in the schema by path, with their names in the environment, and whether they are secret. */
import * as v from 'valibot'
import type { Path } from '../../check/check.js'
import { jsonOf } from '../../core/json.js'
import { configSchema } from './schema.js'

type Schema = v.GenericSchema & {
  readonly wrapped?: Schema
  readonly default?: unknown
  readonly entries?: Record<string, Schema>
  readonly item?: Schema
  /** Of each entry of a map. */
  readonly value?: Schema
  readonly options?: readonly Schema[]
}

export interface Option {
  readonly path: readonly string[]
  readonly meaning: string
  readonly initial: unknown
  /** Its name in the environment: `STANDIN_LIMITS_BODY_BYTES`. */
  readonly variable: string
}

type Group = Pick<Option, 'path' | 'meaning'>

const root = configSchema as unknown as Schema
const unwrapped = (schema: Schema): Schema => (schema.wrapped ? unwrapped(schema.wrapped) : schema)

/** `STANDIN_LIMITS_BODY_BYTES` for `limits.bodyBytes`. */
export const variableOf = (path: readonly string[]) =>
  ['standin', ...path].map(name => name.replace(/(?<=[a-z])[A-Z]/g, '_$&').toUpperCase()).join('_')

/** All groups and options, in the order of the schema. */
export function* walkOptions(schema = root, path: readonly string[] = []): Generator<Option | Group> {
  for (const [name, entry] of Object.entries(schema.entries ?? {})) {
    const optionPath = [...path, name]
    const inner = unwrapped(entry)
    const meaning = v.getDescription(inner) ?? ''
    if (inner.entries) {
      yield { path: optionPath, meaning }
      yield* walkOptions(inner, optionPath)
    } else yield { path: optionPath, meaning, initial: entry.default, variable: variableOf(optionPath) }
  }
}

export const isOption = (entry: Option | Group): entry is Option => 'variable' in entry

export const allOptions = (): readonly Option[] => [...walkOptions()].filter(isOption)

/** Returns the schema of the value at `path`, or `undefined` if no value is allowed there. */
export function schemaAt(path: Path, from: v.GenericSchema = root): v.GenericSchema | undefined {
  const schema = unwrapped(from as Schema)
  const [step, ...rest] = path
  if (step === undefined) return schema
  if (schema.options) return schema.options.map(choice => schemaAt(path, choice)).find(Boolean)
  const { item, entries, value } = schema
  const next = typeof step === 'number' ? item : entries ? Object.hasOwn(entries, step) && entries[step] : value
  return next ? schemaAt(rest, next) : undefined
}

/** Whether the value at `path` may be an empty map: an option that is a map, or a group. */
export function takesMap(path: Path): boolean {
  const schema = schemaAt(path)
  return schema !== undefined && v.is(schema, {})
}

/** Whether the value at `path` must never be shown. */
export function isSecret(path: Path): boolean {
  const schema = schemaAt(path)
  const metadata: { secret?: boolean } = schema ? v.getMetadata(schema as never) : {}
  return metadata.secret === true
}

/**
 * Whether the value at `path` is secret, or is a group that contains secrets. In that case it may be a secret in the
 * wrong place.
 */
export function mayHoldSecret(path: Path): boolean {
  const schema = schemaAt(path)
  return schema !== undefined && hasSecret(schema as Schema)
}

function hasSecret(schema: Schema): boolean {
  const inner = unwrapped(schema)
  const { secret = false }: { secret?: boolean } = v.getMetadata(inner as never)
  // The options of a picklist are its words.
  const choices = inner.options?.filter(choice => typeof choice === 'object') ?? []
  return secret || [...Object.values(inner.entries ?? {}), inner.item ?? [], choices].flat().some(hasSecret)
}

/**
 * Converts a text from the environment or a flag to the type of the option at `path`; maps are JSON. If no type fits,
 * returns what it says, for the check to refuse.
 */
export function fromText(path: Path, text: string): unknown {
  const schema = schemaAt(path)
  const json = /^\s*[{[]/.test(text) ? jsonOf(text) : undefined
  const list = text.split(',').map(item => item.trim())
  const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  const readings = [
    json,
    ...(list.length > 1 ? [list] : []),
    text,
    number,
    ['true', 'false'].includes(text) ? text === 'true' : text,
    list,
  ]
  if (!schema || schema.type === 'unknown') return text
  return readings.find(reading => v.is(schema, reading)) ?? json ?? text
}
