import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyPlaceholder, createRedact, findSecrets, withoutSecrets } from '../../src/redact/index.js'
import { credential, jwt, key, noRules, privateKey, prose, secret } from './secrets.js'

const redaction = (own: readonly string[] = [], rules = {}) => createRedact({ ...noRules, ...rules })(own)
const redacted = (text: string, rules = {}) => redaction([], rules).text(text)

const aJwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123-xyz'
const ownKey = 'sk-local-StandinDevelopmentKeyDoNotDeploy41E9kt'

describe('in text', () => {
  test('equal secrets share a placeholder, and each kind is numbered separately', () => {
    const { text } = redaction()
    expect(text(`first ${aJwt}, then ${aJwt}.`)).toBe('first [jwt-1], then [jwt-1].')
    expect(text('ghp_0123456789abcdefABCDEF0123456789abcd')).toBe('[key-1]')
    expect(text(`${aJwt.replace('abc', 'xyz')} and ${aJwt}`)).toBe('[jwt-2] and [jwt-1]')
  })

  test('keys of many vendors are recognized by their prefix', () => {
    fc.assert(
      fc.property(key, prose, (key, prose) => {
        expect(redacted(`${prose}${key}`)).toBe(`${prose}[key-1]`)
      }),
    )
  })

  test('private keys are replaced as a whole, with real or escaped line breaks', () => {
    fc.assert(
      fc.property(privateKey, prose, (pem, prose) => {
        expect(redacted(prose + pem + prose)).toBe(`${prose}[private-key-1]${prose}`)
        expect(redacted(JSON.stringify({ pem }))).toBe('{"pem":"[private-key-1]"}')
      }),
    )
  })

  test('a truncated private key is redacted, a mere mention of one is not', () => {
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'
    expect(redacted(`-----BEGIN PRIVATE KEY-----\n${line}\n${line}`)).toBe('[private-key-1]')
    const mention = 'It begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----, as ... says.'
    expect(redacted(mention)).toBe(mention)
  })

  test('a value after Bearer is redacted unless it is a plain word', () => {
    expect(redacted('Send Bearer 0a1b2c3d4e5f6a7b8c9d.')).toBe('Send Bearer [key-1].')
    const prose = 'The Bearer authentication-scheme is explained in "Bearer Authentifizierungsverfahren".'
    expect(redacted(prose)).toBe(prose)
  })

  test('a secret directly after a JSON escape is found', () => {
    const body = JSON.stringify({ text: `a\nsk-proj-0123456789abcdefABCDEF\t${ownKey}` })
    expect(redaction([ownKey]).text(body)).toBe('{"text":"a\\n[key-1]\\t[credential]"}')
  })

  test('email addresses are redacted when the rules ask for it', () => {
    const text = 'Ask ada@example.com, "Bob" <bob.b+x@mail.example.co.uk>, or ada@example.com. a%20=eve%40example.com'
    expect(redacted(text)).toBe(text)
    expect(redacted(text, { emails: true })).toBe('Ask [email-1], "Bob" <[email-2]>, or [email-1]. a%20=[email-3]')
    expect(redacted('a\\nada@example.com @home 3@4 user@host', { emails: true })).toBe(
      'a\\n[email-1] @home 3@4 user@host',
    )
  })

  test('custom patterns give their name to the placeholder, work with any flags and ignore empty matches', () => {
    const patterns = [
      { name: 'customer', pattern: /cus_\w*/y },
      { name: 'nothing', pattern: /x*/g },
      { name: 'word', pattern: /^TOP$/im },
    ]
    const { text } = redaction([], { patterns })
    expect(text('cus_12 and cus_34\ntop\ncus_12')).toBe('[customer-1] and [customer-2]\n[word-1]\n[customer-1]')
    expect(text('cus_34')).toBe('[customer-2]')
  })

  test('of overlapping secrets the longest wins, and at equal length the custom pattern', () => {
    const patterns = [{ name: 'ours', pattern: /sk-ours-\w+/ }]
    expect(redacted('sk-ours-0123456789abcdefAB', { patterns })).toBe('[ours-1]')
    expect(redacted('sk-ours-0123456789abcdefAB-more', { patterns })).toBe('[key-1]')
    expect(redacted(`Bearer ${aJwt}`)).toBe('Bearer [jwt-1]')
  })
})

test('a secret that is only recognizable once the next one is redacted is found in the same pass', () => {
  expect(redacted(`AKIAABCDEFGHIJKLMNOP${aJwt}`)).toBe('[key-1][jwt-1]')
})

