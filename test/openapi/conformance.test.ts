/** The requests of `standin verify --openapi`. */
import { expect, test } from 'vitest'
import { safeRequestFor } from '../../src/openapi/conformance.js'
import { documentOf } from '../../src/openapi/document.js'
import { operationsOf } from '../../src/openapi/operations.js'
import { parameterOf, parameterValues } from '../../src/openapi/parameters.js'

const item = { type: 'integer' }
const list = { schema: { type: 'array', items: item }, example: [1, 2] }
const color = { schema: { type: 'object', properties: { r: item, g: item } }, example: { r: 7, g: 8 } }
const text = { schema: { type: 'string' }, example: 'a&b, c' }

/** The request for an operation with one required parameter. */
function requestWith(written: object) {
  const parameters = [{ name: 'p', required: true, ...written }]
  const place = parameterOf(parameters[0] ?? {})?.in
  const paths = { [place === 'path' ? '/x/{p}' : '/x']: { get: { parameters, responses: {} } } }
  const document = documentOf('', { openapi: '3.1.0', paths })
  const [operation] = operationsOf({ document, validate: true, files: [] })
  const request = operation && safeRequestFor(operation)
  if (!request || 'why' in request) throw new Error('There is no request.')
  return request
}

test.each<[Readonly<Record<string, unknown>>, string, Readonly<Record<string, string>>?]>([
  [{ in: 'query', ...text }, '/x?p=a%26b%2C%20c'],
  [{ in: 'query', ...list }, '/x?p=1&p=2'],
  [{ in: 'query', explode: false, ...list }, '/x?p=1,2'],
  [{ in: 'query', style: 'spaceDelimited', ...list }, '/x?p=1%202'],
  [{ in: 'query', style: 'pipeDelimited', ...list }, '/x?p=1%7C2'],
  [{ in: 'query', ...color }, '/x?r=7&g=8'],
  [{ in: 'query', explode: false, ...color }, '/x?p=r,7,g,8'],
  [{ in: 'query', style: 'deepObject', ...color }, '/x?p[r]=7&p[g]=8'],
  [{ in: 'query', style: 'deepObject', ...list }, '/x?p[0]=1&p[1]=2'],
  [{ in: 'path', ...text }, '/x/a%26b%2C%20c'],
  [{ in: 'path', ...list }, '/x/1,2'],
  [{ in: 'path', explode: true, ...color }, '/x/r=7,g=8'],
  [{ in: 'path', style: 'label', ...list }, '/x/.1,2'],
  [{ in: 'path', style: 'label', explode: true, ...list }, '/x/.1.2'],
  [{ in: 'path', style: 'matrix', ...list }, '/x/;p=1,2'],
  [{ in: 'path', style: 'matrix', explode: true, ...list }, '/x/;p=1;p=2'],
  [{ in: 'path', style: 'matrix', explode: true, ...color }, '/x/;r=7;g=8'],
  [{ in: 'header', ...list }, '/x', { p: '1,2' }],
  [{ in: 'header', ...color }, '/x', { p: 'r,7,g,8' }],
  [{ in: 'cookie', ...text }, '/x', { cookie: 'p=a%26b%2C%20c' }],
  [{ in: 'cookie', explode: false, ...list }, '/x', { cookie: 'p=1,2' }],
])('a parameter is sent in its style and read back unchanged: %j', (written, path, expected = {}) => {
  const { headers, ...request } = requestWith(written)
  expect([request.path, headers]).toEqual([path, expected])
  const parameter = parameterOf({ name: 'p', ...written })
  const [, query = ''] = path.split('?')
  const params = { p: decodeURIComponent(path.replace('/x/', '')) }
  const read = parameter && parameterValues(documentOf('', {}), [parameter], { query, headers }, params)[parameter.in].p
  expect(read).toEqual(written.example)
})
