import path from 'node:path'
import { expect, test } from 'vitest'
import { developmentUser } from '../../src/core/secrets.js'
import type { ConfigInput } from '../../src/index.js'
import { type Files, folderWith, type Ready, run, startReady } from '../command.js'
import { platformOf, written } from '../keys/edited.js'
import {
  adminOf,
  answerOf,
  claimsOf,
  clientOf,
  headerOf,
  type Place,
  sentences,
  signIn,
  signUp,
  userOf,
} from '../keys/people.js'
import { platformWith } from '../scene.js'
import { flagOneOf, flagWhole, isUnknown } from '../sentences.js'
import { keyFile, newKey, ownKeys } from '../supabase/signing-keys.js'

const ada = { email: 'ada@example.com', password: 'correct-horse' }
const bob = { email: 'bob@example.com', password: 'battery-staple' }
const working = { name: 'working', key: 'sk-local-working' }

interface Server {
  readonly ready: Pick<Ready, 'url' | 'authUrl' | 'apiKey' | 'anonKey' | 'serviceKey'>
  readonly dir: string
  /** What the command prints in the folder of the server, without the line break. */
  minted(...args: readonly string[]): Promise<string>
}

const inFile = { state: 'file:kept/state.db' }

/** A running platform with a state file that the command opens as well. */
async function server(options: ConfigInput = {}, files?: Files): Promise<Server> {
  const { platform, dir } = await platformOf({ ...inFile, ...options }, files)
  return serverOf(platform, dir)
}

const serverOf = (ready: Server['ready'], dir: string): Server => ({
  ready,
  dir,
  minted: (...args) => printed(...args, '--config', path.join(dir, 'platform.config.yaml')),
})

/** What a successful command prints: one line and nothing else. */
async function printed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^\S+\n$/)
  return stdout.trimEnd()
}

const stateOf = ({ dir }: Server) => `file:${path.join(dir, 'kept/state.db')}`

async function usersOf(place: Place) {
  const { data, error } = await adminOf(place).listUsers()
  if (error) throw error
  return data.users
}

const addressesOf = async (place: Place) => (await usersOf(place)).map(({ email }) => email).sort()

/** The keys in a user's list on the dashboard. */
async function keysOf({ url }: Pick<Place, 'url'>, token: string) {
  const response = await fetch(`${url}/dashboard/api/keys`, { headers: { authorization: `Bearer ${token}` } })
  return ((await response.json()) as { data: readonly { name: string; expires_at: string | null }[] }).data
}

const secondsOf = (token: string) => {
  const { iat = 0, exp = 0 } = claimsOf(token)
  return exp - iat
}

test('a token works immediately at a running platform and its auth backend, and carries a session', async () => {
  const { ready, dir } = await startReady({ files: written(inFile) })
  const { minted } = serverOf(ready, dir)
  const token = await minted('token')
  expect(claimsOf(token)).toMatchObject({
    email: developmentUser.email,
    role: 'authenticated',
    aud: 'authenticated',
    aal: 'aal1',
    session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    amr: [{ method: 'password', timestamp: expect.any(Number) }],
  })
  expect(await answerOf(ready, token)).toBe('open')
  expect(await userOf(ready, token)).toBe(claimsOf(token).sub)
})

test('a user who does not exist yet is created and confirmed, and reused the next time', async () => {
  const { ready, minted } = await server()
  const first = await minted('token', '--email', 'Grace@example.com')
  const second = await minted('token', '--email', 'grace@example.com')
  expect(claimsOf(second).sub).toBe(claimsOf(first).sub)
  expect((await usersOf(ready)).filter(({ email }) => email === 'grace@example.com')).toHaveLength(1)
  expect((await adminOf(ready).getUserById(String(claimsOf(first).sub))).data.user).toMatchObject({
    email_confirmed_at: expect.any(String),
    last_sign_in_at: expect.any(String),
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { email: 'grace@example.com', email_verified: true },
    identities: [{ provider: 'email', identity_data: { email: 'grace@example.com' } }],
  })
})

test('a configured user and one who signed up keep their ids and metadata', async () => {
  const seed = { ...ada, user_metadata: { name: 'Ada' }, app_metadata: { plan: 'pro' } }
  const { ready, minted } = await server({ users: [seed] })
  const [configured, newcomer] = [await signIn(ready, ada), await signUp(ready, bob.email, bob.password)]
  const token = await minted('token', '--email', 'ADA@example.com')
  expect(claimsOf(token)).toMatchObject({
    sub: configured.id,
    user_metadata: { name: 'Ada' },
    app_metadata: { plan: 'pro' },
  })
  expect(claimsOf(await minted('token', '--email', bob.email)).sub).toBe(newcomer.id)
  for (const { token } of [configured, newcomer]) expect(await answerOf(ready, token)).toBe('open')
  expect((await signIn(ready, ada)).id).toBe(configured.id)
})

