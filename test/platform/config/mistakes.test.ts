import { expect, test } from 'vitest'
import { startPlatform } from '../../../src/index.js'
import { folderWith } from '../../command.js'
import { loadConfig } from '../../configuration.js'
import { isUnknown, mustBe, mustBeSuch, oneOf } from '../../sentences.js'

/** The error about a configuration file with this text. */
function complaintAbout(yaml: string, env: Record<string, string> = {}): string {
  try {
    loadConfig({ cwd: folderWith({ 'platform.config.yaml': yaml }), env })
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing'
}

// If accepted, none of these would do what its author meant.
test.each([
  ['host: http://127.0.0.1', mustBeSuch('host', 'a name or an address of this machine, without http:// and port')],
  ['host: localhost:4100', mustBeSuch('host', 'a name or an address of this machine')],
  ['host: "[::1]"', mustBeSuch('host', 'a name or an address of this machine')],
  ['cors: { origins: ["http://localhost:3000/"] }', mustBeSuch('cors.origins[0]', 'an origin such as')],
  ['cors: { origins: ["HTTP://LOCALHOST:1"] }', mustBeSuch('cors.origins[0]', 'an origin such as')],
  ['cors: { origins: ["localhost:5173"] }', mustBeSuch('cors.origins[0]', 'an origin such as')],
  ['models: [{ id: a }, { id: a }]', mustBeSuch('models', 'a list without duplicate ids')],
  ['apiKeys: [{ name: a, key: k }, { name: b, key: k }]', mustBe('apiKeys', 'a list without duplicate keys')],
  ['apiKeys: [{ name: a, key: k, expiresAt: next 5 }]', mustBeSuch('apiKeys[0].expiresAt', 'a time such as')],
  ['apiKeys: [{ name: a, key: k, expiresAt: "2030-02-31" }]', mustBeSuch('apiKeys[0].expiresAt', 'a time such as')],
  [
    'upstream: { baseUrl: "https://me:hunter2@live.test" }',
    mustBeSuch('upstream.baseUrl', 'an http or https address without a password'),
  ],
  ['upstream: { baseUrl: "https://live.test?k=v" }', mustBeSuch('upstream.baseUrl', 'an http or https address')],
  [
    'upstream: { baseUrl: "https://live.test/v1" }',
    'upstream.baseUrl is "https://live.test/v1", and Standin adds /v1 itself: write "https://live.test".',
  ],
  ['upstream: { baseUrl: "https://live.test/team/v1/" }', 'Standin adds /v1 itself: write "https://live.test/team".'],
  ['upstream: { baseUrl: "http://v1:8080/v1/chat/completions" }', 'write "http://v1:8080".'],
  [
    'upstream: { baseUrl: "https://live.test/api/v1" }',
    'write "https://live.test", or "https://live.test/api" if its models are at /api/v1/models.',
  ],
  ['upstream: { errors: normalise }', 'upstream.errors is normalise, which is now called documented.'],
  ['upstream: { errors: raw }', mustBe('upstream.errors', oneOf('documented', 'untouched'), 'raw')],
  ['upstream: { apiKey: "sk\\nlive" }', mustBe('upstream.apiKey', 'a key without spaces or line ends')],
  ['recordings: { ignore: [{}] }', 'recordings.ignore[0] is empty: it needs a path, a query or a pattern.'],
  [
    'recordings: { ignore: [$] }',
    mustBeSuch('recordings.ignore[0]', 'the path of a field, such as metadata.requestId'),
  ],
  [
    'recordings: { ignore: [a, .] }',
    mustBeSuch('recordings.ignore[1]', 'the path of a field, such as metadata.requestId'),
  ],
  [
    'recordings: { ignore: [{ path: "$[]" }] }',
    mustBeSuch('recordings.ignore[0].path', 'the path of a field, such as'),
  ],
  [
    'recordings: { ignore: [{ path: a, query: b, pattern: /c/ }] }',
    'recordings.ignore[0] has both path and query, which are ignored separately: write two entries.',
  ],
  [
    'recordings: { ignore: [{ pattern: c }] }',
    mustBeSuch('recordings.ignore[0].pattern', 'a regular expression between'),
  ],
  [
    'auth: { uriAllowList: ["http://app.test/**", "http://app.test/[z-a]"] }',
    mustBeSuch('auth.uriAllowList[1]', 'a glob whose ranges go up, such as [a-z]'),
  ],
])('%s is reported', (yaml, complaint) => {
  expect(complaintAbout(yaml)).toContain(complaint)
})

test('the error about a wrong entry does not say that the list or map is not one', () => {
  expect(complaintAbout('models: [{ id: a }, { id: a }]')).toMatch(/must be a list without duplicate ids\.$/)
  expect(complaintAbout('modes: { "*": proxy, /x: proxy }')).toMatch(/must be a map in which [^.]* after it\.$/)
})

test.each([
  ...['https://live.test', 'https://live.test/', 'https://live.test/team/ai', 'http://v1', 'http://v1:8080/'],
  ...['https://gateway.test/v1/account/platform', 'https://live.test/v1beta', 'https://live.test/api-v1'],
])('%s is accepted as the base URL of the live platform', baseUrl => {
  expect(complaintAbout(`upstream: { baseUrl: "${baseUrl}" }`)).toBe('nothing')
})

test('a password in an address is not repeated', () => {
  expect(complaintAbout('upstream: { baseUrl: "https://me:hunter2@live.test" }')).not.toContain('hunter2')
})

test.each(['2030-02-28', '2030-01-31T12:00:00Z', '2030-01-31T12:00:00.5+02:00', '2030-01-31T12:00Z'])(
  'a key may expire at %s',
  expiresAt => {
    expect(complaintAbout(`apiKeys: [{ name: a, key: k, expiresAt: "${expiresAt}" }]`)).toBe('nothing')
  },
)

test.each(['a', '$.a[*].b', '"**.a"', '/c/', '{ path: a }', '{ query: b, pattern: /c/ }', '{ pattern: /c/ }'])(
  'recordings may ignore %s',
  ignored => {
    expect(complaintAbout(`recordings:\n  ignore:\n    - ${ignored}\n`)).toBe('nothing')
  },
)

test('a string that YAML reads as something else is to be put in quotes', () => {
  const users = (phone: string) => `users:\n  - { phone: ${phone}, password: secret-horse }\n`
  expect(complaintAbout(users('+4791234567'))).toMatch(
    /users\[0\]\.phone must be a string, not \d+\. Put it in quotes\.$/,
  )
  expect(complaintAbout(users('"+4791234567"'))).toBe('nothing')
  expect(complaintAbout('users:\n  - { email: a@b.no, password: 12345678 }')).toMatch(
    /must be a string\. Put it in quotes\.$/,
  )
  expect(complaintAbout(users('[]'))).not.toContain('quotes')
})

test('a list in an environment variable is separated by commas', () => {
  const { config } = loadConfig({ cwd: folderWith({}), env: { STANDIN_REPLIES: 'a.yaml, b.yaml' } })
  expect(config.replies).toEqual(['a.yaml', 'b.yaml'])
})

test('an option named __proto__ is unknown and does not pollute other objects', async () => {
  const options = JSON.parse('{ "__proto__": { "polluted": 1 } }')
  await expect(startPlatform(options)).rejects.toThrow(`__proto__ ${isUnknown()}`)
  expect({}).not.toHaveProperty('polluted')
  await (await startPlatform()).stop()
})

test('a platform with itself as upstream does not start', async () => {
  const first = await startPlatform()
  const port = Number(new URL(first.url).port)
  await first.stop()
  const starting = startPlatform({ port, mode: 'proxy', upstream: { baseUrl: `http://localhost:${port}` } })
  await expect(starting).rejects.toThrow(`http://localhost:${port} is this platform itself.`)
})

test('an undefined port means any free one', async () => {
  const options = { port: undefined } as object
  const platforms = await Promise.all([startPlatform(options), startPlatform(options)])
  expect(platforms[0].url).not.toBe(platforms[1].url)
  await Promise.all(platforms.map(platform => platform.stop()))
})
