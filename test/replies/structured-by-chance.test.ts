import { Ajv, type ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as ajvFormats } from 'ajv-formats'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadSamples, UnfitSchema } from '../../src/replies/structured/index.js'
import { runs } from '../runs.js'
import { type AnySchema, answerable, draft07, draft2020, wild } from './schema-grammar.js'

// Its types describe a different kind of module.
const addFormats = ajvFormats as unknown as typeof ajvFormats.default

/** The errors of a validator about a value; none if it is valid. */
function complaints(Validator: typeof Ajv | typeof Ajv2020, schema: AnySchema, value: unknown): readonly ErrorObject[] {
  // Duplicates in an enum do not matter.
  const validator = new Validator({ strict: false, logger: false, ownProperties: true, validateSchema: false })
  addFormats(validator)
  const validate = validator.compile(schema)
  return unlessItCrashes(() => validate(value)) ? [] : (validate.errors ?? [])
}

/** Ajv crashes on some schemas with unevaluatedProperties (a TypeError in its own code); those are skipped. */
function unlessItCrashes(validate: () => boolean): boolean {
  try {
    return validate()
  } catch (error) {
    fc.pre(!(error instanceof TypeError))
    throw error
  }
}

const samples = await loadSamples()
const sample = (schema: unknown, seed: number) => samples({ schema, seeds: [seed] })[0]

/** "I am valid where I am not": with a reference inside a negation, validators may differ and both be right. */
const isParadox = (schema: AnySchema) => /"(not|if|oneOf)":.*"\$ref"/.test(JSON.stringify(schema))

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 })

test.each([
  ['2020-12', Ajv2020, draft2020],
  ['draft-07', Ajv, draft07],
] as const)('for any %s schema that has a value, one is made that ajv accepts', async (_, Validator, dialect) => {
  fc.assert(
    fc.property(answerable(dialect), seeds, (schema, seed) => {
      expect(complaints(Validator, schema, sample(schema, seed))).toEqual([])
    }),
    { numRuns: runs(500) },
  )
})

const simpleValues: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 2, 3, 6, 0.5, 10, '', 'a', 'foo', 'abc', 'aaaa', '#1e90ff', 'AB-1234', '2024-01'],
  ...[[], [1], [null], ['a'], [[]], [{}], [1, 2], [null, null], ['a', 'b'], [1, 2, 3], {}, { a: 1 }, { b: null }],
  ...[{ c: 'a' }, { a: {} }, { a: null, b: null }, { a: 1, b: 1, c: 1 }, { a: null, b: null, c: null, d: null }],
]

test('for any combination of keywords, values are valid and refusals are justified', async () => {
  let made = 0
  const refusalOf = (schema: AnySchema, seed: number): string | undefined => {
    try {
      const value = sample(schema, seed)
      made++
      fc.pre(!isParadox(schema))
      const errors = complaints(Ajv2020, schema, value)
      // If nothing fits exactly one form, a value may fit several, as documented.
      fc.pre(!errors.some(({ keyword, params }) => keyword === 'oneOf' && params.passingSchemas))
      expect(errors).toEqual([])
      return undefined
    } catch (error) {
      if (error instanceof UnfitSchema) return error.message
      throw error
    }
  }
  fc.assert(
    fc.property(wild(), seeds, (schema, seed) => {
      const refusal = refusalOf(schema, seed)
      // By exclusion, schemas can ask for very odd values, and some refer to themselves without end.
      const isOdd = /"(\$ref|not|oneOf|if|unevaluatedProperties|dependentSchemas)":/.test(JSON.stringify(schema))
      if (refusal === undefined || /would need|within reach/.test(refusal) || isOdd) return
      expect(simpleValues.filter(value => complaints(Ajv2020, schema, value).length === 0)).toEqual([])
    }),
    { numRuns: runs(500) },
  )
  expect(made).toBeGreaterThan(0)
})

test('the same schema and seed give the same value, in any order of calls', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(answerable(draft2020), seeds), { minLength: 2, maxLength: 4 }), asked => {
      const ask = ([schema, seed]: readonly [AnySchema, number]) => JSON.stringify(sample(schema, seed))
      const forwards = asked.map(ask)
      expect(asked.toReversed().map(ask)).toEqual(forwards.toReversed())
    }),
    { numRuns: runs(200) },
  )
})
