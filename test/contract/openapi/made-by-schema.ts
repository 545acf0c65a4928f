/** Generates values from the schemas of the document: values that fit, and values that almost fit. */
import fc from 'fast-check'
import type { Document } from './document.js'

type Schema = { readonly [keyword: string]: unknown }

/** Below this depth, recursive schemas are left empty. */
const DEEPEST = 6

/** Values that usually fit: conditions between fields are ignored. */
export function fitting(document: Document) {
  const resolved = ({ $ref }: { readonly $ref: string }) =>
    $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((value, step) => (value as Schema)[step], document) as Schema

  function make(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (typeof schema.$ref === 'string') return make(resolved(schema as { $ref: string }), depth)
    if ('const' in schema) return fc.constant(schema.const)
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
    const ways = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined
    if (ways && schema.type === undefined) return depth > DEEPEST ? fc.constant(null) : anyOf(ways, depth)
    if (Array.isArray(schema.allOf) && schema.type === undefined) return allOf(schema.allOf as readonly Schema[], depth)
    if (Array.isArray(schema.type))
      return anyOf(
        schema.type.map(type => ({ ...schema, type })),
        depth,
      )
    return ofType(schema, depth)
  }

  const anyOf = (ways: readonly Schema[], depth: number) => fc.oneof(...ways.map(way => make(way, depth + 1)))

  /** The first schema is the base; the others narrow single fields. */
  function allOf([first = {}, ...others]: readonly Schema[], depth: number): fc.Arbitrary<unknown> {
    const base = typeof first.$ref === 'string' ? resolved(first as { $ref: string }) : first
    const properties = Object.assign({}, base.properties, ...others.map(other => other.properties))
    return make({ ...base, properties }, depth)
  }

  function ofType(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const { minimum: min, maximum: max } = schema as { minimum?: number; maximum?: number }
    const bounds = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
    switch (schema.type) {
      case 'string':
        return ofText(schema)
      case 'integer':
        return fc
          .maxSafeInteger()
          .chain(() => fc.integer({ min: Math.max(min ?? -100, -1e9), max: Math.min(max ?? 1000, 1e9) }))
      case 'number':
        return fc.double({ ...bounds, noNaN: true, noDefaultInfinity: true })
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'array':
        return fc.array(make((schema.items ?? {}) as Schema, depth + 1), {
          minLength: Number(schema.minItems ?? 0),
          maxLength: depth > DEEPEST ? Number(schema.minItems ?? 0) : 3,
        })
      case 'object':
        return ofObject(schema, depth)
      default:
        return fc.jsonValue({ maxDepth: 1 })
    }
  }

  function ofText({ pattern, minLength = 0, maxLength = 30 }: Schema): fc.Arbitrary<unknown> {
    if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
    return fc.string({ minLength: Number(minLength), maxLength: Number(maxLength), unit: 'grapheme' })
  }

  function ofObject({ properties = {}, required = [] }: Schema, depth: number): fc.Arbitrary<unknown> {
    const entries = Object.entries(properties as Record<string, Schema>)
    const needed = new Set(required as readonly string[])
    const wanted = depth > DEEPEST ? entries.filter(([name]) => needed.has(name)) : entries
    const made = Object.fromEntries(wanted.map(([name, schema]) => [name, make(schema, depth + 1)]))
    return fc.record(made, { requiredKeys: [...needed].filter(name => name in made) })
  }

  return (schema: object) => make(schema as Schema, 0)
}

/** `value` with one part replaced by something else. */
export const mutated = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(value, fc.array(fc.nat(), { maxLength: 5 }), fc.jsonValue({ maxDepth: 2 })).map(([whole, way, other]) => {
    const replaced = (part: unknown, [step, ...more]: readonly number[]): unknown => {
      if (step === undefined || typeof part !== 'object' || part === null) return other
      const keys = Object.keys(part)
      if (keys.length === 0) return other
      const key = keys[step % keys.length] ?? ''
      const inner = replaced((part as Record<string, unknown>)[key], more)
      return Array.isArray(part) ? part.with(Number(key), inner) : { ...part, [key]: inner }
    }
    return replaced(whole, way)
  })
