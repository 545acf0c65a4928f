/** Random schemas for property tests: some that certainly have values, and some that may have none. */
import fc from 'fast-check'

export type AnySchema = boolean | { readonly [keyword: string]: unknown }

/** The keywords of a draft. */
interface Dialect {
  readonly defs: '$defs' | 'definitions'
  readonly tuple: (prefix: readonly AnySchema[], rest: AnySchema | undefined) => object
  readonly dependentRequired: string
}

const without = (object: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

export const draft2020: Dialect = {
  defs: '$defs',
  tuple: (prefixItems, items) => without({ prefixItems, items }),
  dependentRequired: 'dependentRequired',
}

export const draft07: Dialect = {
  defs: 'definitions',
  tuple: (items, additionalItems) => without({ items, additionalItems }),
  dependentRequired: 'dependencies',
}

const formats = 'date-time date time duration email hostname ipv4 ipv6 uri uuid byte int32 int64'.split(' ')

const patterns = [
  '^[a-z]+$',
  '^[A-Z]{2,3}-\\d{4}$',
  '^\\+?[1-9]\\d{1,14}$',
  '^(red|green|blue)$',
  '^#[0-9a-f]{6}$',
  '^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$',
  '^(?=.*[A-Z])(?=.*\\d).{8,}$',
  '^\\p{Lu}\\p{Ll}+$',
  '^(?<year>\\d{4})-(0[1-9]|1[0-2])$',
  '^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(\\.(?!$)|$)){4}$',
  'foo',
  '\\d$',
  '^[^\\s,]{5,10}$',
]

const names = fc.constantFrom(
  ...'name firstName email age price isActive tags created_at city status id constructor'.split(' '),
  'a key with spaces',
  'ключ',
  '$ref',
)
const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
const json = fc.jsonValue({ maxDepth: 2 })
const listed = fc.uniqueArray(json, { minLength: 1, maxLength: 5, selector: value => JSON.stringify(value) })
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 1 })
const kept = (arbitrary: fc.Arbitrary<Record<string, unknown>>) => arbitrary.map(without)

const texts = fc.oneof(
  kept(fc.record({ type: fc.constant('string'), format: fc.constantFrom(undefined, ...formats) })),
  fc.record({ type: fc.constant('string'), pattern: fc.constantFrom(...patterns) }),
  fc
    .tuple(fc.nat(60), fc.nat(60))
    .map(([least, more]) => ({ type: 'string', minLength: least, maxLength: least + more })),
  fc.nat(30).map(most => ({ type: 'string', maxLength: most })),
  fc.constant({ type: 'string', nullable: true }),
)