describe('known values', () => {
  test('a known value is found in any encoding', () => {
    const value = 'pä$$"word\\/ +?=&'
    const written = [
      value,
      encodeURIComponent(value),
      encodeURIComponent(value).toLowerCase(),
      new URLSearchParams({ a: value }).toString().slice(2),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('base64url'),
      encodeURIComponent(Buffer.from(value).toString('base64')),
      JSON.stringify(value).slice(1, -1),
      JSON.stringify(JSON.stringify(value).slice(1, -1)).slice(1, -1),
      JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'),
    ]
    for (const form of written) {
      expect(redacted(`<${form}>`, { known: [{ name: 'live-key', value }] }), form).toBe('<[live-key]>')
    }
  })

  test('a known value is found inside a longer base64 string', () => {
    const value = 'sk-live-0123456789abcdef'
    const known = [{ name: 'live-key', value }]
    for (const before of ['', 'u', 'u:', 'me:', 'user:']) {
      const written = Buffer.from(`${before}${value} and more`).toString('base64')
      const result = redacted(written, { known })
      expect(result, before).toContain('[live-key]')
      const rest = result.split('[live-key]').map(part => Buffer.from(part, 'base64').toString('latin1'))
      expect(rest.join(''), before).not.toMatch(/live|0123|cdef/)
    }
  })

  test('a value that is too short is ignored, and the caller’s own credential takes precedence', () => {
    const known = [
      { name: 'pin', value: 'the' },
      { name: 'live-key', value: 'hunter22' },
    ]
    expect(createRedact({ ...noRules, known })(['hunter22', 'a']).text('the hunter22 has a')).toBe(
      'the [credential] has a',
    )
    expect(createRedact({ ...noRules, known })().text('the hunter22')).toBe('the [live-key]')
  })
})

describe('by name', () => {
  test('credential headers are replaced as a whole, other headers are searched', () => {
    const { headers } = redaction([ownKey], { names: ['X-Tenant'] })
    const input = [
      ...['Authorization', 'Bearer x', 'APIKEY', 'x', 'Set-Cookie', 'a=b', 'set-cookie', 'c=d', 'x-tenant', 'acme'],
      ...['X-Supabase-Auth-Token', 'x', 'X-Amz-Security-Token', 'x', 'openai-organization', 'acme'],
      ...['x-ratelimit-remaining-tokens', '149', 'x-request-id', `req ${ownKey}`],
      ...['Location', '/cb?code=1&page=2#access_token=3'],
    ]
    const values = headers(input).filter((_, i) => i % 2 === 1)
    expect(values).toEqual([
      ...['[authorization]', '[apikey]', '[set-cookie]', '[set-cookie]', '[x-tenant]'],
      ...['[x-supabase-auth-token]', '[x-amz-security-token]', 'acme'],
      ...['149', 'req [credential]', '/cb?code=[code]&page=2#access_token=[access-token]'],
    ])
  })

  test('secret query parameters are redacted in any case and encoding', () => {
    const { query } = redaction([ownKey], { names: ['Tenant'] })
    expect(query('APIKEY=1&access%5Ftoken=2&acc%65ss_token=3&tenant=4&sig=&code=5')).toBe(
      'APIKEY=[apikey]&access%5Ftoken=[access-token]&acc%65ss_token=[access-token]&tenant=[tenant]&sig=&code=[code]',
    )
    expect(query(`q=a+%73k${ownKey.slice(2)}%21&${ownKey}=1`)).toBe('q=a+[credential]%21&[credential]=1')
    const untouched = 'a=%7e+%2B&b&=&&c=%zz&page_token=abc'
    expect(query(untouched)).toBe(untouched)
  })
})

