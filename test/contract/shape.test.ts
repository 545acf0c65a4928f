import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareShapes, shapeOf } from '../../src/contract/shape.js'

/** The drift between two JSON values, as `severity path`. */
const drifted = (recorded: unknown, live: unknown) =>
  compareShapes(shapeOf([recorded]), shapeOf([live])).map(({ severity, path }) => `${severity} ${path}`)

const json = fc.jsonValue({ maxDepth: 5 })

/** The same with other strings and numbers, and every list doubled. */
function reworded(value: unknown): unknown {
  if (typeof value === 'string') return `${value}, or in other Words`
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return [...value, ...value].map(reworded)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, reworded(inner)]))
}

describe('for any value', () => {
  test('a value never drifts from itself', () => {
    fc.assert(
      fc.property(json, value => {
        expect(drifted(value, structuredClone(value))).toEqual([])
      }),
    )
  })

  test('other strings, numbers and lengths of lists are not drift', () => {
    fc.assert(
      fc.property(json, value => {
        expect(drifted(value, reworded(value))).toEqual([])
      }),
    )
  })

  test('a field that is gone is critical at its path unless it was null, and nothing else is reported', () => {
    const name = fc.stringMatching(/^[a-z_]{1,8}$/)
    const around = fc.array(fc.oneof(name, fc.constant('[]')), { maxLength: 6 })
    fc.assert(
      fc.property(around, fc.dictionary(name, json), name, json, (steps, rest, gone, value) => {
        const { [gone]: _gone, ...without } = rest
        const wrapped = (inner: object) =>
          steps.reduceRight<unknown>((inside, step) => (step === '[]' ? [inside, inside] : { [step]: inside }), inner)
        const path = [...steps, gone].reduce(
          (path, step) => (path && step !== '[]' ? `${path}.${step}` : path + step),
          '',
        )
        const severity = value === null ? 'warning' : 'critical'
        expect(drifted(wrapped({ ...without, [gone]: value }), wrapped(without))).toEqual([`${severity} ${path}`])
      }),
    )
  })

  test('a value of another type is critical', () => {
    const kinds = [fc.string(), fc.integer(), fc.boolean(), fc.array(json), fc.dictionary(fc.string(), json)]
    const two = fc
      .constantFrom(...kinds.keys())
      .chain(one =>
        fc.constantFrom(...[...kinds.keys()].filter(other => other !== one)).map(other => [kinds[one], kinds[other]]),
      )
    const values = two.chain(([one = fc.string(), other = fc.string()]) => fc.tuple<[unknown, unknown]>(one, other))
    fc.assert(
      fc.property(values, ([recorded, live]) => {
        expect(drifted({ field: recorded }, { field: live })).toContain('critical field')
      }),
    )
  })

  test('the order of values does not matter, nor how often they come', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(compareShapes(shapeOf([one, other]), shapeOf([other, one, one]))).toEqual([])
      }),
    )
  })
})

test.each<[string, unknown, unknown, readonly string[]]>([
  ['a new field', { id: 1 }, { id: 1, model: 'm' }, ['warning model']],
  ['a new error', { id: 1 }, { id: 1, error: 'Nobody home.' }, ['critical error']],
  ['a new error that is null', { id: 1 }, { id: 1, error: null }, ['warning error']],
  ['a string that became null', { said: 'yes' }, { said: null }, ['warning said']],
  ['a null that became a string', { said: null }, { said: 'yes' }, ['warning said']],
  ['an object that became null', { usage: { total: 1 } }, { usage: null }, ['critical usage']],
  ['a field that only some items still have', [{ a: 1 }, { a: 2 }], [{ a: 1 }, {}], ['info [].a']],
  ['a field that no item has any more', [{ a: 1 }, {}], [{}, {}], ['critical [].a']],
  ['another type in some items', [{ a: 1 }], [{ a: 1 }, { a: '1' }], ['critical [].a']],
  ['one type fewer', [1, 'one'], [1], ['info []']],
  ['a list that became empty', { choices: [{ index: 0 }] }, { choices: [] }, ['warning choices[]']],
  ['an empty list that got items', { data: [] }, { data: [{ id: 1 }] }, []],
  ['another type of object', { object: 'chat.completion' }, { object: 'completion' }, ['critical object']],
  ['another role', [{ role: 'assistant' }], [{ role: 'model' }], ['critical [].role']],
  ['an unknown finish reason', { finish_reason: 'stop' }, { finish_reason: 'end_turn' }, ['critical finish_reason']],
  ['another known finish reason', { finish_reason: 'stop' }, { finish_reason: 'length' }, ['info finish_reason']],
  ['texts of several words', { type: 'a b' }, { type: 'c d e' }, []],
  ['long texts', { type: 'a'.repeat(41) }, { type: 'b'.repeat(41) }, []],
  ['a name with dots in it', { 'a.b': 1 }, {}, ['critical ["a.b"]']],
  ['the whole value', { a: 1 }, 'a', ['critical body']],
])('the drift has its severity: %s', (_what, recorded, live, expected) => {
  expect(drifted(recorded, live)).toEqual(expected)
})

test('both sides are reported, but no values except known words of the API', () => {
  const found = compareShapes(
    shapeOf([{ object: 'chat.completion', id: 'my secret', type: 'sk-live-0123456789' }]),
    shapeOf([{ object: 'list', id: 12345, type: 'sk-live-9876543210', token: 'another secret' }]),
  )
  expect(found.map(({ path, sentence }) => `${path}: ${sentence}`)).toEqual([
    'id: recorded string, live number',
    'object: recorded chat.completion, live list',
    'token: is new (string)',
  ])
})

test('a very deeply nested answer is compared down to a limit', () => {
  const deep = (depth: number) => JSON.parse('[{"a":'.repeat(depth) + 1 + '}]'.repeat(depth))
  expect(drifted(deep(20_000), deep(20_000))).toEqual([])
  expect(drifted(deep(20_000), deep(10))).toEqual([`critical ${'[].a'.repeat(10)}`])
})
