// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about

import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { ProblemsError } from '../../../src/check/problem.js'
import { unpaced } from '../../../src/core/pace.js'
import { type ConfigSources, fastReplay, type LoadedConfig } from '../../../src/platform/config/load.js'
import { type Files, folderWith } from '../../command.js'
import { loadConfig } from '../../configuration.js'
import {
  AN_OBJECT,
  cannotBeRead,
  didYouMean,
  isMissing,
  isUnknown,
  mustBe,
  notValid,
  oneOf,
  range,
  unquoted,
  wholeNumber,
} from '../../sentences.js'

const MODEL = 'the id of a model, or an object with one'

interface Scene extends Partial<ConfigSources> {
  readonly files?: Files
  /** The text of platform.config.yaml. */
  readonly yaml?: string
}

const load = ({ files, yaml, ...sources }: Scene = {}): LoadedConfig =>
  loadConfig({
    cwd: folderWith({ ...files, ...(yaml !== undefined && { 'platform.config.yaml': yaml }) }),
    env: {},
    ...sources,
  })

/** The problems, as they would be printed. */
function complaintsAbout(scene: Scene): string[] {
  try {
    load(scene)
  } catch (error) {
    if (error instanceof ProblemsError) return error.message.split('\n')
    throw error
  }
  return []
}

const portFlag = (value: unknown) => ({ path: ['port'], value, origin: '--port' })

test('without a file, an environment and flags every option has its default', () => {
  const { config, file, originOf } = load()
  expect(config).toMatchObject({ host: '127.0.0.1', port: 4100, mode: 'emulate', version: '1.0.0', seed: 0 })
  expect(config.models[0]).toEqual({ id: 'gpt-4o-mini', object: 'model', created: 1735689600, owned_by: 'openai' })
  expect(config.limits.bodyBytes).toBe(4 * 1024 * 1024)
  expect(config.pace).toEqual(unpaced)
  expect(file).toBeUndefined()
  expect(originOf(['port'])).toBe('default')
})

test('flags override the environment, the environment .env, .env the file, and the file the defaults', () => {
  const files = { '.env': 'STANDIN_PORT=3', 'platform.config.yaml': '# a comment\nport: 2\n' }
  const layers = [
    load(),
    load({ yaml: files['platform.config.yaml'] }),
    load({ files }),
    load({ files, env: { STANDIN_PORT: '4' } }),
    load({ files, env: { STANDIN_PORT: '4' }, flags: [portFlag(5)] }),
  ]
  expect(layers.map(({ config, originOf }) => [config.port, originOf(['port'])])).toEqual([
    [4100, 'default'],
    [2, 'platform.config.yaml:2'],
    [3, 'STANDIN_PORT'],
    [4, 'STANDIN_PORT'],
    [5, '--port'],
  ])
})

test.each([
  ['STANDIN_SEED', '7', { seed: 7 }],
  ['STANDIN_PACE_FIRST_TOKEN_MS', '250', { pace: { ...unpaced, firstTokenMs: 250 } }],
  ['STANDIN_LIMITS_BODY_BYTES', '1000', { limits: { bodyBytes: 1000 } }],
  ['STANDIN_RECORDINGS_IGNORE', 'dates, uuids', { recordings: { ignore: ['dates', 'uuids'] } }],
  ['STANDIN_REPLIES', 'a.yaml', { replies: 'a.yaml' }],
  ['STANDIN_ACCESS', '{"chat":"anyone","health":["apiKey"]}', { access: { chat: 'anyone', health: ['apiKey'] } }],
  ['STANDIN_CORS_ORIGINS', 'http://a.test,http://b.test', { cors: { origins: ['http://a.test', 'http://b.test'] } }],
  ['STANDIN_UPSTREAM_BASE_URL', 'https://live.test', { upstream: { baseUrl: 'https://live.test' } }],
  ['STANDIN_UPSTREAM_API_KEY', '12345', { upstream: { apiKey: '12345' } }],
])('%s=%s sets its option', (name, value, expected) => {
  expect(load({ env: { [name]: value } }).config).toMatchObject(expected)
})

test('an option in the environment leaves the rest of its group as in the file', () => {
  const { config } = load({
    yaml: 'pace:\n  tokensPerSecond: 5\n  firstTokenMs: 1\n',
    env: { STANDIN_PACE_FIRST_TOKEN_MS: '9' },
  })
  expect(config.pace).toEqual({ ...unpaced, firstTokenMs: 9, tokensPerSecond: 5 })
})