describe('in URLs within text', () => {
  test.each([
    [
      '{"next":"https://a.test/x?access_token=abc&limit=2","n":1}',
      '{"next":"https://a.test/x?access_token=[access-token]&limit=2","n":1}',
    ],
    ['(GET /v1/files?api_key=abc), then /?key=x!', '(GET /v1/files?api_key=[api-key]), then /?key=[key]!'],
    ['[link](https://a.test/cb#acc%65ss_token=1&b=2)', '[link](https://a.test/cb#acc%65ss_token=[access-token]&b=2)'],
    ['<a href="/x?b=1&amp;token=2&amp;c=3">', '<a href="/x?b=1&amp;token=[token]&amp;c=3">'],
    ['{\\"a\\":\\"https:\\/\\/a.test?b\\u0026CODE=2\\"}', '{\\"a\\":\\"https:\\/\\/a.test?b\\u0026CODE=[code]\\"}'],
    [`ws://a.test?token=${aJwt}&key=x-${ownKey}`, 'ws://a.test?token=[token]&key=[key]'],
  ])('secret parameters are redacted: %s', (text, result) => {
    const { text: redact } = redaction([ownKey], { names: ['Tenant'] })
    expect(redact(text)).toBe(result)
    expect(redact(result)).toBe(result)
    expect(findSecrets(text, { ...noRules, names: ['tenant'] }).length).toBeGreaterThan(0)
    expect(findSecrets(result, { ...noRules, names: ['tenant'] })).toEqual([])
  })

  test.each([
    'Set code=5 and token=abc; a?key=b, and/or?code=5, ?code=5.',
    'https://a.test/x?page_token=abc&author=key=1 code=5',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: documentation writes it this way
    'https://a.test/?key={key}&token=${TOKEN}&code=<code>&sig=...',
    'if (a/b>c?code=1:key=2)',
  ])('nothing is redacted in: %s', text => {
    expect(redacted(text)).toBe(text)
  })

  test('placeholders are recognized, other text in brackets is not', () => {
    const placeholder = anyPlaceholder({ ...noRules, names: ['Tenant_ID'] })
    for (const text of ['/x?access_token=abc', 'https://a.test?a=1&tenant_id=acme', aJwt]) {
      const result = redacted(text, { names: ['Tenant_ID'] })
      expect(placeholder.exec(result)?.[0], text).toMatch(/^\[(access-token|tenant-id|jwt-1)\]$/)
    }
    expect(placeholder.test('a list of [key], /x?filter=[name]')).toBe(false)
  })

  test('in any URL the values of secret parameters are redacted, and every other byte stays', () => {
    const written = fc.string({ unit: fc.constantFrom(...'aZ09-_~.%+/'), minLength: 1, maxLength: 30 })
    const value = written.map(text => `${text}q`)
    const parameter = fc.oneof(
      fc.record({ name: fc.constantFrom('a', 'limit', 'page_token', 'codes'), value, isSecret: fc.constant(false) }),
      fc.record({ name: fc.constantFrom('token', 'SIG', 'api_key', 'code'), value, isSecret: fc.constant(true) }),
    )
    const beginning = fc.constantFrom('https://a.test/x', 'wss://a.test:1/', '/', '/x/y.z', '../x')
    fc.assert(
      fc.property(prose, beginning, fc.array(parameter, { minLength: 1 }), prose, (before, address, list, after) => {
        const around = (parameters: readonly string[]) => `${before}${address}?${parameters.join('&')}${after}`
        const text = around(list.map(({ name, value }) => `${name}=${value}`))
        const result = around(
          list.map(({ name, value, isSecret }) => {
            const placeholder = `[${name.toLowerCase().replace('_', '-')}]`
            return `${name}=${isSecret ? placeholder : value}`
          }),
        )
        expect(redacted(text)).toBe(result)
        expect(redacted(result)).toBe(result)
      }),
    )
  })
})

describe('values under secret names', () => {
  const { secretsIn } = createRedact({ ...noRules, names: ['X-Tenant', 'who'] })

  test('headers, parameters and each cookie are credentials, raw and decoded', () => {
    const headers = [
      ['Authorization', 'Bearer not-so-short'],
      ['x-auth-token', 'Plain the-auth-token'],
      ['OPENAI-API-KEY', 'openai-plain-value'],
      ['x-tenant', 'tenant-of-acme'],
      ['cookie', 'sid=s%3Acookie-value; theme=dark; b="quoted-cookie"'],
      ['set-cookie', 'sid=another-cookie; Path=/path-of-cookie; HttpOnly'],
      ['user-agent', 'Mozilla/5.0 (compatible)'],
    ] as const
    expect(secretsIn({ headers, query: 'token=a%2Fplain+token&who=whoever-it-is&limit=100000000000000' })).toEqual([
      ...['not-so-short', 'the-auth-token', 'openai-plain-value', 'tenant-of-acme'],
      ...['s%3Acookie-value', 's:cookie-value', 'quoted-cookie', 'another-cookie', 'a/plain token', 'whoever-it-is'],
    ])
  })

  test('words, dates, paths and placeholders are not credentials', () => {
    const words = ['default', 'OpenAI', 'JavaScript', '2024-01-31', '/v1/chat/completions', '[access-token]']
    const query = words.map(word => `key=${encodeURIComponent(word)}`).join('&')
    expect(secretsIn({ headers: [['cookie', words.map(word => `a=${word}`).join('; ')]], query })).toEqual([])
    expect(secretsIn({ headers: [], query: 'key=a1b2c3d4' })).toEqual(['a1b2c3d4'])
  })
})

