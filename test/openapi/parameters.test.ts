import fc from 'fast-check'
import { expect, test } from 'vitest'
import { documentOf } from '../../src/openapi/document.js'
import { parameterOf, parameterValues } from '../../src/openapi/parameters.js'
import { runs } from '../runs.js'

const document = documentOf('', { openapi: '3.1.0' })

/** The value that Standin reads from a request. */
function read(
  written: object,
  {
    query = '',
    params = {},
    headers = {},
  }: object & { query?: string; params?: Record<string, string>; headers?: Record<string, string> },
) {
  const parameter = parameterOf({ name: 'p', ...written })
  if (!parameter) throw new Error('This is not a parameter.')
  return parameterValues(document, [parameter], { query, headers }, params)[parameter.in].p
}

const item = { type: 'integer' }
const list = { type: 'array', items: item }
const fields = { type: 'object', properties: { r: item, g: item } }
const numbers = fc.array(fc.integer({ min: -999, max: 999 }), { minLength: 1, maxLength: 5 })
const color = fc.record({ r: fc.nat(255), g: fc.nat(255) })

/** Values as OpenAPI writes them in each style (3.1, "Style Values"). */
test('a list is read as it was sent, in each style', () => {
  const property = fc.property(numbers, values => {
    const inQuery = (style: object, query: string) => read({ in: 'query', schema: list, ...style }, { query })
    expect(inQuery({}, values.map(value => `p=${value}`).join('&'))).toEqual(values)
    expect(inQuery({ explode: false }, `p=${values.join(',')}`)).toEqual(values)
    expect(inQuery({ style: 'spaceDelimited', explode: false }, `p=${values.join('%20')}`)).toEqual(values)
    expect(inQuery({ style: 'pipeDelimited', explode: false }, `p=${values.join('|')}`)).toEqual(values)
    const inPath = (style: object, p: string) => read({ in: 'path', schema: list, ...style }, { params: { p } })
    expect(inPath({}, values.join(','))).toEqual(values)
    expect(inPath({ style: 'label' }, `.${values.join(',')}`)).toEqual(values)
    expect(inPath({ style: 'label', explode: true }, `.${values.join('.')}`)).toEqual(values)
    expect(inPath({ style: 'matrix' }, `;p=${values.join(',')}`)).toEqual(values)
    expect(inPath({ style: 'matrix', explode: true }, values.map(value => `;p=${value}`).join(''))).toEqual(values)
    expect(read({ in: 'header', schema: list }, { headers: { p: values.join(',') } })).toEqual(values)
  })
  fc.assert(property, { numRuns: runs(100) })
})

test('an object is read as it was sent, in each style', () => {
  const property = fc.property(color, value => {
    const { r, g } = value
    const inQuery = (style: object, query: string) => read({ in: 'query', schema: fields, ...style }, { query })
    expect(inQuery({}, `r=${r}&g=${g}`)).toEqual(value)
    expect(inQuery({ explode: false }, `p=r,${r},g,${g}`)).toEqual(value)
    expect(inQuery({ style: 'deepObject' }, `p[r]=${r}&p%5Bg%5D=${g}`)).toEqual(value)
    const inPath = (style: object, p: string) => read({ in: 'path', schema: fields, ...style }, { params: { p } })
    expect(inPath({}, `r,${r},g,${g}`)).toEqual(value)
    expect(inPath({ explode: true }, `r=${r},g=${g}`)).toEqual(value)
    expect(inPath({ style: 'label', explode: true }, `.r=${r}.g=${g}`)).toEqual(value)
    expect(inPath({ style: 'matrix' }, `;p=r,${r},g,${g}`)).toEqual(value)
    expect(inPath({ style: 'matrix', explode: true }, `;r=${r};g=${g}`)).toEqual(value)
    const content = { 'application/json': { schema: fields } }
    expect(read({ in: 'query', content }, { query: `p=${encodeURIComponent(JSON.stringify(value))}` })).toEqual(value)
  })
  fc.assert(property, { numRuns: runs(100) })
})

test('the items of a list in a deepObject have their type, whether the name is sent once or repeatedly', () => {
  const schema = { type: 'object', properties: { id: list } }
  const filter = (query: string) => read({ in: 'query', schema, style: 'deepObject' }, { query })
  expect(filter('p[id]=1&p[id]=2')).toEqual({ id: [1, 2] })
  expect(filter('p[id]=1')).toEqual({ id: [1] })
  expect(filter('p[id][]=1')).toEqual({ id: [1] })
})

test('a deepObject parameter may be a list or contain lists and objects, as Stripe writes them', () => {
  const price = { type: 'object', properties: { price: item, tags: { type: 'array', items: { type: 'string' } } } }
  const deep = (schema: object, query: string) => read({ in: 'query', schema, style: 'deepObject' }, { query })
  for (const query of ['p[]=1&p[]=2', 'p[0]=1&p[1]=2', 'p[1]=2&p[0]=1', 'p=1&p=2'])
    expect(deep(list, query)).toEqual([1, 2])
  const prices = { type: 'array', items: price }
  expect(deep(prices, 'p[0][price]=1&p[1][price]=2&p[0][tags][]=a')).toEqual([{ price: 1, tags: ['a'] }, { price: 2 }])
  expect(deep(prices, 'p[][price]=1&p[][price]=2')).toEqual([{ price: 1 }, { price: 2 }])
  expect(deep({ type: 'object', additionalProperties: item }, 'p[7]=1&p[b]=2')).toEqual({ 7: 1, b: 2 })
  const created = { anyOf: [{ type: 'object', properties: { gt: item } }, item] }
  expect([deep(created, 'p=5'), deep(created, 'p[gt]=5')]).toEqual([5, { gt: 5 }])
  const hostile = deep({ type: 'object' }, `p[__proto__][a]=1&p${'[x]'.repeat(3000)}=1&p[constructor][prototype][b]=1`)
  expect(Object.getPrototypeOf(hostile)).toBe(Object.prototype)
  expect({}).not.toHaveProperty('a')
})