test('the file can use variables of the environment and of .env', () => {
  const { config } = load({
    files: { '.env': 'LIVE=https://live.test\nPORT=1' },
    yaml: 'port: ${PORT}\nupstream:\n  baseUrl: ${LIVE}/base\naccess:\n  chat: ${KINDS}\nseed: ${SEED:-12}\n',
    env: { PORT: '8080', KINDS: 'anon,user' },
  })
  expect(config).toMatchObject({ port: 8080, seed: 12 })
  expect(config.upstream.baseUrl).toBe('https://live.test/base')
  expect(config.access.chat).toEqual(['anon', 'user'])
})

test('a variable inside a list gets the type that its place requires', () => {
  const { config } = load({
    yaml: 'models:\n  - { id: "${ID}", created: "${CREATED}" }\n',
    env: { ID: '4711', CREATED: '5' },
  })
  expect(config.models).toEqual([{ id: '4711', object: 'model', created: 5, owned_by: 'standin' }])
})

test.each([
  ['models: [gpt-4o, { id: own, owned_by: me }]', {}, ['gpt-4o', 'own']],
  ['models: gpt-4o, own', {}, ['gpt-4o', 'own']],
  ['', { STANDIN_MODELS: 'gpt-4o' }, ['gpt-4o']],
])('models may be named by their ids alone: %s', (yaml, env, ids) => {
  const { config } = load({ yaml, env })
  expect(config.models.map(({ id }) => id)).toEqual(ids)
  expect(config.models[0]).toEqual({ id: 'gpt-4o', object: 'model', created: 1735689600, owned_by: 'standin' })
})

test.each([
  ['recordings: { ignore: dates }', { ignore: ['dates'] }],
  ['recordings: { ignore: "dates, metadata.id" }', { ignore: ['dates', 'metadata.id'] }],
  ['recordings: { ignore: "/a, b/" }', { ignore: ['/a, b/'] }],
  ['recordings: { redact: emails }', { redact: ['emails'] }],
])('a list of texts may be one text: %s', (yaml, expected) => {
  expect(load({ yaml }).config.recordings).toMatchObject(expected)
})

test('.env is the one beside the configuration, not the one where the command was started', () => {
  const files = { 'sub/my.yaml': 'seed: 1\n', 'sub/.env': 'STANDIN_PORT=7', '.env': 'STANDIN_PORT=8' }
  const { config, dir, file } = load({ files, file: 'sub/my.yaml' })
  expect(config.port).toBe(7)
  expect(file).toBe(path.join(dir, 'my.yaml'))
})

test('the first variable of a .env with a byte order mark is read', () => {
  expect(load({ files: { '.env': '\ufeffSTANDIN_PORT=7\n' } }).config.port).toBe(7)
})

test('with file: false and no env neither is read', () => {
  const cwd = folderWith({ '.env': 'STANDIN_PORT=7', 'platform.config.yaml': 'port: 8\n' })
  expect(loadConfig({ cwd, file: false }).config.port).toBe(4100)
})

test.each([
  '',
  '# only a comment\n',
  'null\n',
  'pace:\naccess:\n  # chat: anyone\nlimits:\nauth: { hooks: { customAccessToken: } }\n',
])('a file or a group that sets nothing is fine: %j', yaml => {
  expect(load({ yaml }).config).toEqual(load().config)
})

test('options in the file can share values by anchors', () => {
  const { config } = load({ yaml: 'access:\n  models: &people [user]\n  chat: *people\n' })
  expect(config.access).toMatchObject({ models: ['user'], chat: ['user'] })
})

