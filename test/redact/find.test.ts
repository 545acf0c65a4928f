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
    authorization: Bearer q8Lz3Xv7Rt2Kw9Nb
    - [set-cookie, sid=q8Lz3Xv7; Path=/]
    - x-api-key: 'q8Lz3Xv7Rt2Kw9Nb'
  { Cookie: a=q8Lz3Xv7 }
  { "apikey": "q8Lz3Xv7Rt", "name": 1, "Proxy-Authorization": "Basic YWRhOktvcnJla3Q3" }
  text: "{\\"authorization\\":\\"Bearer q8Lz3Xv7Rt2Kw9Nb\\"}"
`
  expect(found(text)).toEqual([
    ...['authorization 4:27', 'x-api-key 6:19', 'cookie 7:13'],
    ...['apikey 8:16', 'proxy-authorization 8:70', 'authorization 9:38'],
  ])
  expect(found('x-tenant: acmeQ8Lz3', { names: ['X-Tenant'] })).toEqual(['x-tenant 1:11'])
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

test('what was found elsewhere is reported at its place, or at the beginning', () => {
  const secrets = ['said "so"', 'in Base64'].map(value => ({ name: 'pin', value }))
  expect(findSecrets('a:\n  b: said \\"so\\"\n', noRules, secrets)).toEqual([
    { kind: 'pin', line: 1, column: 1 },
    { kind: 'pin', line: 2, column: 6 },
  ])
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