describe('in JSON values', () => {
  test('strings, field names and numbers are redacted, and the order of fields is kept', () => {
    const { value } = redaction([ownKey], { patterns: [{ name: 'card', pattern: /\b4\d{15}\b/ }] })
    const input = { z: [ownKey, null, true, 4111111111111111], [ownKey]: { a: 1, __proto__x: '' }, a: aJwt }
    const result = value(JSON.parse(JSON.stringify(input)))
    expect(JSON.stringify(result)).toBe(
      '{"z":["[credential]",null,true,"[card-1]"],"[credential]":{"a":1,"__proto__x":""},"a":"[jwt-1]"}',
    )
  })

  test('a value without secrets is returned as is, and __proto__ is an ordinary field', () => {
    const harmless = JSON.parse('{"__proto__": {"a": ["b"]}}')
    expect(redaction().value(harmless)).toBe(harmless)
    const result = redaction().value(JSON.parse(`{"__proto__": ["${aJwt}"]}`))
    expect(JSON.stringify(result)).toBe('{"__proto__":["[jwt-1]"]}')
  })
})

describe('for any input', () => {
  test('the secret is gone, and the rest is unchanged', () => {
    fc.assert(
      fc.property(secret, prose, prose, (secret, before, after) => {
        const result = redacted(before + secret + after)
        expect(result.replace(/\[(jwt|key|private-key)-1\]/, secret)).toBe(before + secret + after)
        expect(result).not.toContain(secret.slice(0, 20))
      }),
    )
  })

  test('redacting twice changes nothing more', () => {
    const text = fc
      .array(fc.oneof(secret, prose, credential, fc.constant('ada@example.com')))
      .map(parts => parts.join(''))
    fc.assert(
      fc.property(text, credential, (text, own) => {
        const rules = {
          emails: true,
          known: [
            { name: 'live-key', value: 'credential' },
            { name: 'other', value: 'private' },
          ],
        }
        const once = redaction([own], rules).text(text)
        expect(redaction([own], rules).text(once)).toBe(once)
      }),
    )
  })

  test('the result does not depend on the credential', () => {
    const parts = fc.array(fc.oneof(prose, secret, fc.constant(undefined)))
    const written = fc.constantFrom<(value: string) => string>(
      value => value,
      encodeURIComponent,
      value => JSON.stringify(value).slice(1, -1),
      value => Buffer.from(value).toString('base64'),
    )
    fc.assert(
      fc.property(parts, credential, credential, written, (parts, one, other, written) => {
        const texts = [one, other].map(own => redaction([own]).text(parts.map(part => part ?? written(own)).join('')))
        expect(texts[0]).toBe(texts[1])
        const [a, b] = [one, other].map(own =>
          redaction([own]).value({ list: parts.map(part => part ?? own), [own]: own }),
        )
        expect(a).toEqual(b)
        const queries = [one, other].map(own =>
          redaction([own]).query(`apikey=${encodeURIComponent(own)}&q=${encodeURIComponent(own)}`),
        )
        expect(queries[0]).toBe(queries[1])
      }),
    )
  })

  test('text full of false starts is redacted in linear time', () => {
    const bait = [
      'sk-',
      'eyJ',
      'eyJaaaaaaaaaa.',
      'Bearer+',
      '-----BEGIN PRIVATE KEY-----',
      'a@',
      '@a.',
      'ghp_',
      'github_pat_',
      '[',
      '%40',
      '?',
      '/?token=',
      '/?a&',
      'https://',
      ':\\\\\\',
      '/?a=[a',
      '/?u0026',
    ]
    for (const text of bait) {
      // A quadratic search would take minutes and exceed the timeout of the test.
      expect(redacted(text.repeat(500_000 / text.length), { emails: true })).toBeTypeOf('string')
    }
  })
})

test('a JWT is found anywhere in text', () => {
  fc.assert(
    fc.property(jwt, prose, (jwt, prose) => {
      expect(redacted(`${prose}${jwt}.`)).toBe(`${prose}[jwt-1].`)
    }),
  )
})

test('an error is printed without the secrets that it quotes, and another one as it is', () => {
  const value = 'sk-live-Zq7kA9sD2fG4hJ6kL8zX1cV3'
  const redact = createRedact({ ...noRules, known: [{ name: 'live-key', value }] })
  const harmless = new Error('It failed.')
  expect(withoutSecrets(harmless, redact)).toBe(harmless)
  const headers = { authorization: `Bearer ${value}` }
  const error = Object.assign(new Error('No.', { cause: new Error(`/${value.replaceAll('-', '\\-')}/`) }), { headers })
  const printed = String(withoutSecrets(error, redact))
  expect(printed).toContain('Error: No.')
  expect(printed).not.toMatch(/Zq7kA9sD2fG4hJ6kL8zX1cV3/)
  expect(withoutSecrets(`The key ${value} is wrong.`, redact)).toBe('The key [live-key] is wrong.')
})
