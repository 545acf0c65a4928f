import { describe, expect, test } from 'vitest'
import { requestOf } from '../../src/recordings/key.js'
import type { RecordedRequest, RecordedResponse } from '../../src/recordings/recording.js'
import { redactedResponse, secretsInRecording } from '../../src/recordings/redacted.js'
import { createRedact } from '../../src/redact/index.js'
import { noRules } from './secrets.js'

const SECRET = 'Korrekt7Pferd9Batterie'

/** An exchange with this request body and answer, without its secrets, and what scan says about each. */
function exchanged(body: string, contentType: string, path = '/builder/x', query = '') {
  const redaction = createRedact(noRules)()
  const request = requestOf({ method: 'POST', path, query, contentType, body: Buffer.from(body) }, redaction)
  const answer: RecordedResponse = {
    ...{ status: 200, headers: [['content-type', contentType]], headMs: 1, endMs: 1, complete: true },
    chunks: [{ atMs: 0, bytes: Buffer.from(body) }],
  }
  const response = redactedResponse(answer, redaction, path)
  const scan = (asked: RecordedRequest, response: RecordedResponse) =>
    secretsInRecording({ recordedAt: '', test: '', place: 1, request: asked, response }, noRules).length
  const text = response.chunks.map(({ bytes }) => bytes.toString()).join('')
  return { request, text, before: scan({ ...request, body: { kind: 'none' } }, answer), after: scan(request, response) }
}

const json = (value: unknown) => [JSON.stringify(value), 'application/json'] as const
const multipart = (name: string) =>
  [
    `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${SECRET}\r\n--X--`,
    'multipart/form-data; boundary=X',
  ] as const

test.each([
  ...['password', 'newPassword', 'password_confirmation', 'client_secret', 'clientSecret', 'CLIENT-SECRET', 'secret'],
  ...['access_token', 'accessToken', 'refresh_token', 'id_token', 'token', 'api_key', 'apikey', 'X-API-Key', 'passwd'],
  ...[
    'private_key',
    'aws_secret_access_key',
    'dbPassword',
    'webhook_secret',
    'authorization',
    'bot_token',
    'code_verifier',
  ],
])('a field called %s is secret in JSON at any depth, in forms and in multipart forms', name => {
  const bodies = [
    json({ [name]: SECRET }),
    json([{ a: { b: [{ [name]: SECRET }] } }]),
    json({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: { [name]: SECRET } } }),
    json({ result: { content: [{ type: 'text', text: JSON.stringify({ [name]: SECRET }) }] } }),
    [`data: {"result":{"${name}":"${SECRET}"}}\n\n`, 'text/event-stream'],
    [`${new URLSearchParams({ a: 'b', [name]: SECRET })}`, 'application/x-www-form-urlencoded'],
    multipart(name),
  ] as const
  for (const [body, contentType] of bodies) {
    const { request, text, before, after } = exchanged(body, contentType)
    if (contentType !== 'text/event-stream') expect(JSON.stringify(request)).not.toContain(SECRET)
    expect(text).not.toContain(SECRET)
    expect([before > 0, after], body).toEqual([true, 0])
  }
  expect(exchanged('', 'text/plain', '/x', `a=b&${name}=${SECRET}`).request.query).not.toContain(SECRET)
})

const chat = (content: string) => ({ model: 'gpt-4o', messages: [{ role: 'user', content }] })

