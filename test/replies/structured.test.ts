import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as ajvFormats } from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { z } from 'zod/v4'
import { loadSamples, sampled, UnfitSchema } from '../../src/replies/structured/index.js'
import { NO_VALUE_FOUND } from '../sentences.js'

// Its types describe a different kind of module.
const addFormats = ajvFormats as unknown as typeof ajvFormats.default
const samples = await loadSamples()
const sample = (schema: unknown, seed: number, name?: string) =>
  samples({ schema, seeds: [seed], ...(name !== undefined && { name }) })[0]

const validator = new Ajv2020({ strict: false, logger: false, ownProperties: true })
addFormats(validator)

/** Values of twenty seeds, all of them valid. */
function samplesOf(schema: object | boolean, name?: string): readonly unknown[] {
  // Schemas of other tests may have the same ids.
  validator.removeSchema()
  const validate = validator.compile(structuredClone(schema))
  const values = Array.from({ length: 20 }, (_, seed) => sample(schema, seed, name))
  for (const value of values) expect(validate(value), JSON.stringify([value, validate.errors])).toBe(true)
  return values
}

/** The keys of a value for a schema that no value fits. */
const keysOfSample = (schema: unknown) => Object.keys(sample(schema, 1) as object).toSorted()

const refusal = (schema: unknown): string => {
  try {
    return `no refusal but ${JSON.stringify(sample(schema, 1)).slice(0, 200)}`
  } catch (error) {
    if (error instanceof UnfitSchema) return error.message
    throw error
  }
}