test.each([
  ['prot: 4100', `1:1: prot ${isUnknown('port')}`],
  ['seed: 1\nModels: []', `2:1: Models ${isUnknown('models')}`],
  ['something-else: 1', `1:1: something-else ${isUnknown()}`],
  ['__proto__: 1', `1:1: __proto__ ${isUnknown()}`],
  ['"two words": 1', `1:1: ["two words"] ${isUnknown()}`],
  ['pace:\n  firstTokenms: 3', `2:3: pace.firstTokenms ${isUnknown('firstTokenMs')}`],
  ['access: { chatt: anyone }', mustBe('1:11: access.chatt', oneOf('health', 'index', 'models', 'chat'), 'chatt')],
  ['port: abc', mustBe('1:1: port', wholeNumber(0, 65535), 'abc')],
  ['port: 70000', mustBe('1:1: port', wholeNumber(0, 65535), 70000)],
  ['port: 1.5', mustBe('1:1: port', wholeNumber(0, 65535), 1.5)],
  ['port:', mustBe('1:1: port', wholeNumber(0, 65535), null)],
  ['host: true', unquoted(mustBe('1:1: host', 'a string', true))],
  ['host: ""', mustBe('1:1: host', 'a string that is not empty', '')],
  ['mode: emulat', mustBe('1:1: mode', oneOf('emulate', 'proxy', 'record', 'replay'), 'emulat')],
  ['version: 1.0', unquoted(mustBe('1:1: version', 'a string', 1))],
  ['version: v1', mustBe('1:1: version', 'three numbers with dots, such as 1.0.0', 'v1')],
  ['models: []', mustBe('1:1: models', 'a list with at least one model', [])],
  ['models:\n  - 4', unquoted(mustBe('2:5: models[0]', MODEL, 4))],
  ['models:\n  - owned_by: me', isMissing('2:5: models[0].id', 'a string')],
  ['models:\n  - { id: a, object: list }', mustBe('2:14: models[0].object', 'the word model', 'list')],
  ['replies: 3', mustBe('1:1: replies', 'a file, a folder or a glob, or a list of them', 3)],
  ['replies: [a.yaml, 3]', unquoted(mustBe('1:19: replies[1]', 'a string', 3))],
  ['pace: fast', mustBe('1:1: pace', AN_OBJECT, 'fast')],
  ['pace: { firstTokenMs: -3 }', mustBe('1:9: pace.firstTokenMs', range('milliseconds', 0, 600000), -3)],
  [
    'access: { health: guest }',
    mustBe('1:11: access.health', 'anyone, or a list of anon, service, user, apiKey', 'guest'),
  ],
  ['access: { health: [] }', mustBe('1:11: access.health', 'anyone, or a list with at least one kind', [])],
  [
    'access: { health: [apikey] }',
    mustBe('1:20: access.health[0]', oneOf('anon', 'service', 'user', 'apiKey'), 'apikey'),
  ],
  ['apiKeys:\n  - name: a', isMissing('2:5: apiKeys[0].key', 'a string')],
  [
    'apiKeys:\n  - name: a\n    key: k\n    expiresAt: soon',
    mustBe('4:5: apiKeys[0].expiresAt', 'a time such as 2030-01-31T12:00:00Z', 'soon'),
  ],
  [
    'upstream:\n  baseUrl: ftp://live.test',
    mustBe('2:3: upstream.baseUrl', 'an http or https address without a password', 'ftp://live.test'),
  ],
  ['cors: { origins: http://a.test }', mustBe('1:9: cors.origins', 'auto, "*" or a list of origins', 'http://a.test')],
  ['limits: { bodyBytes: 0 }', mustBe('1:11: limits.bodyBytes', wholeNumber(1, 1073741824), 0)],
  ['state: disk', mustBe('1:1: state', 'memory, file:PATH or postgres://…', 'disk')],
  ['- port', '1:1: The file must be a map of options.'],
  ['port: 1\nport: 2', `2:1: ${notValid('YAML')}: The key "port" appears twice, first on line 1. Remove one of them.`],
  ['\tport: 1', `1:1: ${notValid('YAML')}: Tabs are not allowed as indentation.`],
  [
    'models: [1\nport: 2',
    `2:1: ${notValid('YAML')}: Flow sequence in block collection must be sufficiently indented and end with a ].`,
  ],
  [
    'seed: 1\nport: *there',
    '2:7: The anchor of this alias is not set before it. A text that begins with * must be quoted.',
  ],
  [
    'seed: 1\nhost: ${NOT_SET}',
    '2:7: The environment variable NOT_SET is not set. Set it, or write ${NOT_SET:-default}.',
  ],
  ['host: ${}', '1:7: The text between ${ and } is not the name of a variable. Write ${NAME} or ${NAME:-default}.'],
])('%j is reported with its position', (yaml, complaint) => {
  expect(complaintsAbout({ yaml })).toEqual([`platform.config.yaml:${complaint}`])
})

