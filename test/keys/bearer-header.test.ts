import { expect, test } from 'vitest'
import { platformWith, refusalOf, unauthorized } from '../scene.js'
import { answerTo, onTheWire } from '../wire.js'

const missing = 'No credential was sent. Add the header "Authorization: Bearer <credential>".'
const empty = 'The Authorization header has no credential. Send "Bearer", a space and the key.'
const wrongScheme = 'The Authorization header must use the Bearer scheme: "Bearer <credential>".'
const malformed = 'The credential is malformed. Send "Bearer" and exactly one key or token.'
const doubled = 'More than one credential was sent. Send exactly one Authorization header.'

test.each(['/api/v1', '/v1/models'])('GET %s without a credential is refused', async path => {
  const { ask } = await platformWith()
  expect(await refusalOf(await ask(path, { bearer: null }))).toEqual(unauthorized(missing))
})

test.each([
  ['nothing', '', empty],
  ['the scheme alone', 'Bearer', empty],
  ['the key without a scheme', 'KEY', wrongScheme],
  ['Basic', 'Basic YWRhOnNlY3JldA==', wrongScheme],
  ['no space after the scheme', 'BearerKEY', wrongScheme],
  ['quotes around the key', 'Bearer "KEY"', malformed],
  ['an unreplaced variable', 'Bearer $API_KEY', malformed],
  ['two credentials in one line', 'Bearer KEY, Bearer KEY', doubled],
])('an Authorization header with %s is refused', async (_what, header, sentence) => {
  const { ask, apiKey } = await platformWith()
  const authorization = header.replaceAll('KEY', apiKey)
  const response = await ask('/v1/models', { bearer: null, headers: { authorization } })
  expect(await refusalOf(response)).toEqual(unauthorized(sentence))
})

test.each([
  ['two keys', ['Bearer KEY', 'Bearer other']],
  ['the key and then another scheme', ['Bearer KEY', 'Basic YWRhOnNlY3JldA==']],
])('two Authorization headers are refused: %s', async (_what, values) => {
  const { url, apiKey } = await platformWith()
  const lines = values.map(value => `Authorization: ${value.replace('KEY', apiKey)}`)
  const { status, headers, body } = await answerTo(url, onTheWire('GET /v1/models', lines))
  expect(status).toBe(401)
  expect(headers.get('www-authenticate')).toBe('Bearer')
  expect(JSON.parse(body)).toEqual({ error: doubled })
})

test('two Authorization headers are refused even when the second one has the key', async () => {
  const { url, apiKey } = await platformWith()
  const lines = ['Authorization: Basic YWRhOnNlY3JldA==', `Authorization: Bearer ${apiKey}`]
  const { status, body } = await answerTo(url, onTheWire('GET /v1/models', lines))
  expect(status).toBe(401)
  expect(JSON.parse(body)).toEqual({ error: wrongScheme })
})

test.each(['bearer KEY', 'BEARER KEY', '  Bearer   KEY  '])(
  'the scheme may be in any case and have extra spaces around it: %j',
  async header => {
    const { url, apiKey } = await platformWith()
    const line = `Authorization: ${header.replace('KEY', apiKey)}`
    expect((await answerTo(url, onTheWire('GET /v1/models', [line]))).status).toBe(200)
  },
)

test.each([
  ['the query', 'GET /v1/models?api_key=KEY&access_token=KEY', []],
  ['other headers', 'GET /v1/models', ['X-Api-Key: KEY', 'apikey: KEY']],
  ['a cookie', 'GET /v1/models', ['Cookie: authorization=Bearer KEY']],
])('a key in %s does not count as a credential', async (_place, request, headers) => {
  const { url, apiKey } = await platformWith()
  const { status, body } = await answerTo(url, onTheWire(request, headers).replaceAll('KEY', apiKey))
  expect(status).toBe(401)
  expect(JSON.parse(body)).toEqual({ error: missing })
})

test('a refusal never repeats the credential that was sent', async () => {
  const { ask } = await platformWith()
  for (const authorization of ['Bearer topsecret', 'Basic topsecret', 'Bearer e.topsecret.s']) {
    const response = await ask('/v1/models', { bearer: null, headers: { authorization } })
    expect(response.status).toBe(401)
    expect(await response.text()).not.toContain('topsecret')
  }
})
