/** Generates values from JSON Schemas. The entry point; everything behind it is loaded by the first call. */

import { UnfitSchema } from '../../check/json-schema-form.js'
import { once } from '../../core/work.js'
import { withFaker } from '../fake.js'

export { UnfitSchema } from '../../check/json-schema-form.js'

/** The values to generate: one for each seed. `name` describes the value if the schema does not. */
interface SampleInput {
  readonly schema: unknown
  readonly seeds: readonly number[]
  readonly name?: string
}

/**
 * Generates JSON values that validate against a client's schema, the same for the same schema, seed and name. If
 * nothing fits otherwise, closed objects that are joined count as open. Rejects with an UnfitSchema if there is no such
 * value, or if none was found.
 */
export const sampled = async (input: SampleInput): Promise<readonly unknown[]> => (await loadSamples())(input)

/** Loads the generator. */
export const loadSamples = once(load)

async function load() {
  // All samples share this instance. Each sets its own seed and ends before the next one begins.
  const [{ sampleOf }, { TooManySteps }, faker] = await Promise.all([
    import('./sample.js'),
    import('../../check/json-schema.js'),
    withFaker(0, shared => shared),
  ])
  function sample(schema: unknown, seed: number, name: string): unknown {
    try {
      return sampleOf(schema, faker, seed, name)
    } catch (error) {
      const opened = error instanceof UnfitSchema ? withJoinedObjectsOpen(schema) : undefined
      if (opened === undefined) throw error
      return sampleOf(opened, faker, seed, name)
    }
  }
  /** Generates values. Throws an UnfitSchema. */
  return ({ schema, seeds, name = '' }: SampleInput): readonly unknown[] => {
    try {
      return seeds.map(seed => sample(schema, seed, name))
    } catch (error) {
      if (error instanceof TooManySteps) throw new UnfitSchema('no value that fits the schema was found in time')
      if (error instanceof RangeError) throw new UnfitSchema('no value fits the schema: it is nested too deeply')
      throw error
    }
  }
}

/**
 * Libraries write the intersection of two types as an `allOf` of two closed objects, which no value fits: each excludes
 * what the other requires. Both are meant, so this returns `schema` without the keywords that close its objects, or
 * `undefined` if it has no `allOf`.
 */
function withJoinedObjectsOpen(schema: unknown): unknown {
  const open = JSON.stringify(schema, (key, value) => {
    const closes = (key === 'additionalProperties' || key === 'unevaluatedProperties') && value === false
    return closes ? undefined : typeof value === 'bigint' ? Number(value) : value
  })
  return open?.includes('"allOf"') ? JSON.parse(open) : undefined
}
