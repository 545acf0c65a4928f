/** Values made up from JSON Schemas: the front door. What is behind it is loaded by the first call. */
import { withFaker } from '../fake.js'
import { openedWhereJoined } from './opened.js'
import { UnfitSchema } from './unfit.js'

export { UnfitSchema } from './unfit.js'

/** Makes up values. */
export interface Structured {
  /**
   * A JSON value that validates against `schema`, the same for the same schema, seed and `name`; `name` says what the value
   * is, where a schema does not. Closed objects that are joined count as open where nothing else fits. Throws an UnfitSchema where there is no such value, or none within reach.
   */
  sample(schema: unknown, seed: number, name?: string): unknown
}

let loading: Promise<Structured> | undefined

/** Loads what it takes to make up values. */
export function loadStructured(): Promise<Structured> {
  loading ??= load()
  return loading
}

async function load(): Promise<Structured> {
  // The one that all share; each sample sets it to its own seed, and lets nobody else in before it is done.
  const [{ sampleOf }, faker] = await Promise.all([import('./sample.js'), withFaker(0, shared => shared)])
  return {
    sample(schema, seed, name = '') {
      try {
        return sampleOf(schema, { faker, seed, name })
      } catch (error) {
        const opened = error instanceof UnfitSchema ? openedWhereJoined(schema) : undefined
        if (opened === undefined) throw error
        return sampleOf(opened, { faker, seed, name })
      }
    },
  }
}
