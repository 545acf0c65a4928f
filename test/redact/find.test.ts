import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedact, findSecrets } from '../../src/redact/index.js'
import { noRules, prose, secret } from './secrets.js'

const found = (text: string, rules = {}) =>
  findSecrets(text, { ...noRules, ...rules }).map(({ kind, line, column }) => `${kind} ${line}:${column}`)

const aJwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123-xyz'

test('secrets are found with their lines and columns, in the order in which they stand', () => {
  const known = [{ name: 'live-key', value: 'hunter22' }]
  const patterns = [{ name: 'customer', pattern: /cus_\w+/ }]
  const text = `a: ${aJwt}\n\nb: hunter22, cus_1\nc: sk-proj-0123456789abcdefABCDEF ada@example.com`
  expect(found(text, { known, patterns, emails: true })).toEqual([
    ...['jwt 1:4', 'live-key 3:4', 'customer 3:14', 'key 4:4', 'email 4:35'],
  ])
})

test('headers with a value that is no placeholder are found in YAML, in JSON and as they go over the wire', () => {
  const text = `
response:
  headers:
    authorization: Bearer abc
    - [set-cookie, sid=1; Path=/]
    - x-api-key: 'abc'
  { Cookie: a=b }
  { "apikey": "abc", "name": 1, "Proxy-Authorization": "Basic abc" }
  text: "{\\"authorization\\":\\"Bearer abc\\"}"
`
  expect(found(text)).toEqual([
    ...['authorization 4:20', 'set-cookie 5:20', 'x-api-key 6:19', 'cookie 7:13'],
    ...['apikey 8:16', 'proxy-authorization 8:57', 'authorization 9:31'],
  ])
  expect(found('x-tenant: acme', { headers: ['X-Tenant'] })).toEqual(['x-tenant 1:11'])
})

test('placeholders, examples and sentences about headers are none', () => {
  const text = `
authorization: [authorization]
authorization: Bearer [jwt-1]
- [set-cookie, "[set-cookie]"]
"apikey": "[apikey]", "authorization": "Bearer $TOKEN"
authorization: Bearer YOUR_API_KEY
cookie: a small file that servers leave with you
"authorization": { "type": "string" }
authorization: string
- token: Hello
x-ratelimit-limit-tokens: 4000
The authorization, the cookie and the apikey: they matter.
`
  expect(found(text)).toEqual([])
})

test('what is inside of base64 is found where the payload begins', () => {
  const bytes = Buffer.from(`\xff\xfe ${aJwt} ${aJwt} sk-proj-0123456789abcdefABCDEF`, 'latin1')
  expect(found(`- base64: ${bytes.toString('base64')}`)).toEqual(['jwt 1:11', 'key 1:11'])
  expect(found(`body:\n  base64: |-\n    ${bytes.toString('base64')}\n`)).toEqual(['jwt 3:5', 'key 3:5'])
  expect(found(`{"base64": "${Buffer.from('nothing to be seen').toString('base64')}"}`)).toEqual([])
})

test('what redacting replaces is found, and what it leaves behind is clean', () => {
  const parts = fc.array(fc.oneof(prose, secret))
  fc.assert(
    fc.property(parts, parts => {
      const text = parts.join('\n')
      const open = createRedact(noRules)().text(text)
      expect(findSecrets(text, noRules).length > 0).toBe(open !== text)
      expect(findSecrets(open, noRules)).toEqual([])
    }),
  )
})

test('no finding says what the secret is', () => {
  expect(JSON.stringify(findSecrets(`authorization: Bearer ${aJwt}`, noRules))).toBe(
    '[{"kind":"authorization","line":1,"column":16}]',
  )
})