test('a configured user has the same id before and after the first start of a platform', async () => {
  const dir = folderWith(written({ state: 'file:kept/state.db', users: [ada] }))
  const token = await printed('token', '--email', ada.email, '--config', path.join(dir, 'platform.config.yaml'))
  const platform = await startReady({ flags: ['--config', path.join(dir, 'platform.config.yaml')] })
  expect((await signIn(platform.ready, ada)).id).toBe(claimsOf(token).sub)
  expect(await answerOf(platform.ready, token)).toBe('open')
})

test('a key works immediately at the running platform, and has an owner only with --email', async () => {
  const { ready, minted } = await server({ users: [ada] })
  const { token, id } = await signIn(ready, ada)
  const ownerless = await minted('key', 'create')
  const hers = await minted('key', 'create', '--email', ada.email, '--name', 'made for CI', '--expires-in', '600')
  for (const key of [ownerless, hers]) {
    expect(key).toMatch(/^sk-local-\w{38}$/)
    expect(await answerOf(ready, key)).toBe('open')
  }
  const listed = await keysOf(ready, token)
  expect(listed).toMatchObject([{ name: 'made for CI', expires_at: expect.any(String) }])
  const leftMs = Date.parse(listed[0]?.expires_at ?? '') - Date.now()
  expect(leftMs).toBeGreaterThan(500_000)
  expect(leftMs).toBeLessThanOrEqual(600_000)
  await adminOf(ready).updateUserById(id, { ban_duration: '1h' })
  expect(await answerOf(ready, hers)).toBe(sentences.ownerless)
  expect(await answerOf(ready, ownerless)).toBe('open')
})

test('a key for a user who does not exist is refused in a sentence that says what to do', async () => {
  const running = await server({ users: [ada] })
  const { code, stdout, stderr } = await run(['key', 'create', '--email', bob.email, '--state', stateOf(running)])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toBe('There is no user bob@example.com. Sign up first, or add the user to the configuration.\n')
  expect(await addressesOf(running.ready)).toEqual([ada.email])
})

/** Commands with another configuration or none, for a server with users and keys of its own. */
const foreign: readonly (readonly [string, readonly string[], ConfigInput | undefined])[] = [
  ['a token without a configuration', ['token', '--email', 'grace@example.com'], undefined],
  [
    'a key with another configuration of its user',
    ['key', 'create', '--email', ada.email],
    { users: [{ ...ada, password: 'other' }, bob], apiKeys: [{ name: 'b', key: 'sk-b' }] },
  ],
]

test.each(foreign)('creating %s changes nothing else of a running platform', async (_what, args, options) => {
  const running = await server({ users: [ada], apiKeys: [working] })
  const { ready } = running
  const person = await signIn(ready, ada)
  const before = await usersOf(ready)
  const config = options ? ['--config', path.join(folderWith(written(options)), 'platform.config.yaml')] : []
  const made = await printed(...args, ...config, '--state', stateOf(running))
  for (const credential of [made, working.key, person.token]) expect(await answerOf(ready, credential)).toBe('open')
  expect((await usersOf(ready)).filter(({ email }) => email !== 'grace@example.com')).toEqual(before)
  expect((await signIn(ready, ada)).id).toBe(person.id)
  expect(await answerOf(ready, 'sk-b')).toBe(sentences.unknownKey)
})

test.each([
  ['no configuration', false],
  ["the server's own configuration", true],
])('standin token without --email adds no user with a public password: with %s', async (_what, own) => {
  const running = await server({ users: [ada] })
  const config = own ? ['--config', path.join(running.dir, 'platform.config.yaml')] : []
  await run(['token', '--state', stateOf(running), ...config])
  const { error } = await clientOf(running.ready, running.ready.anonKey).auth.signInWithPassword(developmentUser)
  expect(error?.code).toBe('invalid_credentials')
})

test('with the state in memory, a token has no session, but the id of the configured user', async () => {
  const options = { state: 'memory', users: [ada] }
  const config = path.join(folderWith(written(options)), 'platform.config.yaml')
  const token = await printed('token', '--email', ada.email, '--config', config)
  expect(claimsOf(token)).not.toHaveProperty('session_id')
  const elsewhere = await platformWith(options)
  expect((await signIn(elsewhere, ada)).id).toBe(claimsOf(token).sub)
  expect(await answerOf(elsewhere, token)).toBe('open')
  expect(await userOf(elsewhere, token)).toBe(claimsOf(token).sub)
})