describe('nothing is hidden in', () => {
  test.each<unknown>([
    chat(`my password is ${SECRET}, and my api_key too`),
    { endpoints: [{ method: 'GET', path: '/api/v1', credential: ['anon', 'service', 'user'] }] },
    { type: 'object', properties: { password: { type: 'string', minLength: 8 } }, required: ['password'] },
    { properties: { api_key: { description: 'Your key', example: 'abc' }, token: { $ref: '#/token' } } },
    { errors: { password: ['is too short (minimum is 8 characters)'] } },
    { password: 'Your password must have at least 8 characters.' },
    { password: 'Das Passwort ist zu kurz.' },
    { labels: { password: 'Password', secret: 'Secret', apiKey: 'API key' } },
    { grant_type: 'password', token_type: 'bearer', expires_in: 3600 },
    { usage: { prompt_tokens: 1200, completion_tokens: 3400, total_tokens: 4600 }, max_tokens: 4096 },
    { logprobs: { content: [{ token: 'Hello', logprob: -0.1, bytes: [72] }] } },
    { page_token: 'CAEQAA7aB3cD9xYz', nextPageToken: 'CAEQAA7aB3cD9xYz', next_token: 'aB3cD5eF7gH9' },
    { has_password: true, password: null, access_token: '', secret: false },
    { error: { message: 'Incorrect API key provided', code: 'invalid_api_key', param: null } },
    { code: 'PGRST116', details: null, hint: null, message: 'not found' },
    { preferences: { cookie: 'accepted', apikey: 'none yet' } },
    { name: 'secret', value: 'santa' },
    { secret_santa: 'Bob', password_hint: 'my first dog', passwordless: 'yes', token_count: 12345 },
    { key: 'theme', value: 'dark', keys: ['a', 'b'], public_key: 'MFkwEwYHKoZIzj0CAQ' },
    { primary_key: 'users_pkey', foreign_key: 'orders_user_id_fkey', sort_key: 'created_at' },
    { idempotency_key: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', cache_key: 'v1:users:17' },
    { author: 'Ada', authority: 'https://login.example', authorization_endpoint: 'https://login.example/authorize' },
    { token_endpoint: 'https://login.example/token', id_token_signing_alg_values_supported: ['RS256'] },
    { eos_token: '</s>', pad_token: '<pad>', tokenizer: 'o200k_base' },
    { url: 'https://ada@example.com/x?page=2#top', repository: 'git@github.com:someone/something.git' },
    { database: 'postgres://postgres:postgres@127.0.0.1:54322/postgres', docs: 'postgres://user:password@host/db' },
    { hook: 'https://example.com/hooks', docs: 'https://api.slack.com/messaging/webhooks' },
    { time: '12:30', ratio: '16:9', mail: 'a:b@c', css: 'a:hover', path: 'C://x' },
    { text: 'secret_sharing and re_render, npm_config_cache and sk_learn; key-value and fc-list' },
    { data: Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919) & 255)).toString('base64') },
    { id: 'req_011CSHoEeqs5C35K2UUqR7Fy', fingerprint: 'fp_44709d6fcb', commit: 'e339a76b8d1f0c2d4a59687766554433' },
    { session: { id: 'cs_1', status: 'open' }, pin_code: '12345', postcode: '10115', country_code: 'DE' },
  ])('%j', value => {
    const path = typeof value === 'object' && value && 'messages' in value ? '/v1/chat/completions' : '/builder/x'
    const { request, text, before } = exchanged(...json(value), path)
    expect(text).toBe(JSON.stringify(value))
    expect(request.body).toEqual({ kind: 'json', value })
    expect(before).toBe(0)
  })
})

const A = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY'
const hex = '0123456789abcdef0123456789abcdef'
test.each([
  ...[`xai-${A}${A}`, `pplx-${A}`, `r8_${A}`, `gsk_${A}`, `hf_${A}`, `sk-ant-api03-${A}`, `AIza${A}abc`, `nvapi-${A}`],
  ...[
    `SK${hex}`,
    `SG.${A.slice(0, 22)}.${A}`,
    `npm_${A}`,
    `ghp_${A}`,
    `github_pat_${A}`,
    `glpat-${A}`,
    `AKIAABCDEFGHIJKLMNOP`,
  ],
  ...[`sk_live_${A}`, `rk_live_${A}`, `whsec_${A}`, `GOCSPX-${A}`, `ya29.${A}`, `1//0${A}`, `xoxb-${A}`, `xapp-1-${A}`],
  ...[
    `${hex}-us12`,
    `123456789:AA${A}a`,
    `hvs.${A}`,
    `dop_v1_${hex}`,
    `shpat_${hex}`,
    `lin_api_${A}`,
    `pypi-${A}`,
    `sbp_${hex}`,
  ],
  ...[`pcsk_${A}`, `lsv2_pt_${A}`, `re_${A}`, `glsa_${A}`, `dckr_pat_${A}`, `key-${hex}`, `dapi${hex}`, `PMAK-${A}`],
])('the key %s is found wherever it is', key => {
  const { text } = createRedact(noRules)()
  expect(text(`a ${key}, "${key}" =${key}\\n${key}`)).toBe('a [key-1], "[key-1]" =[key-1]\\n[key-1]')
})