test('a wrong value from a variable is reported at its position in the file', () => {
  expect(complaintsAbout({ yaml: 'seed: 1\nport: ${P}\n', env: { P: 'x' } })).toEqual([
    mustBe('platform.config.yaml:2:1: port', wholeNumber(0, 65535), 'x'),
  ])
})

test('all problems are reported at once, by line, those from outside the file first', () => {
  const yaml = 'mod: emulate\nport: x\npace:\n  firstTokenMs: y\n  speed: 1\nmodels: [{}, 3]\n'
  const env = { STANDIN_SEED: 'q', STANDIN_HOTS: '1' }
  const flags = [{ path: ['state'], value: 'disk', origin: '--state' }]
  expect(complaintsAbout({ yaml, env, flags })).toEqual([
    `STANDIN_HOTS: This environment variable is not known.${didYouMean('STANDIN_HOST')}`,
    mustBe('STANDIN_SEED: seed', wholeNumber(0, 2147483647), 'q'),
    mustBe('--state: state', 'memory, file:PATH or postgres://…', 'disk'),
    `platform.config.yaml:1:1: mod ${isUnknown('mode')}`,
    mustBe('platform.config.yaml:2:1: port', wholeNumber(0, 65535), 'x'),
    mustBe('platform.config.yaml:4:3: pace.firstTokenMs', range('milliseconds', 0, 600000), 'y'),
    `platform.config.yaml:5:3: pace.speed ${isUnknown()} Known: firstTokenMs, tokensPerSecond, jitter.`,
    isMissing('platform.config.yaml:6:10: models[0].id', 'a string'),
    unquoted(mustBe('platform.config.yaml:6:14: models[1]', MODEL, 3)),
  ])
})

test('an unset variable neither hides other problems nor causes further ones', () => {
  const yaml = 'port: x\nseed: &s ${SEED}\nhost: *s\napiKeys: [{ name: a, key: "${KEY}" }]\nmode: ${MODE}\n'
  const notSet = (name: string) => `The environment variable ${name} is not set. Set it, or write \${${name}:-default}.`
  expect(complaintsAbout({ yaml })).toEqual([
    mustBe('platform.config.yaml:1:1: port', wholeNumber(0, 65535), 'x'),
    `platform.config.yaml:2:10: ${notSet('SEED')}`,
    `platform.config.yaml:4:27: ${notSet('KEY')}`,
    `platform.config.yaml:5:7: ${notSet('MODE')}`,
  ])
})

test('a file that is nothing but a variable that is not set says so', () => {
  expect(complaintsAbout({ yaml: '${CONFIG}' })).toEqual([
    'platform.config.yaml:1:1: The environment variable CONFIG is not set. Set it, or write ${CONFIG:-default}.',
  ])
})

const asJson = ' In the environment, write it as JSON, with quotes around names and texts.'

test.each([
  [{ STANDIN_PRT: '1' }, `STANDIN_PRT: This environment variable is not known.${didYouMean('STANDIN_PORT')}`],
  [{ STANDIN_TELEMETRY: '1' }, 'STANDIN_TELEMETRY: This environment variable is not known.'],
  [
    { STANDIN_ACCESS_CHAT: 'anyone' },
    `STANDIN_ACCESS_CHAT: This environment variable is not known.${didYouMean('STANDIN_ACCESS')}`,
  ],
  [
    { STANDIN_ACCESS: '{chat: anyone}' },
    `${mustBe('STANDIN_ACCESS: access', 'a map from endpoints to who may call them', '{chat: anyone}')}${asJson}`,
  ],
  [{ STANDIN_USERS: '[{email: a@b.c}]' }, `${mustBe('STANDIN_USERS: users', 'a list of users')}${asJson}`],
  [{ STANDIN_PORT: 'x' }, mustBe('STANDIN_PORT: port', wholeNumber(0, 65535), 'x')],
  [{ STANDIN_PORT: '' }, mustBe('STANDIN_PORT: port', wholeNumber(0, 65535), '')],
  [
    { STANDIN_CORS_ORIGINS: 'auto,page' },
    mustBe('STANDIN_CORS_ORIGINS: cors.origins', 'auto, "*" or a list of origins', 'auto,page'),
  ],
])('a problem in the environment is reported with the name of the variable: %o', (env, complaint) => {
  expect(complaintsAbout({ env })).toEqual([complaint])
})

