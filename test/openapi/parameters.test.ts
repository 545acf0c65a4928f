import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parameterOf, parameterValues } from '../../src/openapi/requests.js'
import { documentOf } from '../../src/openapi/schemas.js'
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
    const inPath = (style: object, p: string) => read({ in: 'path', schema: fields, ...style }, { params: { p } })
    expect(inPath({}, `r,${r},g,${g}`)).toEqual(value)
    expect(inPath({ explode: true }, `r=${r},g=${g}`)).toEqual(value)
    const content = { 'application/json': { schema: fields } }
    expect(read({ in: 'query', content }, { query: `p=${encodeURIComponent(JSON.stringify(value))}` })).toEqual(value)
  })
  fc.assert(property, { numRuns: runs(100) })
})

test.each(['label', 'matrix', 'deepObject'])('a parameter of style %s is not checked', style => {
  const parameter = { name: 'p', in: style === 'deepObject' ? 'query' : 'path', style, required: true, schema: list }
  expect(parameterOf(parameter)).toBe(undefined)
})