test.each([
  [`postgres://app:${SECRET}@db.example.com/app`, 'postgres://app:[password]@db.example.com/app'],
  [`https://name:${SECRET}@git.example/x.git`, 'https://name:[password]@git.example/x.git'],
  [`redis://:${SECRET}@cache:6379`, 'redis://:[password]@cache:6379'],
  [`mongodb+srv://app:p%40ss-7@a.b,c.d/x`, 'mongodb+srv://app:[password]@a.b,c.d/x'],
  [`{"a":"amqp:\\/\\/app:${SECRET}@q"}`, '{"a":"amqp:\\/\\/app:[password]@q"}'],
  [`https://hooks.slack.com/services/T01234567/B01234567/${A}`, 'https://hooks.slack.com/[webhook-1]'],
  [`https:\\/\\/hooks.slack.com\\/services\\/T01\\/B01\\/${A}`, 'https:\\/\\/hooks.slack.com\\/[webhook-1]'],
  [`https://discord.com/api/webhooks/123456789012345678/${A}`, 'https://discord.com/api/webhooks/[webhook-1]'],
  [
    `https://acme.webhook.office.com/webhookb2/${A}@${A}/IncomingWebhook/${hex}/x`,
    'https://acme.webhook.office.com/[webhook-1]',
  ],
  [`https://hooks.zapier.com/hooks/catch/1234567/abcdefg/`, 'https://hooks.zapier.com/[webhook-1]'],
  [`Authorization: Basic ${Buffer.from(`ada:${SECRET}`).toString('base64')}`, 'Authorization: Basic [authorization]'],
  [`It is Basic ${Buffer.from(`ada:${SECRET}`).toString('base64')}`, 'It is Basic [key-1]'],
])('the secret of %s is hidden', (text, hidden) => {
  const { text: redact } = createRedact(noRules)()
  expect(redact(text)).toBe(hidden)
  expect(redact(hidden)).toBe(hidden)
})

const repeated = [
  ...[
    '\\',
    '"',
    '%25',
    '\\u0070',
    '\n',
    '\r\n\r\n',
    ' ',
    'data: ',
    '0',
    '[',
    ']',
    '{',
    '{"a":',
    ',',
    '&',
    '=',
    'a=',
    '://',
    '@',
  ],
  ...[
    'a:b@',
    'name="a"\nx\n',
    'name="',
    '\n--',
    'eyJ',
    'sk-',
    'password',
    'password: ',
    '"password":"',
    '-----BEGIN PRIVATE KEY-----',
    '\\/',
    '/hook/',
    'Bearer ',
    'password="',
    'token=a1B2c3D4',
    'secret=',
    '<password>',
    'PASSWORD: a1,',
    'a',
    'aaaaaaa',
    '&amp;',
    '--token ',
    'name: PASSWORD value: ',
    'Cookie: a=',
    '/?token=a1B2&',
    '|token|',
    '```',
    'x.y/z:',
  ],
]

/** The characters that are looked at: by expressions from where they begin to what they find, and one by one. */
function workOf(run: () => void): number {
  let characters = 0
  const { exec } = RegExp.prototype
  const { charCodeAt, indexOf } = String.prototype
  RegExp.prototype.exec = function (text) {
    const from = this.global || this.sticky ? this.lastIndex : 0
    const found = exec.call(this, text)
    characters += 1 + (found ? found.index + found[0].length : this.sticky ? from : text.length) - from
    return found
  }
  String.prototype.charCodeAt = function (index) {
    characters++
    return charCodeAt.call(this, index)
  }
  String.prototype.indexOf = function (text, from = 0) {
    const found = indexOf.call(this, text, from)
    characters += 1 + (found < 0 ? this.length : found) - from
    return found
  }
  try {
    run()
  } finally {
    RegExp.prototype.exec = exec
    Object.assign(String.prototype, { charCodeAt, indexOf })
  }
  return characters
}

test('redacting four times the text is no more than four times the work, whatever it repeats', () => {
  const known = [{ name: 'live-key', value: 'aaaaaaab' }]
  const redact = createRedact({ ...noRules, known, emails: true })
  const types = ['text/plain', 'application/json', 'multipart/form-data', 'text/event-stream']
  const work = (pattern: string, type: string, length: number) =>
    workOf(() => redact().body(`password ${pattern.repeat(length / pattern.length)}`, '/x', type))
  for (const pattern of repeated)
    for (const type of [...types, 'application/x-www-form-urlencoded']) {
      const [short, long] = [2000, 8000].map(length => work(pattern, type, length)) as [number, number]
      expect(long / (4 * short), `${JSON.stringify(pattern)} as ${type}`).toBeLessThan(1.3)
    }
})
