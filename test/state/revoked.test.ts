/** Listeners are notified when something that granted access may no longer grant it. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { State, Tables } from '../../src/state/rows.js'
import { fresh, kinds, lasting } from './kinds.js'
import { ownTimeMs } from './own-time.js'
import { apiKey, at, message, oneTimeToken, refreshToken, session, user } from './rows.js'

type Work = (tables: Tables) => Promise<unknown>

const revocations: readonly (readonly [what: string, work: Work])[] = [
  ['a user is removed', ({ users }) => users.remove({ email: 'ada@example.com' })],
  ['a user is banned', ({ users }) => users.update('ada', { banned_until: at(9) })],
  ['a user is soft-deleted', ({ users }) => users.update('ada', { deleted_at: at(9) })],
  ['a user gets another role', ({ users }) => users.update('ada', { role: 'guest' })],
  ["a user's email address changes", ({ users }) => users.update('ada', { email: 'lovelace@example.com' })],
  ['a session is removed', ({ sessions }) => sessions.remove({ user_id: 'ada' })],
  ['a key is removed', ({ api_keys }) => api_keys.remove({})],
  ['a key is revoked', ({ api_keys }) => api_keys.update('key', { revoked_at: at(9) })],
  ["a key's expiry changes", ({ api_keys }) => api_keys.update('key', { expires_at: at(9) })],
  ["a key's secret changes", ({ api_keys }) => api_keys.update('key', { digest: 'other' })],
  ["a key's owner changes", ({ api_keys }) => api_keys.update('key', { user_id: null })],
]

const ordinaryChanges: readonly (readonly [what: string, work: Work])[] = [
  ['a user signs in', ({ users }) => users.update('ada', { last_sign_in_at: at(1), user_metadata: { a: 1 } })],
  ['a session is refreshed', ({ sessions }) => sessions.update('session', { refreshed_at: at(1) })],
  ['a key is used', ({ api_keys }) => api_keys.update('key', { last_used_at: at(1) })],
  ['a removal matches no user', ({ users }) => users.remove({ email: 'nobody@example.com' })],
  [
    'tokens and messages are removed',
    ({ messages, refresh_tokens, one_time_tokens }) =>
      Promise.all([messages.remove({}), refresh_tokens.remove({}), one_time_tokens.remove({})]),
  ],
  ['a user is added', ({ users }) => users.insert(user({ id: 'bob' }))],
  ['nothing happens', async () => {}],
]

describe.each(kinds)('in $kind', kind => {
  // Changes elsewhere are only looked for now and then, which is not the point here.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  test.each(revocations)('when %s, listeners are notified before the write resolves', async (_what, work) => {
    const state = await populated(await fresh(kind))
    const notified = listenTo(state)
    let before = -1
    await state.write(async tables => {
      await work(tables)
      before = notified.times
    })
    expect([before, notified.times]).toEqual([0, 1])
  })

  test.each(ordinaryChanges)('when %s, listeners are not notified', async (_what, work) => {
    const state = await populated(await fresh(kind))
    const notified = listenTo(state)
    await state.write(work)
    // The first notification comes from this second write.
    await state.write(({ sessions }) => sessions.remove({}))
    expect(notified.times).toBe(1)
  })

  test('when a transaction fails, nothing is revoked and listeners are not notified', async () => {
    const state = await populated(await fresh(kind))
    const notified = listenTo(state)
    const work = state.write(async ({ users }) => {
      await users.remove({})
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow()
    await state.write(({ sessions }) => sessions.remove({}))
    expect(notified.times).toBe(1)
  })

  test('every listener is notified and sees the revocation', async () => {
    const state = await populated(await fresh(kind))
    const others = listenTo(state)
    const looked = new Promise(resolve =>
      state.onRevoked(() => resolve(state.read(({ api_keys }) => api_keys.get('key')))),
    )
    await state.write(({ api_keys }) => api_keys.update('key', { revoked_at: at(9) }))
    expect(await looked).toMatchObject({ revoked_at: at(9) })
    expect(others.times).toBe(1)
  })
})

describe.each(lasting)('in $kind', kind => {
  test('when access may have ended elsewhere, listeners are notified within a second', async () => {
    const notified = listenTo(await fresh(kind))
    const since = ownTimeMs()
    await notified.next
    expect(ownTimeMs() - since).toBeLessThan(1000)
  })
})

/** Adds a user who has a session and a key. */
async function populated(state: State): Promise<State> {
  await state.write(async ({ users, sessions, api_keys, messages, refresh_tokens, one_time_tokens }) => {
    await users.insert(user({ email: 'ada@example.com' }))
    await sessions.insert(session())
    await api_keys.insert(apiKey())
    await messages.insert(message())
    await refresh_tokens.insert(refreshToken())
    await one_time_tokens.insert(oneTimeToken())
  })
  return state
}

function listenTo(state: State) {
  let times = 0
  const next = new Promise<void>(resolve => {
    state.onRevoked(() => {
      times += 1
      resolve()
    })
  })
  return {
    next,
    get times() {
      return times
    },
  }
}
