import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createLiveSession,
  type LiveRefreshResult,
  type LiveSessionParts,
  refreshAt,
} from '../../src/supabase/live-session.js'
import { readSession, type StoredSession, saveSession, sessionsFile } from '../../src/supabase/session-file.js'
import { folderWith } from '../command.js'
import { signUp, userOf } from '../keys/people.js'
import { platformWith } from '../scene.js'

const HOUR_MS = 3_600_000

/** A user who has signed in to a live backend, and a clock that the test moves. */
async function signedIn(parts: Partial<LiveSessionParts> = {}) {
  const live = await platformWith()
  const { authUrl, anonKey } = live
  const person = await signUp(live)
  const file = path.join(folderWith(), 'standin', 'sessions.json')
  const clock = { aheadMs: 0 }
  const reports: string[] = []
  const backend = { authUrl, anonKey, timeoutMs: 5000 }
  const original: StoredSession = {
    email: person.email,
    accessToken: person.token,
    refreshToken: person.refreshToken,
    expiresAt: new Date(Date.now() + HOUR_MS).toISOString(),
  }
  saveSession(file, authUrl, original)
  /** The session as one process sees it. */
  const open = (more: Partial<LiveSessionParts> = {}) =>
    createLiveSession({
      ...{ file, ...backend, now: () => Date.now() + clock.aheadMs, report: sentence => void reports.push(sentence) },
      ...{ ...parts, ...more },
    })
  return { live, person, file, clock, reports, backend, original, open, kept: () => readSession(file, authUrl) }
}

/** Just before the token expires, when it could do so in flight. */
const ALMOST_MS = HOUR_MS - 30_000

/** A refresh that answers only when the test says so. */
function heldRefresh() {
  let start = () => {}
  let answer: (refreshed: LiveRefreshResult) => void = () => {}
  const isStarted = new Promise<void>(resolve => {
    start = resolve
  })
  const refresh = () => {
    start()
    return new Promise<LiveRefreshResult>(resolve => {
      answer = resolve
    })
  }
  return { refresh, isStarted, answer: (refreshed: LiveRefreshResult) => answer(refreshed) }
}

const refused: LiveRefreshResult = { kind: 'refused', why: 'Invalid Refresh Token: Already Used' }

test('the token of a signed-in user is available at once', async () => {
  const { open, person, reports } = await signedIn()
  expect(open().token()).toBe(person.token)
  expect(reports).toEqual([])
})

test('before a sign-in there is no token, and nothing to report', async () => {
  const { open, file, reports } = await signedIn()
  expect(open({ authUrl: 'https://other.test' }).token()).toBeUndefined()
  expect(open({ file: path.join(file, '..', 'elsewhere.json') }).token()).toBeUndefined()
  expect(reports).toEqual([])
})

test('a trailing slash in the URL makes no difference', async () => {
  const { open, backend, person } = await signedIn()
  expect(open({ authUrl: `${backend.authUrl}/` }).token()).toBe(person.token)
})

test('a token that is about to expire is renewed and stored', async () => {
  const { open, clock, live, person, original, kept, reports } = await signedIn()
  clock.aheadMs = ALMOST_MS
  const session = open()
  const token = await session.token()
  expect(token).not.toBe(person.token)
  expect(await userOf(live, String(token))).toBe(person.id)
  expect(kept()).toMatchObject({ email: person.email, accessToken: token })
  expect(kept()?.refreshToken).not.toBe(original.refreshToken)
  expect(Date.parse(kept()?.expiresAt ?? '') - Date.now()).toBeGreaterThan(2 * HOUR_MS - 60_000)
  expect(session.token()).toBe(token)
  expect(reports).toEqual([])
})

test('a session is renewed repeatedly, always with the latest refresh token', async () => {
  const { open, clock, live, person } = await signedIn()
  const session = open()
  const tokens = new Set<unknown>()
  for (let hour = 1; hour <= 4; hour++) {
    clock.aheadMs = hour * HOUR_MS
    tokens.add(await session.token())
  }
  expect(tokens.size).toBe(4)
  for (const token of tokens) expect(await userOf(live, String(token))).toBe(person.id)
})

test('concurrent callers share one renewal', async () => {
  const { open, clock, backend } = await signedIn()
  clock.aheadMs = ALMOST_MS
  let renewals = 0
  const refresh = (refreshToken: string) => {
    renewals++
    return refreshAt(backend)(refreshToken)
  }
  const session = open({ refresh })
  const tokens = await Promise.all(Array.from({ length: 20 }, () => session.token()))
  expect(new Set(tokens).size).toBe(1)
  expect(renewals).toBe(1)
})

test('a new sign-in is picked up', async () => {
  const { open, file, backend, live } = await signedIn()
  const session = open()
  session.token()
  const bob = await signUp(live, 'bob@example.com')
  saveSession(file, backend.authUrl, {
    email: bob.email,
    accessToken: bob.token,
    refreshToken: bob.refreshToken,
    expiresAt: new Date(Date.now() + HOUR_MS).toISOString(),
  })
  expect(session.token()).toBe(bob.token)
})

test('a token that another process has renewed is picked up', async () => {
  const { open, clock } = await signedIn()
  const [ours, theirs] = [open({ refresh: async () => refused }), open()]
  ours.token()
  clock.aheadMs = ALMOST_MS
  const token = await theirs.token()
  expect(ours.token()).toBe(token)
})