const text = { type: 'string' }
const closed = (properties: Record<string, object | boolean>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

describe("the examples of OpenAI's guide to structured outputs", () => {
  test('a paper has authors with names', () => {
    const list = { type: 'array', items: text }
    const [paper] = samplesOf(closed({ title: text, authors: list, abstract: text, keywords: list }), 'paper') as [
      { authors: string[] },
    ]
    expect(paper.authors[0]).toMatch(/^\S+ \S+/)
  })

  test('a user interface is a finite tree', () => {
    const attribute = closed({ name: text, value: text })
    const ui = closed({
      type: { type: 'string', enum: ['div', 'button', 'header', 'section', 'field', 'form'] },
      label: text,
      children: { type: 'array', items: { $ref: '#' } },
      attributes: { type: 'array', items: attribute },
    })
    const sizes = samplesOf(ui).map(value => JSON.stringify(value).length)
    expect(Math.max(...sizes)).toBeLessThan(20_000)
    expect(samplesOf(ui).some(value => (value as { children: unknown[] }).children.length > 0)).toBe(true)
  })

  test('a linked list has a few nodes', () => {
    const node = closed({ value: { type: 'number' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } })
    interface Node {
      readonly next: Node | null
    }
    const lengthOf = (at: Node | null): number => (at === null ? 0 : 1 + lengthOf(at.next))
    const lists = samplesOf({ ...closed({ linked_list: { $ref: '#/$defs/node' } }), $defs: { node } })
    const lengths = lists.map(list => lengthOf((list as { linked_list: Node }).linked_list))
    expect(Math.max(...lengths)).toBeLessThan(10)
    expect(new Set(lengths).size).toBeGreaterThan(1)
  })
})

describe('schemas as libraries write them', () => {
  test('the intersection of two closed objects, which no value fits, has the keys of both', () => {
    const both = z.intersection(z.strictObject({ name: z.string() }), z.strictObject({ city: z.string() }))
    const schema = z.toJSONSchema(both)
    expect(keysOfSample(schema)).toEqual(['city', 'name'])
  })

  test('zod parses the values for its schemas', () => {
    const Category = z.object({
      name: z.string(),
      get children() {
        return z.array(Category)
      },
    })
    const schema = z.object({
      id: z.uuid(),
      email: z.email(),
      site: z.url(),
      age: z.int().min(0).max(150),
      price: z.number().positive().multipleOf(0.01),
      born: z.iso.date(),
      seen: z.iso.datetime().nullable(),
      level: z.int32().optional(),
      for: z.iso.duration(),
      ip: z.ipv4(),
      ip6: z.ipv6(),
      net: z.cidrv4(),
      key: z.base64url(),
      mood: z.emoji(),
      phone: z.e164(),
      ids: z.tuple([z.cuid(), z.cuid2(), z.ulid(), z.nanoid(), z.xid(), z.ksuid(), z.guid()]),
      role: z.enum(['admin', 'user']),
      tags: z.array(z.string().min(2).max(12)).min(1).max(5),
      scores: z.record(z.string(), z.number()),
      byDay: z.record(z.enum(['mon', 'tue']), z.boolean()),
      shape: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('circle'), radius: z.number().gt(0) }),
        z.object({ kind: z.literal('square'), side: z.number().lt(10) }),
      ]),
      code: z.string().regex(/^[A-Z]{3}-\d{4}$/),
      slug: z.string().startsWith('a-').endsWith('-z').includes('-'),
      category: Category,
      anything: z.any(),
    })
    for (const value of samplesOf(z.toJSONSchema(schema))) expect(schema.parse(value)).toBeTruthy()
    const draft7 = z.toJSONSchema(schema, { target: 'draft-7' })
    // The same keywords, some of them written differently.
    for (let seed = 0; seed < 4; seed++) expect(schema.parse(sample(draft7, seed))).toBeTruthy()
  })

  test.each<readonly [string, z.ZodType]>([
    ['a long text with a beginning', z.string().startsWith('sk-').min(20)],
    ['letters of any language', z.string().regex(/^\p{L}+\d{3}$/u)],
  ])('zod parses %s', (_what, schema) => {
    const written = z.toJSONSchema(schema)
    for (let seed = 0; seed < 20; seed++) expect(schema.parse(sample(written, seed))).toBeTruthy()
  })

  test('a schema of pydantic with titles, references and null as a default is answered', () => {
    const values = samplesOf({
      $defs: {
        Color: { enum: ['red', 'green'], title: 'Color', type: 'string' },
        Item: {
          properties: {
            sku: { pattern: '^[A-Z]{2}\\d{3}$', title: 'Sku', type: 'string' },
            color: { $ref: '#/$defs/Color', default: 'red' },
            weight: {
              anyOf: [{ exclusiveMinimum: 0, type: 'number' }, { type: 'null' }],
              default: null,
              title: 'Weight',
            },
          },
          required: ['sku'],
          title: 'Item',
          type: 'object',
        },
      },
      properties: {
        items: { items: { $ref: '#/$defs/Item' }, minItems: 1, title: 'Items', type: 'array' },
        when: { format: 'date-time', title: 'When', type: 'string' },
        labels: { additionalProperties: { type: 'integer' }, title: 'Labels', type: 'object' },
        point: { maxItems: 2, minItems: 2, prefixItems: [{ type: 'number' }, { type: 'number' }], type: 'array' },
      },
      required: ['items', 'when', 'labels', 'point'],
      title: 'Order',
      type: 'object',
    }) as { items: { weight?: number | null }[] }[]
    expect(values.some(({ items }) => typeof items[0]?.weight === 'number')).toBe(true)
  })

  test('the keywords of OpenAPI 3.0 and draft 4 are understood', () => {
    const values = ['a', 'b'].flatMap(() =>
      Array.from({ length: 20 }, (_, seed) =>
        sample(
          { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true, nullable: true },
          seed,
        ),
      ),
    )
    const numbers = values.filter(value => value !== null) as number[]
    expect(numbers.every(value => value > 0 && value < 1)).toBe(true)
    expect(values).toContain(null)
    expect(sample({ type: 'string', example: 'tabby' }, 1)).toBe('tabby')
    expect(sample({ $ref: '#/components/schemas/Cat', components: { schemas: { Cat: { const: 'cat' } } } }, 1)).toBe(
      'cat',
    )
  })
})