const numbers = fc.oneof(
  fc.tuple(fc.integer(), fc.nat(1000), fc.constantFrom('integer', 'number')).map(([minimum, more, type]) => {
    return { type, minimum, maximum: minimum + more }
  }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(least => ({ type: 'number', exclusiveMinimum: least })),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(most => ({ type: 'number', exclusiveMaximum: most })),
  fc.integer().map(least => ({ type: 'integer', exclusiveMinimum: least, exclusiveMaximum: least + 2 })),
  fc
    .tuple(fc.constantFrom(0.01, 0.1, 0.25, 0.5, 2, 7, 100, 1000), fc.integer({ min: -9999, max: 9999 }))
    .map(([multipleOf, minimum]) => ({ type: 'number', multipleOf, minimum })),
  fc.constantFrom(3, 5, 0.5).map(multipleOf => ({ type: 'integer', multipleOf, allOf: [{ multipleOf: 2 }] })),
  fc.constant({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
)

/** Schemas that have values. */
export function answerable(dialect: Dialect): fc.Arbitrary<AnySchema> {
  const { defs, tuple, dependentRequired } = dialect
  const { schema } = fc.letrec<{ schema: AnySchema; properties: Record<string, AnySchema> }>(tie => ({
    properties: fc.dictionary(names, tie('schema'), { maxKeys: 5, noNullPrototype: true }),
    schema: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'schema' },
      fc.oneof(
        texts,
        numbers,
        fc.constantFrom<AnySchema>(
          true,
          {},
          { type: 'boolean' },
          { type: 'null' },
          { type: 'object' },
          { type: 'array' },
        ),
        json.map(value => ({ const: value })),
        listed.map(values => ({ enum: values })),
        fc
          .subarray(['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'], { minLength: 1 })
          .map(type => {
            return { type }
          }),
        fc.array(scalar, { minLength: 1 }).map(examples => ({ examples, default: examples[0] })),
        fc.constant({ $ref: `#/${defs}/node` }),
        fc.constant({ $ref: `#/${defs}/tree` }),
      ),
      fc
        .tuple(
          tie('properties'),
          fc.nat(),
          fc.constantFrom<AnySchema | undefined>(undefined, false, true, { type: 'string' }),
        )
        .map(([properties, share, additionalProperties]) => {
          const keys = Object.keys(properties)
          const required = keys.filter((_, i) => (share >> i) % 2 === 1)
          return without({ type: 'object', properties, required, additionalProperties })
        }),
      fc.tuple(tie('properties'), fc.nat(3)).map(([properties, more]) => {
        const least = Object.keys(properties).length
        return { type: 'object', properties, minProperties: least, maxProperties: least + more }
      }),
      fc
        .tuple(tie('schema'), fc.nat(4), fc.constantFrom('^[a-z]{3,8}$', '^x-\\d+$', '.'))
        .map(([value, least, pattern]) => {
          return { type: 'object', additionalProperties: value, propertyNames: { pattern }, minProperties: least }
        }),
      fc.tuple(tie('schema'), fc.nat(3)).map(([value, least]) => {
        return {
          type: 'object',
          patternProperties: { '^s_[a-z]+$': value },
          additionalProperties: false,
          minProperties: least,
        }
      }),
      tie('schema').map(value => ({
        type: 'object',
        properties: { card: { type: 'string' }, bill: value },
        [dependentRequired]: { card: ['bill'] },
      })),
      fc.tuple(tie('schema'), fc.nat(4), optional(fc.nat(4))).map(([items, minItems, more]) => {
        return without({ type: 'array', items, minItems, maxItems: more === undefined ? undefined : minItems + more })
      }),
      fc.nat(5).map(minItems => ({
        type: 'array',
        uniqueItems: true,
        minItems,
        items: { enum: ['a', 'b', 3, null, { c: 1 }] },
      })),
      fc
        .tuple(
          fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
          fc.constantFrom<AnySchema | undefined>(undefined, false, { type: 'string' }),
        )
        .map(([prefix, rest]) => ({ type: 'array', minItems: prefix.length, ...tuple(prefix, rest) })),
      tie('schema').map(wanted => ({ type: 'array', minItems: 2, contains: wanted })),
      fc.array(tie('schema'), { minLength: 1, maxLength: 4 }).map(anyOf => ({ anyOf })),
      fc.tuple(tie('schema'), fc.constant({ type: 'null' })).map(anyOf => ({ anyOf })),
      fc.array(tie('properties'), { minLength: 1, maxLength: 4 }).map(variants => ({
        oneOf: variants.map((properties, i) => ({
          type: 'object',
          properties: { ...properties, variant: { const: i } },
          required: ['variant'],
        })),
      })),
      fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => ({
        allOf: [
          { type: 'object', properties: { a }, required: ['a'] },
          { properties: { b }, required: ['b'] },
          { not: { required: ['c'] } },
        ],
      })),
      fc.tuple(tie('schema'), tie('schema')).map(([yes, no]) => ({
        type: 'object',
        properties: { country: { enum: ['US', 'CA'] } },
        required: ['country'],
        if: { properties: { country: { const: 'US' } } },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
        then: { properties: { zip: yes }, required: ['zip'] },
        else: { properties: { code: no }, required: ['code'] },
      })),
      scalar.map(value => ({ type: ['string', 'integer', 'boolean', 'null'], not: { const: value } })),
    ),
  }))
  return schema.map(root => {
    const node = {
      type: 'object',
      properties: { value: { type: 'number' }, next: { anyOf: [{ $ref: `#/${defs}/node` }, { type: 'null' }] } },
      required: ['value', 'next'],
      additionalProperties: false,
    }
    const tree = {
      type: 'object',
      properties: { label: { type: 'string' }, children: { type: 'array', items: { $ref: `#/${defs}/tree` } } },
      required: ['label', 'children'],
    }
    return typeof root === 'boolean' ? root : { ...root, [defs]: { node, tree } }
  })
}

/** An object with a few of these keys. */
const someOf = (values: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Record<string, unknown>> => {
  const entries = Object.entries(values).map(([key, arbitrary]) => arbitrary.map(value => [key, value] as const))
  return fc.uniqueArray(fc.oneof(...entries), { maxLength: 6, selector: ([key]) => key }).map(Object.fromEntries)
}

/** Valid keywords in any combination; many such schemas contradict themselves. */
export function wild(): fc.Arbitrary<AnySchema> {
  const count = fc.nat(4)
  const { schema } = fc.letrec<{ schema: AnySchema }>(tie => {
    const schemas = fc.array(tie('schema'), { minLength: 1, maxLength: 3 })
    const map = fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'), { maxKeys: 3, noNullPrototype: true })
    const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object')
    return {
      schema: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'wild', withCrossShrink: true },
        fc.oneof(
          fc.boolean(),
          fc.constant({ $ref: '#' }),
          type.map(type => ({ type })),
        ),
        someOf({
          type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
          const: scalar,
          enum: fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { minLength: 1, maxLength: 3 }),
          properties: map,
          required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }),
          additionalProperties: tie('schema'),
          patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$', '.'), tie('schema'), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          propertyNames: tie('schema'),
          minProperties: count,
          maxProperties: count,
          items: tie('schema'),
          prefixItems: schemas,
          contains: tie('schema'),
          minContains: count,
          maxContains: count,
          minItems: count,
          maxItems: count,
          uniqueItems: fc.boolean(),
          unevaluatedProperties: fc.boolean(),
          minLength: count,
          maxLength: count,
          pattern: fc.constantFrom(...patterns),
          // For random constants, only these formats mean the same to all validators.
          format: fc.constantFrom('date-time', 'date', 'email', 'ipv4', 'uuid', 'json-pointer'),
          minimum: fc.integer({ min: -10, max: 10 }),
          maximum: fc.integer({ min: -10, max: 10 }),
          exclusiveMinimum: fc.integer({ min: -10, max: 10 }),
          multipleOf: fc.constantFrom(0.5, 2, 3),
          anyOf: schemas,
          oneOf: schemas,
          allOf: schemas,
          not: tie('schema'),
          if: tie('schema'),
          // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
          then: tie('schema'),
          else: tie('schema'),
          dependentSchemas: map,
        }),
      ),
    }
  })
  return schema
}