test('when another process renews the session first, its token is used', async () => {
  const { open, clock, reports } = await signedIn()
  clock.aheadMs = ALMOST_MS
  const { refresh, isStarted, answer } = heldRefresh()
  const ours = open({ refresh }).token()
  await isStarted
  const token = await open().token()
  answer(refused)
  expect(await ours).toBe(token)
  expect(reports).toEqual([])
})

test('a sign-out during a renewal is not undone', async () => {
  const { open, clock, file, backend, kept } = await signedIn()
  clock.aheadMs = ALMOST_MS
  const { refresh, isStarted, answer } = heldRefresh()
  const token = open({ refresh }).token()
  await isStarted
  saveSession(file, backend.authUrl, undefined)
  answer({ kind: 'renewed', accessToken: 'a', refreshToken: 'r', lifeMs: HOUR_MS })
  expect(await token).toBeUndefined()
  expect(kept()).toBeUndefined()
})

test('a session that has ended at the backend gives no token and is reported once', async () => {
  const { open, clock, person, reports, backend, file } = await signedIn()
  await person.client.auth.signOut()
  clock.aheadMs = HOUR_MS
  const session = open()
  expect(await session.token()).toBeUndefined()
  expect(await session.token()).toBeUndefined()
  expect(reports).toEqual([
    `The session at ${backend.authUrl} has ended (Invalid Refresh Token: Refresh Token Not Found). Run standin login again.`,
  ])
  saveSession(file, backend.authUrl, {
    ...{
      email: 'a@b.test',
      accessToken: 'new',
      refreshToken: 'r',
      expiresAt: new Date(Date.now() + 2 * HOUR_MS).toISOString(),
    },
  })
  expect(session.token()).toBe('new')
})

test('while the backend is unreachable, the old token is used until it expires', async () => {
  const { open, clock, person, live, reports } = await signedIn()
  await live.stop()
  clock.aheadMs = ALMOST_MS
  const session = open()
  expect(await session.token()).toBe(person.token)
  clock.aheadMs = HOUR_MS
  expect(await session.token()).toBeUndefined()
  expect(reports).toEqual([
    expect.stringMatching(/^The session at http:\S+ could not be renewed \((ECONNREFUSED|UND_ERR_SOCKET)\)\.$/),
  ])
})

test('a failed renewal is retried later, but not on every request', async () => {
  const { open, clock, live, person, backend, reports } = await signedIn()
  let attempts = 0
  const refresh = (refreshToken: string) => {
    attempts++
    return refreshAt(backend)(refreshToken)
  }
  live.failNext({ status: 503 }, { path: '/auth/v1/token' })
  clock.aheadMs = ALMOST_MS
  const session = open({ refresh })
  expect(await session.token()).toBe(person.token)
  expect(session.token()).toBe(person.token)
  expect(attempts).toBe(1)
  clock.aheadMs += 6000
  expect(await userOf(live, String(await session.token()))).toBe(person.id)
  expect(attempts).toBe(2)
  expect(reports).toHaveLength(1)
})

test.skipIf(process.platform === 'win32')(
  'a file that others can read is not used, which is reported once',
  async () => {
    const { open, file, person, reports } = await signedIn()
    chmodSync(file, 0o640)
    const session = open()
    expect([session.token(), session.token()]).toEqual([undefined, undefined])
    expect(reports).toEqual([
      `Others can read ${file}, so it is not used. Run chmod 600 on it, or delete it and sign in again.`,
    ])
    chmodSync(file, 0o600)
    expect(session.token()).toBe(person.token)
  },
)

test.each([
  '',
  '[]',
  'null',
  '{"URL": null}',
  '{"URL": {}}',
  '{"URL": {"email": "a@b.test", "accessToken": "a", "refreshToken": "r", "expiresAt": "soon"}}',
])('a file with the content %j is reported as invalid', async text => {
  const { open, file, backend, reports } = await signedIn()
  writeFileSync(file, text.replace('URL', backend.authUrl))
  expect(open().token()).toBeUndefined()
  expect(reports).toEqual([`${file} is not a session file of standin login. Delete it and sign in again.`])
})

test('each backend has its own session, whatever is stored and removed', () => {
  const sessions = fc.record({
    ...{ email: fc.string(), accessToken: fc.string(), refreshToken: fc.string() },
    expiresAt: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(1e13) }).map(date => date.toISOString()),
  })
  const places = fc.constantFrom('https://a.test', 'https://b.test/prefix', 'http://[::1]:1')
  const file = path.join(folderWith(), 'sessions.json')
  const model = new Map<string, unknown>()
  fc.assert(
    fc.property(places, fc.option(sessions, { nil: undefined }), (place, session) => {
      saveSession(file, place, session)
      model.set(place, session)
      for (const [place, expected] of model) expect(readSession(file, place)).toEqual(expected)
    }),
  )
})

test.skipIf(process.platform === 'win32')("the session file is in the system's folder for settings", () => {
  expect(sessionsFile({ XDG_CONFIG_HOME: '/settings' })).toBe('/settings/standin/sessions.json')
  expect(sessionsFile({ XDG_CONFIG_HOME: 'relative' })).toBe(sessionsFile({}))
  expect(sessionsFile({})).toMatch(/^\/.*\/\.config\/standin\/sessions\.json$/)
})
