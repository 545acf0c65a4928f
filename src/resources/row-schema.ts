/** Checks rows against the JSON Schema of their resource. */
import type { Mistake } from '../check/check.js'
import type { Validator } from '../check/json-schema.js'
import { UnfitSchema } from '../check/json-schema-form.js'
import { ProblemsError } from '../check/problem.js'
import type { Json } from '../core/state.js'
import type { Source } from './data-file.js'

/** The fields of a row that Standin fills in. */
export interface RowFields {
  readonly params: readonly string[]
  readonly owner: string | undefined
  readonly id: { readonly field: readonly string[] }
}

/** The first mistake of a row. */
export type RowCheck = (row: Json) => Mistake | undefined

/** Returns a function that finds the first mistake of a row. Rejects with a ProblemsError for a schema that cannot be used. */
export async function createRowCheck(schema: Source, form: RowFields): Promise<RowCheck> {
  const { TooManySteps, validatorOf } = await import('../check/json-schema.js')
  let validate: Validator
  try {
    validate = validatorOf(schema.value)
  } catch (error) {
    if (!(error instanceof UnfitSchema)) throw error
    throw new ProblemsError(
      await schema.problems([{ path: [], sentence: `The schema cannot be used: ${error.message}.` }]),
    )
  }
  const assigned = assignedFields(schema.value, form)
  return row => {
    const shownFields = Object.fromEntries(Object.entries(row).filter(([name]) => !assigned.has(name)))
    try {
      return validate(shownFields, { firstOnly: true, whole: 'The row' })[0]
    } catch (error) {
      if (error instanceof TooManySteps)
        return { path: [], sentence: 'The row takes too long to check against its schema.' }
      if (error instanceof RangeError) return { path: [], sentence: 'The row is nested too deeply for its schema.' }
      throw error
    }
  }
}

/**
 * Fields that Standin fills in (the id, the owner, path parameters) and that the schema does not name. Schemas often
 * describe only what apps send, and forbid other fields.
 */
function assignedFields(schema: unknown, { id, owner, params }: RowFields): ReadonlySet<string> {
  const { properties = {} } = (schema ?? {}) as { readonly properties?: object }
  const assigned = [...params, ...(owner === undefined ? [] : [owner]), ...(id.field.length === 1 ? id.field : [])]
  return new Set(assigned.filter(name => !Object.hasOwn(properties, name)))
}
