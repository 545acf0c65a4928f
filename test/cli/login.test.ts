import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../src/index.js'
import { readSession, saveSession } from '../../src/supabase/session-file.js'
import { folderWith, run } from '../command.js'
import { liveOnSocket } from '../http/live.js'
import { written } from '../keys/edited.js'
import { type Place, userOf } from '../keys/people.js'
import { platformWith } from '../scene.js'
import { takesNoMore, WRONG_LOGIN } from '../sentences.js'
import { hasTerminals, startOnTerminal } from '../terminal.js'

const ada = { id: '8a1e6a3e-8d5b-4c61-9a39-3f1c2a7d9b10', email: 'ada@example.com', password: 'correct-horse' }
const bob = { email: 'bob@example.com', password: 'battery-staple' }

/** A live auth backend, and a home folder from which a user signs in to it. */
async function home(options: ConfigInput = {}) {
  const live = await platformWith({ users: [ada, bob], ...options })
  const folder = folderWith()
  const file = path.join(folder, 'standin', 'sessions.json')
  const { authUrl, anonKey } = live
  const scene = { files: written({ upstream: { authUrl, anonKey } }), env: { XDG_CONFIG_HOME: folder } }
  const login = ({ email, password }: { email: string; password: string }) =>
    run(['login', '--email', email, '--password-stdin'], { ...scene, input: `${password}\n` })
  return { live, file, scene, login, logout: () => run(['logout'], scene), kept: () => readSession(file, authUrl) }
}

const session = (email: string) =>
  ({ email, accessToken: 'a', refreshToken: 'r', expiresAt: '2026-01-01T00:00:00.000Z' }) as const

const userIdOf = (live: Place, token: string | undefined) => userOf(live, token ?? '')

test('signing in prints the user, the backend and the file, and the session works', async () => {
  const { live, file, login, kept } = await home()
  expect(await login(ada)).toEqual({
    code: 0,
    signal: null,
    stdout: `Signed in to ${live.authUrl} as ada@example.com. The session is stored in ${file}.\n`,
    stderr: '',
  })
  expect(await userIdOf(live, kept()?.accessToken)).toBe(ada.id)
  expect(Date.parse(kept()?.expiresAt ?? '')).toBeGreaterThan(Date.now() + 3_500_000)
})

test.skipIf(process.platform === 'win32')(
  'only its owner can read the session file, and no other file is left behind',
  async () => {
    const { file, login } = await home()
    await login(ada)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
    expect(readdirSync(path.dirname(file))).toEqual(['sessions.json'])
  },
)

test('the password is not stored', async () => {
  const { file, login } = await home()
  await login(ada)
  expect(readFileSync(file, 'utf8')).not.toContain(ada.password)
})

test('signing in again replaces the first session', async () => {
  const { login, kept } = await home()
  await login(ada)
  await login(bob)
  expect(kept()?.email).toBe('bob@example.com')
})

test('sessions at other live backends stay', async () => {
  const { file, login, logout } = await home()
  const other = session('eve@example.com')
  saveSession(file, 'https://other.test', other)
  await login(ada)
  await logout()
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ 'https://other.test': other })
})

test('a wrong password is refused in the words of the live backend, and the earlier session stays', async () => {
  const { live, login, kept } = await home()
  await login(ada)
  expect(await login({ ...bob, password: 'wrong' })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `Signing in to ${live.authUrl} failed: ${WRONG_LOGIN}\n`,
  })
  expect(kept()?.email).toBe('ada@example.com')
})

test('an unreachable live backend is reported in a sentence', async () => {
  const { live, file, login } = await home()
  await live.stop()
  expect(await login(ada)).toMatchObject({
    code: 1,
    stderr: `Signing in to ${live.authUrl} failed: ECONNREFUSED\n`,
  })
  expect(existsSync(file)).toBe(false)
})

test('a failing live backend is reported with its status', async () => {
  const { live, login } = await home()
  live.failNext({ status: 503 }, { path: '/auth/v1/token' })
  expect(await login(ada)).toMatchObject({ code: 1, stderr: `Signing in to ${live.authUrl} failed: status 503\n` })
})

test('signing out ends the session at the live backend and deletes it here', async () => {
  const { live, login, logout, kept } = await home()
  await login(ada)
  const { accessToken } = kept() ?? {}
  expect(await logout()).toMatchObject({
    code: 0,
    stdout: `Signed out of ${live.authUrl}, where ada@example.com was signed in.\n`,
    stderr: '',
  })
  expect(kept()).toBeUndefined()
  expect(await userIdOf(live, accessToken)).toBe('403 session_not_found')
  expect(await logout()).toMatchObject({ code: 0, stdout: `You are not signed in to ${live.authUrl}.\n` })
})

test('signing out works even if the live backend is unreachable', async () => {
  const { live, file, logout, kept } = await home()
  // Stored directly: signing in would keep a connection open, whose error depends on how far it has closed.
  saveSession(file, live.authUrl, session(ada.email))
  await live.stop()
  expect(await logout()).toMatchObject({
    code: 0,
    stderr: `${live.authUrl} could not end the session (ECONNREFUSED). It will expire there.\n`,
  })
  expect(kept()).toBeUndefined()
})

