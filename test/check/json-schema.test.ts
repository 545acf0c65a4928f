/** Errors about values that do not fit a JSON Schema. */

import { expect, test } from 'vitest'
import { validatorOf } from '../../src/check/json-schema.js'
import { AN_OBJECT, isUnknown, mustBe, oneOf } from '../sentences.js'

const sentences = (schema: object, value: unknown) => validatorOf(schema)(value).map(({ sentence }) => sentence)

const project = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 10 },
    stars: { type: 'integer', minimum: 0 },
    tags: { type: 'array', items: { $ref: '#/$defs/tag' }, maxItems: 2, uniqueItems: true },
    state: { enum: ['draft', 'live'] },
    home: { type: 'string', format: 'uri', nullable: true },
    'a/b~c%': { const: 1 },
  },
  required: ['name'],
  additionalProperties: false,
  dependentRequired: { stars: ['state'] },
  $defs: { tag: { type: 'string', pattern: '^[a-z]+$' } },
}

test.each<[unknown, readonly string[]]>([
  [{ name: 'Atlas', home: null, tags: ['a'] }, []],
  ['Atlas', [mustBe('it', AN_OBJECT, 'Atlas')]],
  [{}, ['name is missing.']],
  [{ name: 5 }, [mustBe('name', 'a string', 5)]],
  [{ name: 'A' }, ['name must have at least 2 characters, not 1.']],
  [{ name: 'Atlas', nmae: 1 }, [`nmae ${isUnknown('name')}`]],
  [
    { name: 'Atlas', stars: -0.5, state: 'old' },
    [
      mustBe('stars', 'a whole number', -0.5),
      mustBe('stars', 'at least 0', -0.5),
      mustBe('state', oneOf('"draft"', '"live"'), 'old'),
    ],
  ],
  [{ name: 'Atlas', stars: 1 }, ['it lacks a field that another of its fields requires.']],
  [
    { name: 'Atlas', tags: ['a', 'B', 'c'] },
    ['tags must have at most 2 items, not 3.', 'tags[1] must match /^[a-z]+$/, not "B".'],
  ],
  [{ name: 'Atlas', tags: ['a', 'a'] }, ['tags must not have two equal items.']],
  [{ name: 'Atlas', home: 'x' }, [mustBe('home', 'a string of the format uri', 'x')]],
  [{ name: 'Atlas', 'a/b~c%': 2 }, [mustBe('["a/b~c%"]', '1')]],
])('%j gives the errors %j', (value, expected) => {
  expect(sentences(project, value)).toEqual(expected)
})

test.each<[string, object, unknown, string]>([
  ['types', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 5, mustBe('it', 'a string or null', 5)],
  [
    'the intended form',
    {
      oneOf: [
        { properties: { kind: { const: 'a' } }, required: ['kind'] },
        { properties: { kind: { const: 'b' }, size: { type: 'object', required: ['w'] } } },
      ],
    },
    { kind: 'b', size: {} },
    'size.w is missing.',
  ],
  [
    'the form with a matching tag',
    {
      oneOf: [
        { properties: { kind: { enum: ['a'] }, text: { type: 'string' } }, required: ['kind', 'text'] },
        { properties: { kind: { enum: ['b'] }, size: { type: 'object' } }, required: ['kind', 'size'] },
      ],
    },
    { kind: 'b' },
    'size is missing.',
  ],
  [
    'no form',
    { anyOf: [{ minimum: 5 }, { type: 'string' }] },
    1,
    'it fits none of the 2 forms that its schema allows.',
  ],
  [
    'two forms',
    { oneOf: [{ type: 'number' }, { type: 'integer' }, { type: 'null' }] },
    1,
    'it fits more than one of the 3 forms that its schema allows.',
  ],
  [
    'a recursive schema',
    { properties: { next: { $ref: '#' }, id: { type: 'integer' } } },
    { next: { next: { id: 'x' } } },
    mustBe('next.next.id', 'a whole number', 'x'),
  ],
])('the error about alternatives and references is specific: %s', (_, schema, value, expected) => {
  expect(sentences(schema, value)).toEqual([expected])
})

test('integers may have any length, and names may have a lone surrogate', () => {
  const long = 1186398424392011776n
  const schema = {
    properties: { id: { type: 'integer', enum: [long, 5] } },
    additionalProperties: { minProperties: 1 },
  }
  expect(sentences(schema, { id: long })).toEqual([])
  expect(sentences(schema, { id: long, '\ud800': {} })).toEqual(['["\ufffd"] must have at least 1 field, not 0.'])
  expect(sentences(schema, { id: long * 2n })).toHaveLength(1)
})

test('sentences about secret values do not quote them, but what the schema says in full', () => {
  const schema = {
    properties: {
      state: { enum: ['draft, not live', 'live'] },
      name: { pattern: '^a, not b$' },
      tags: { maxItems: 1 },
      form: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
  }
  const value = { state: 'secret', name: 'secret', tags: [1, 2], form: ['secret'] }
  const mistakes = validatorOf(schema)(value, { secret: () => true })
  expect(mistakes.map(({ sentence }) => sentence)).toEqual([
    mustBe('state', oneOf('"draft, not live"', '"live"')),
    'name must match /^a, not b$/.',
    'tags must have at most 1 item.',
    mustBe('form', 'a string or a number'),
  ])
})

test('with firstOnly only the first error is returned', () => {
  const value = { stars: 'many', tags: 'none' }
  expect(validatorOf(project)(value, { firstOnly: true })).toHaveLength(1)
  expect(validatorOf(project)(value)).toHaveLength(4)
})

test.each([
  [{ $ref: '#/$defs/nothing' }, /refers to "#\/\$defs\/nothing", which is not in the schema/],
  [{ properties: { a: { pattern: '(' } } }, /cannot be used as a regular expression/],
])('an unusable schema is refused: %j', (schema, expected) => {
  expect(() => validatorOf(schema)).toThrow(expected)
})

test('a pattern whose matching could take forever refuses nothing', () => {
  const refusals = (pattern: string) => validatorOf({ pattern })(`${'a'.repeat(60)}!`).length
  expect(['^(a+)+$', '^a+$'].map(refusals)).toEqual([0, 1])
  expect(validatorOf({ not: { pattern: '^(a+)+$' } })('b')).toEqual([])
})
