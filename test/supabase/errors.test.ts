import { expect, test } from 'vitest'
import { onTheWire, wireTo } from '../wire.js'
import { backendWith, bodyOf, newUser, refusal, versioned } from './backend.js'

const wrong = { email: 'nobody@example.com', password: 'battery staple' }
const signIn = '/token?grant_type=password'

test('a current client gets the error code in the body and the API version in a header', async () => {
  const { ask } = await backendWith()
  const response = await ask(signIn, { body: wrong, headers: versioned })
  expect(response.status).toBe(400)
  expect(response.headers.get('x-supabase-api-version')).toBe('2024-01-01')
  expect(response.headers.get('x-sb-error-code')).toBe('invalid_credentials')
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.text()).toBe('{"code":"invalid_credentials","message":"Invalid login credentials"}')
})

test.each([{}, { 'x-supabase-api-version': '2023-12-31' }, { 'x-supabase-api-version': '' }])(
  'a client that sends %j gets errors in the older format',
  async headers => {
    const { ask } = await backendWith()
    const response = await ask(signIn, { body: wrong, headers })
    expect(response.status).toBe(400)
    expect(response.headers.has('x-supabase-api-version')).toBe(false)
    expect(response.headers.get('x-sb-error-code')).toBe('invalid_credentials')
    expect(await response.text()).toBe(
      '{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}',
    )
  },
)

test('the error of a weak password has the reasons in both formats', async () => {
  const { ask } = await backendWith()
  const body = { email: newUser().email, password: 'x' }
  const weak_password = { reasons: ['length'] }
  const message = 'Password should be at least 6 characters.'
  const current = await ask('/signup', { body, headers: versioned })
  expect([current.status, current.headers.has('x-sb-error-code')]).toEqual([422, false])
  expect(await bodyOf(current)).toEqual({ code: 'weak_password', message, weak_password })
  const older = await ask('/signup', { body })
  expect(older.headers.get('x-sb-error-code')).toBe('weak_password')
  expect(await bodyOf(older)).toEqual({ code: 422, error_code: 'weak_password', msg: message, weak_password })
})

test("Supabase's client returns its own kind of error for a weak password", async () => {
  const { client } = await backendWith()
  const { error } = await client().auth.signUp({ email: newUser().email, password: 'x' })
  expect(error).toMatchObject({
    ...{ name: 'AuthWeakPasswordError', status: 422, code: 'weak_password', reasons: ['length'] },
    message: 'Password should be at least 6 characters.',
  })
})

test.each([
  ['', 'unexpected end of JSON input'],
  ['<html>', 'it is not valid JSON'],
  ['[]', 'it must be an object'],
  ['"text"', 'it must be an object'],
  ['{"email":{}}', 'email must be of type string'],
  ['{"data":"x"}', 'data must be of type object'],
])('the body %j is refused as bad JSON', async (body, why) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/signup', { method: 'POST', body }))).toEqual({
    status: 400,
    code: 'bad_json',
    message: `Could not parse request body as JSON: ${why}`,
  })
})

test('a body of more than a megabyte is too large', async () => {
  const { ask } = await backendWith()
  const error = await refusal(ask('/signup', { body: { data: { long: 'x'.repeat(1_048_577) } } }))
  expect(error).toMatchObject({ status: 413, code: 'request_entity_too_large' })
})

test.each([
  ['nested levels', '['.repeat(2000) + ']'.repeat(2000)],
  ['values', JSON.stringify(Array(60_001).fill(0))],
])('a body with too many %s is refused as bad JSON', async (_what, data) => {
  const { ask } = await backendWith()
  const error = await refusal(ask('/signup', { method: 'POST', body: `{"data":${data}}` }))
  expect(error).toMatchObject({ status: 400, code: 'bad_json' })
})

test.each([
  ['an expectation that cannot be met', 'Expect: a-miracle', 417],
  ['a second host', 'Host: other', 400],
])('%s is refused with an error code of Supabase', async (_what, header, status) => {
  const { url } = await backendWith()
  const wire = await wireTo(url)
  await wire.say(onTheWire('GET /auth/v1/settings', [header, 'Connection: close']))
  expect(await wire.rest()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"error_code":"validation_failed"`, 's'))
})