test('a live backend that closes the connection is reported in words', async () => {
  const url = await liveOnSocket(socket => socket.destroy())
  const files = written({ upstream: { authUrl: url, anonKey: 'anon' } })
  expect(await run(['login', '--email', ada.email, '--password-stdin'], { files, input: ada.password })).toMatchObject({
    code: 1,
    stderr: `Signing in to ${url} failed: other side closed\n`,
  })
})

test('a path that is not a folder is reported in a sentence, and no session is kept', async () => {
  const { live, scene } = await home()
  const env = { XDG_CONFIG_HOME: path.resolve('package.json') }
  const args = ['login', '--email', ada.email, '--password-stdin']
  const { code, stderr } = await run(args, { ...scene, env, input: `${ada.password}\n` })
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/sessions\.json cannot be used \(ENOTDIR\)\.\n$/),
  })
  expect(await run(['logout'], { ...scene, env })).toMatchObject({
    ...{ code: 0, stderr: '' },
    stdout: `You are not signed in to ${live.authUrl}.\n`,
  })
})

test.skipIf(process.platform === 'win32')('a session file that others can read is not used', async () => {
  const { file, login } = await home()
  await login(ada)
  chmodSync(file, 0o644)
  expect(await login(ada)).toMatchObject({
    code: 1,
    stderr: `Others can read ${file}, so it is not used. Run chmod 600 on it, or delete it and sign in again.\n`,
  })
})

test('an invalid session file is reported and not overwritten', async () => {
  const { file, login } = await home()
  await login(ada)
  writeFileSync(file, '{"https:')
  expect(await login(ada)).toMatchObject({
    code: 1,
    stderr: `${file} is not a session file of standin login. Delete it and sign in again.\n`,
  })
  expect(readFileSync(file, 'utf8')).toBe('{"https:')
})

test.each([
  [
    ['login'],
    {},
    'standin login needs upstream.authUrl and upstream.anonKey in the configuration: the live auth backend.',
  ],
  [
    ['logout'],
    { authUrl: 'https://live.test' },
    'standin logout needs upstream.anonKey in the configuration: the live auth backend.',
  ],
  [
    ['login'],
    { authUrl: 'https://live.test', anonKey: 'anon' },
    'There is no terminal to ask for a password. Use --email and --password-stdin.',
  ],
  [
    ['login', '--password-stdin'],
    { authUrl: 'https://live.test', anonKey: 'anon' },
    '--password-stdin needs --email, because standard input contains only the password.',
  ],
  [
    ['login', '--password-stdin', '--email', 'a@b.test'],
    { authUrl: 'https://live.test', anonKey: 'anon' },
    'There is no password on standard input.',
  ],
  [['login', '--password', 'secret'], {}, 'The flag --password belongs to standin verify.'],
  [['login', 'ada'], {}, takesNoMore('login', 'ada')],
])('%j with %j is refused in a sentence', async (args, upstream, sentence) => {
  expect(await run(args, { files: written({ upstream }) })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `${sentence} See standin ${args[0]} --help.\n`,
  })
})

test.runIf(hasTerminals)('on a terminal it prompts, and the password is not shown', async () => {
  const { live, scene, kept } = await home()
  const terminal = startOnTerminal(['login'], scene)
  await terminal.shows('Email: ')
  terminal.type('ada@example.com\r')
  await terminal.shows('Password: ')
  terminal.type(`${ada.password}\r`)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen).toContain(`Signed in to ${live.authUrl} as ada@example.com.`)
  expect(terminal.screen).not.toContain(ada.password)
  // The prompt is redrawn with the typed text, and no empty line is left.
  expect(terminal.screen).toContain('\u001b[0JEmail: ')
  expect(terminal.screen).toMatch(/Password: \r?\n[^\r\n]*Signed in/)
  expect(await userIdOf(live, kept()?.accessToken)).toBe(ada.id)
})

test.runIf(hasTerminals).each(['\u0003', '\u0004'])('%j at the password cancels signing in', async key => {
  const { file, scene } = await home()
  const terminal = startOnTerminal(['login', '--email', 'ada@example.com'], scene)
  await terminal.shows('Password: ')
  terminal.type(key)
  expect(await terminal.ended).toBe(1)
  expect(terminal.screen).toContain('Signing in was cancelled.')
  expect(existsSync(file)).toBe(false)
})

test.runIf(hasTerminals)('both answers can be pasted at once, and the password is still not shown', async () => {
  const { live, scene, kept } = await home()
  const terminal = startOnTerminal(['login'], scene)
  await terminal.shows('Email: ')
  terminal.type(`ada@example.com\r${ada.password}\r`)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen).not.toContain(ada.password)
  expect(await userIdOf(live, kept()?.accessToken)).toBe(ada.id)
})