test('with the state in memory, standin key create is refused, since the key would be lost', async () => {
  const { code, stdout, stderr } = await run(['key', 'create', '--state', 'memory'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^The state is kept in memory, .* Add a key to apiKeys in the configuration\./)
  expect(stderr.trimEnd()).not.toContain('\n')
})

test('the anon and the service key are those of the running platform', async () => {
  const { ready, minted } = await server()
  expect(await minted('token', '--role', 'anon')).toBe(ready.anonKey)
  expect(await minted('token', '--role', 'service')).toBe(ready.serviceKey)
})

test.each(['anon', 'service', 'user'])('a token of the role %s expires as its flags say', async role => {
  const { ready, minted } = await server()
  const token = await minted('token', '--role', role, '--expires-in', '600')
  expect(await answerOf(ready, token, '/api/v1')).toBe('open')
  const { exp = 0 } = claimsOf(token)
  expect(Math.abs(exp - Date.now() / 1000 - 600)).toBeLessThan(60)
  expect(await answerOf(ready, await minted('token', '--role', role, '--expired'), '/api/v1')).toBe(sentences.expired)
})

test('without --expires-in a user token lives as long as auth.jwtExp says', async () => {
  const { minted } = await server({ auth: { jwtExp: 120 } })
  expect(secondsOf(await minted('token'))).toBe(120)
})

test('tokens are signed with the configured keys, as those of the platform are', async () => {
  const { ready, minted } = await server(ownKeys, keyFile(newKey('RS256', 'mine', { signs: true })))
  const token = await minted('token')
  expect(headerOf(token)).toMatchObject({ alg: 'RS256', kid: 'mine' })
  expect(await answerOf(ready, token)).toBe('open')
  expect(await minted('token', '--role', 'service')).toBe(ready.serviceKey)
})

const mistakes: readonly (readonly [readonly string[], string])[] = [
  [['token', '--role', 'admin'], flagOneOf('--role', ['anon', 'service', 'user'], 'admin')],
  [
    ['token', '--role', 'anon', '--email', 'ada@example.com'],
    '--email is for user tokens: leave it out with --role anon.',
  ],
  [['token', '--email', 'ada'], '--email must be an email address, not "ada".'],
  [['token', '--expires-in', '0'], flagWhole('--expires-in', 1, 9999999999, '0')],
  [['token', '--expires-in', '1h'], flagWhole('--expires-in', 1, 9999999999, '1h')],
  [['token', '--expires-in', '60', '--expired'], 'Give --expires-in or --expired, not both.'],
  [['key', 'create', '--name', ' '], '--name must not be empty.'],
  [
    ['config', 'check', '--email', 'a@b.co'],
    'The flag --email belongs to standin verify, standin token and standin key create.',
  ],
]

test.each(mistakes)('%j is refused in a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await run(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toBe(`${sentence} See standin ${args[0]} --help.\n`)
})

test.each([['token'], ['key', 'create']])(
  'a mistake in the configuration stops `standin %s %s` with its line',
  async (...words) => {
    const args = words.filter(word => word !== undefined)
    const { code, stdout, stderr } = await run(args, { files: { 'platform.config.yaml': 'modles: []\n' } })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(`platform.config.yaml:1:1: modles ${isUnknown('models')}\n`)
  },
)

test('standin token is refused when users belong to a live backend', async () => {
  const files = written({ auth: { mode: 'proxy' }, upstream: { authUrl: 'https://live.test' } })
  const { code, stdout, stderr } = await run(['token'], { files })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toBe(
    'auth.mode is proxy: users and their tokens are those of the live backend. See standin token --help.\n',
  )
})

test('a state that cannot be opened is reported in a sentence, without a stack trace', async () => {
  const dir = folderWith({ 'state.db': 'not a database at all, but long enough to be looked at as one' })
  for (const words of [['token'], ['key', 'create']]) {
    const { code, stdout, stderr } = await run([...words, '--state', `file:${dir}/state.db`])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^The state cannot be kept in [^\n]+ is not a database of Standin[^\n]+\n$/)
  }
})

test.each([
  ['banned', (place: Place, id: string) => adminOf(place).updateUserById(id, { ban_duration: '1h' })],
  ['soft-deleted', (place: Place, id: string) => adminOf(place).deleteUser(id, true)],
])('a command does not bring back a user who was %s', async (_how, end) => {
  const { ready, minted, dir } = await server({ users: [ada] })
  const { id } = await signIn(ready, ada)
  expect((await end(ready, id)).error).toBeNull()
  const config = path.join(dir, 'platform.config.yaml')
  const token = (await run(['token', '--email', ada.email, '--config', config])).stdout.trim()
  if (token !== '' && claimsOf(token).sub === id) expect(await answerOf(ready, token)).toBe(sentences.barred)
  expect(await answerOf(ready, await minted('key', 'create'))).toBe('open')
  const { error } = await clientOf(ready, ready.anonKey).auth.signInWithPassword(ada)
  expect(error?.code).toMatch(/^(user_banned|invalid_credentials)$/)
})

test('concurrent commands on the state of a running platform all succeed, and create each user once', async () => {
  const { ready, minted } = await server()
  const credentials = await Promise.all([
    minted('token', '--email', 'grace@example.com'),
    minted('token', '--email', 'grace@example.com'),
    minted('token'),
    minted('key', 'create'),
    minted('key', 'create'),
  ])
  for (const credential of credentials) expect(await answerOf(ready, credential)).toBe('open')
  expect(new Set(credentials).size).toBe(5)
  expect(await addressesOf(ready)).toEqual([developmentUser.email, 'grace@example.com'])
})