describe('plausible values', () => {
  test('the commonest names of fields have their kind of text', () => {
    const names = 'firstName email phoneNumber city date created_at url userId'
    for (const value of samplesOf(closed(Object.fromEntries(names.split(' ').map(name => [name, text]))))) {
      expect(value).toEqual({
        firstName: expect.stringMatching(/^\p{Lu}/u),
        email: expect.stringMatching(/^[a-z]+@example\.com$/),
        phoneNumber: expect.stringMatching(/^\+1 555 01\d\d$/),
        city: expect.stringMatching(/^\p{Lu}/u),
        date: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
        created_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:00Z$/),
        url: expect.stringMatching(/^https:\/\/www\.example\.com\//),
        userId: expect.stringMatching(/^[a-z\d]{10}$/),
      })
    }
  })

  test('examples and defaults are used if they are valid', () => {
    expect(sample(closed({ size: { type: 'string', examples: ['XXL'] } }), 1)).toEqual({ size: 'XXL' })
    expect(sample(closed({ limit: { type: 'integer', default: 25 } }), 1)).toEqual({ limit: 25 })
    expect(sample(closed({ limit: { type: 'integer', default: 25, maximum: 9 } }), 1)).not.toEqual({ limit: 25 })
  })

  test('a property may have any name', () => {
    const properties = JSON.parse('{"__proto__":{"type":"integer"},"toString":{"type":"string"},"":{"const":1}}')
    const value = sample(closed(properties), 1) as object
    expect(Object.keys(value)).toEqual(['__proto__', 'toString', ''])
    expect(JSON.stringify(value)).toMatch(/^\{"__proto__":\d+,"toString":"/)
  })
})

describe('schemas that cannot be answered', () => {
  test.each<readonly [string, unknown, string]>([
    ['false', false, 'no value fits the schema'],
    [
      'a contradiction deep inside',
      closed({ a: closed({ b: { allOf: [text, { type: 'null' }] } }) }),
      'no value that fits #/properties/a/properties/b was found',
    ],
    [
      'more unique items than exist',
      { type: 'array', uniqueItems: true, minItems: 3, items: { type: 'boolean' } },
      NO_VALUE_FOUND,
    ],
    ['a schema that only refers to itself', { $ref: '#' }, 'no value fits the schema'],
    [
      'a reference to nothing',
      closed({ a: { $ref: '#/$defs/gone' } }),
      'it refers to "#/$defs/gone", which is not in the schema',
    ],
    ['a broken pattern', { type: 'string', pattern: '(' }, 'the pattern "(" cannot be used as a regular expression'],
    [
      'a text without end',
      { type: 'string', minLength: 1e9 },
      'no value fits the schema: a text would need 1000000000 characters',
    ],
  ])('%s is refused in a sentence', (_what, schema, sentence) => {
    expect(refusal(schema)).toBe(sentence)
  })
})

describe('hostile schemas end quickly', () => {
  const nested = (levels: number) => {
    let schema: object = text
    for (let level = 0; level < levels; level++) schema = closed({ a: schema })
    return schema
  }

  /** Each schema refers to the next one twice: 2^40 paths. */
  const doubling = (keyword: string) => {
    const entries = Array.from({ length: 40 }, (_, i) => {
      const next = { $ref: `#/$defs/s${i + 1}` }
      return [`s${i}`, { [keyword]: [next, next] }]
    })
    return { $defs: { ...Object.fromEntries(entries), s40: text }, $ref: '#/$defs/s0' }
  }

  const outcomeOf = (schema: unknown): Promise<string> =>
    sampled({ schema, seeds: [1] }).then(
      values => `no refusal but ${JSON.stringify(values).slice(0, 200)}`,
      (error: Error) => error.message,
    )

  const array300 = (items: object) => ({ type: 'array', minItems: 300, items })

  test.each<readonly [string, unknown, string | RegExp]>([
    ['anyOf that doubles', doubling('anyOf'), 'no value that fits the schema was found in time'],
    [
      'a pattern of a million million characters',
      { type: 'string', pattern: '^((x{10000}){10000}){10000}$' },
      /no value/,
    ],
    ['arrays of arrays of arrays', array300(array300({ type: 'array', minItems: 300 })), /within reach|in time/],
    ['nested 100000 deep', nested(100_000), 'no value fits the schema: it is nested too deeply'],
    [
      'a pattern that backtracks without end',
      { type: 'string', pattern: '^(\\w+\\s?)*$', not: { pattern: '^(a|a?)+$' }, minLength: 40 },
      /./,
    ],
    [
      'a tree that branches in ten ways',
      { ...closed({}), properties: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`p${i}`, { $ref: '#' }])) },
      /no refusal/,
    ],
  ])('%s: ended within the time limit', async (_what, schema, outcome) => {
    expect(await outcomeOf(schema)).toMatch(outcome)
  })
})
