import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedact, findSecrets } from '../../src/redact/index.js'
import { noRules, prose, secret } from './secrets.js'

const found = (text: string, rules = {}) =>
  findSecrets(text, { ...noRules, ...rules }).map(({ kind, line, column }) => `${kind} ${line}:${column}`)

const aJwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123-xyz'

test('secrets are reported with line and column, in order of position', () => {
  const known = [{ name: 'live-key', value: 'hunter22' }]
  const patterns = [{ name: 'customer', pattern: /cus_\w+/ }]
  const text = `a: ${aJwt}\n\nb: hunter22, cus_1\nc: sk-proj-0123456789abcdefABCDEF ada@example.com`
  expect(found(text, { known, patterns, emails: true })).toEqual([
    ...['jwt 1:4', 'live-key 3:4', 'customer 3:14', 'key 4:4', 'email 4:35'],
  ])
})

test('credential headers with real values are found in YAML, in JSON and in raw HTTP', () => {
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
  expect(found('x-tenant: acme', { names: ['X-Tenant'] })).toEqual(['x-tenant 1:11'])
})

test('placeholders, examples and sentences about headers are not reported', () => {
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

test('secrets inside base64 are reported at the start of the payload', () => {
  const bytes = Buffer.from(`\xff\xfe ${aJwt} ${aJwt} sk-proj-0123456789abcdefABCDEF`, 'latin1')
  expect(found(`- base64: ${bytes.toString('base64')}`)).toEqual(['jwt 1:11', 'key 1:11'])
  expect(found(`body:\n  base64: |-\n    ${bytes.toString('base64')}\n`)).toEqual(['jwt 3:5', 'key 3:5'])
  expect(found(`{"base64": "${Buffer.from('nothing to be seen').toString('base64')}"}`)).toEqual([])
})

test('everything that redaction replaces is found, and redacted text has no findings', () => {
  const parts = fc.array(fc.oneof(prose, secret))
  fc.assert(
    fc.property(parts, parts => {
      const text = parts.join('\n')
      const redacted = createRedact(noRules)().text(text)
      expect(findSecrets(text, noRules).length > 0).toBe(redacted !== text)
      expect(findSecrets(redacted, noRules)).toEqual([])
    }),
  )
})