test('an unknown variable in .env is reported as well', () => {
  expect(complaintsAbout({ files: { '.env': 'STANDIN_PROT=1\nOTHER=2\n' } })).toEqual([
    `STANDIN_PROT: This environment variable is not known.${didYouMean('STANDIN_PORT')}`,
  ])
})

test('a flag with a wrong value is reported by name', () => {
  expect(complaintsAbout({ yaml: 'port: 1\n', flags: [portFlag('x')] })).toEqual([
    mustBe('--port: port', wholeNumber(0, 65535), 'x'),
  ])
})

test('a named file must exist', () => {
  expect(complaintsAbout({ file: 'missing.yaml' })).toEqual([`missing.yaml: ${cannotBeRead()}`])
})

test('a folder is refused as a configuration file', () => {
  expect(complaintsAbout({ files: { 'platform.config.yaml/a': '' } })).toEqual([
    `platform.config.yaml: ${cannotBeRead('EISDIR')}`,
  ])
})

test('problems in a file with another name are reported under that name', () => {
  const files = { 'sub/my.yaml': '- port', 'sub/your.yaml': 'prot: 1' }
  expect(complaintsAbout({ files, file: 'sub/your.yaml' })).toEqual([`sub/your.yaml:1:1: prot ${isUnknown('port')}`])
  expect(complaintsAbout({ files, file: 'sub/my.yaml' })).toEqual([
    'sub/my.yaml:1:1: The file must be a map of options.',
  ])
})

test('a folder named .env, as Python creates it, is ignored', () => {
  const dir = folderWith()
  mkdirSync(path.join(dir, '.env'))
  writeFileSync(path.join(dir, '.env', 'pyvenv.cfg'), '')
  expect(load({ cwd: dir }).config.port).toBe(4100)
})

test('a second document in the file is reported without internals of the parser', () => {
  const [complaint, ...more] = complaintsAbout({ yaml: 'port: 1\n---\nport: 2\n' })
  expect(more).toEqual([])
  expect(complaint).toMatch(/^platform\.config\.yaml:2:1: This is not valid YAML: /)
  expect(complaint).not.toContain('parseAllDocuments')
})

test('a model that contains itself is reported as a problem', () => {
  const complaints = complaintsAbout({ yaml: 'models: &loop\n  - id: a\n    more: *loop\n' })
  expect(complaints).toEqual([expect.stringMatching(/^platform\.config\.yaml:\d/)])
})

const secret = 'hush-hush'

test.each([
  `apiKeys: ${secret}`,
  `apiKeys: [${secret}]`,
  `apiKeys: { name: a, key: ${secret} }`,
  `apiKeys: [{ name: a, key: [${secret}] }]`,
  `apiKeys: [{ name: a, key: "${secret} ${secret}" }]`,
  `auth: ${secret}`,
  `auth: { jwtSecret: ${secret} }`,
  `auth: { jwtSecret: [${secret}] }`,
  `upstream: ${secret}`,
  `upstream: { apiKey: { value: ${secret} } }`,
  `upstream: { anonKey: [${secret}] }`,
])('a secret in the wrong place is not repeated: %s', yaml => {
  const complaints = complaintsAbout({ yaml })
  expect(complaints).toHaveLength(1)
  expect(complaints.join()).not.toContain(secret)
})

test.each(['STANDIN_API_KEYS', 'STANDIN_AUTH_JWT_SECRET'])('a secret in %s is not repeated either', name => {
  const complaints = complaintsAbout({ env: { [name]: secret } })
  expect(complaints).toEqual([expect.stringMatching(`^${name}: `)])
  expect(complaints.join()).not.toContain(secret)
})

test.each([
  ['nothing', {}, 0, 'code'],
  ['the file, even with the usual default', { yaml: 'recordings: { speed: 1 }\n' }, 1, 'platform.config.yaml:1'],
  ['the environment', { env: { STANDIN_RECORDINGS_SPEED: '3' } }, 3, 'STANDIN_RECORDINGS_SPEED'],
  ['a flag', { flags: [{ path: ['recordings', 'speed'], value: 2, origin: '--speed' }] }, 2, '--speed'],
])('a replay that nobody watches does not pause, unless a speed is set: %s', (_, sources, speed, origin) => {
  const { config, originOf } = load({ defaults: [fastReplay('code')], ...sources })
  expect([config.recordings.speed, originOf(['recordings', 'speed'])]).toEqual([speed, origin])
})
