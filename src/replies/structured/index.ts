/** Generates values from JSON Schemas. The entry point; everything behind it is loaded by the first call. */

import { UnfitSchema } from '../../check/unfit-schema.js'
import { isObject } from '../../core/json.js'
import { once } from '../../core/work.js'
import { withFaker } from '../fake.js'
import type { Wanted } from './sample.js'

export { UnfitSchema } from '../../check/unfit-schema.js'

/** The values to generate: one for each seed. `name` describes the value if the schema does not. */
interface SampleInput {
  readonly schema: unknown
  readonly seeds: readonly number[]
  readonly name?: string
  /** Whether values are as small as they can be, which takes much less time. */
  readonly isSmall?: boolean
}

/**
 * Generates JSON values that validate against a client's schema, the same for the same schema, seed and name. If
 * nothing fits otherwise, closed objects that are joined count as open, and a value may fit several forms of a oneOf. Rejects with an UnfitSchema if there is no such
 * value, or if none was found.
 */
export const sampled = async (input: SampleInput): Promise<readonly unknown[]> => (await loadSamples())(input)

export const loadSamples = once(load)

async function load() {
  // All samples share this instance. Each sets its own seed and ends before the next one begins.
  const [{ sampleOf }, { TooManySteps }, faker] = await Promise.all([
    import('./sample.js'),
    import('../../check/json-schema.js'),
    withFaker(0, shared => shared),
  ])
  // Finding that nothing fits takes long.
  const relaxedSchemas = new WeakMap<object, unknown>()
  function sample(schema: unknown, wanted: Wanted): unknown {
    const key = typeof schema === 'object' && schema !== null ? schema : {}
    const known = relaxedSchemas.get(key)
    if (known !== undefined) return sampleOf(known, faker, wanted)
    try {
      return sampleOf(schema, faker, wanted)
    } catch (error) {
      const isUnfit = error instanceof UnfitSchema || error instanceof TooManySteps
      const relaxed = isUnfit ? relaxedForm(schema) : undefined
      if (relaxed === undefined) throw error
      relaxedSchemas.set(key, relaxed)
      return sampleOf(relaxed, faker, wanted)
    }
  }
  /** Generates values. Throws an UnfitSchema. */
  return ({ schema, seeds, name = '', isSmall = false }: SampleInput): readonly unknown[] => {
    try {
      return seeds.map(seed => sample(schema, { seed, name, isSmall }))
    } catch (error) {
      if (error instanceof TooManySteps) throw new UnfitSchema('no value that fits the schema was found in time')
      if (error instanceof RangeError) throw new UnfitSchema('no value fits the schema: it is nested too deeply')
      throw error
    }
  }
}

/**
 * What is meant by two kinds of schema that no value fits: an `allOf` of closed objects, each of which excludes what the
 * other requires, and a `oneOf` of forms so alike that whatever fits one fits another. `undefined` for any other schema.
 */
function relaxedForm(schema: unknown): unknown {
  let isRelaxed = false
  const relaxed = JSON.stringify(schema, (key, value) => {
    if (typeof value === 'bigint') return Number(value)
    const closes = (key === 'additionalProperties' || key === 'unevaluatedProperties') && value === false
    if (closes) return undefined
    if (!isObject(value) || !Array.isArray(value.oneOf) || 'anyOf' in value) return value
    isRelaxed = true
    const { oneOf, ...rest } = value
    return { ...rest, anyOf: oneOf }
  })
  return isRelaxed || relaxed?.includes('"allOf"') ? JSON.parse(relaxed) : undefined
}
