/** Listeners are told when something that opened doors may open them no longer, and of nothing else. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { State, Tables } from '../../src/core/state.js'
import { fresh, kinds, lasting, opened } from './kinds.js'
import { ownTimeMs } from './own-time.js'
import { apiKey, at, message, oneTimeToken, refreshToken, session, user } from './rows.js'

type Work = (tables: Tables) => Promise<unknown>

const closing: readonly (readonly [what: string, work: Work])[] = [
  ['a user is removed', ({ users }) => users.remove({ email: 'ada@example.com' })],
  ['a user is banned', ({ users }) => users.update('ada', { banned_until: at(9) })],
  ['a user is deleted softly', ({ users }) => users.update('ada', { deleted_at: at(9) })],
  ['a user gets another role', ({ users }) => users.update('ada', { role: 'guest' })],
  ['a session is removed', ({ sessions }) => sessions.remove({ user_id: 'ada' })],
  ['a key is removed', ({ api_keys }) => api_keys.remove({})],
  ['a key is revoked', ({ api_keys }) => api_keys.update('key', { revoked_at: at(9) })],
  ['a key expires at another time', ({ api_keys }) => api_keys.update('key', { expires_at: at(9) })],
  ['a key gets another secret', ({ api_keys }) => api_keys.update('key', { digest: 'other' })],
  ['a key changes its owner', ({ api_keys }) => api_keys.update('key', { user_id: null })],
]

const ordinary: readonly (readonly [what: string, work: Work])[] = [
  ['a user signs in', ({ users }) => users.update('ada', { last_sign_in_at: at(1), user_metadata: { a: 1 } })],
  ['a user is written as it was', ({ users }) => users.update('ada', user({ email: 'ada@example.com' }))],
  ['a session is refreshed', ({ sessions }) => sessions.update('session', { refreshed_at: at(1) })],
  ['a key is used', ({ api_keys }) => api_keys.update('key', { last_used_at: at(1), revoked_at: null })],
  ['no user is removed', ({ users }) => users.remove({ email: 'nobody@example.com' })],
  ['no user is banned', ({ users }) => users.update('nobody', { banned_until: at(9) })],
  [
    'tokens and messages are removed',
    ({ messages, refresh_tokens, one_time_tokens }) =>
      Promise.all([messages.remove({}), refresh_tokens.remove({}), one_time_tokens.remove({})]),
  ],
  ['a user is added', ({ users }) => users.insert(user({ id: 'bob' }))],
  ['nothing happens', async () => {}],
]

describe.each(kinds)('in $kind', kind => {
  test.each(closing)('when %s, listeners are told before that is over', async (_what, work) => {
    const state = await furnished(await fresh(kind))
    const told = listenTo(state)
    let before = -1
    await state.write(async tables => {
      await work(tables)
      before = told.times
    })
    expect([before, told.times]).toEqual([0, 1])
  })

  test.each(ordinary)('when %s, listeners are not told', async (_what, work) => {
    const state = await furnished(await fresh(kind))
    const told = listenTo(state)
    await state.write(work)
    // The next news is of what comes next.
    await state.write(({ sessions }) => sessions.remove({}))
    expect(told.times).toBe(1)
  })

  test('when work fails, its doors stay open and listeners are not told', async () => {
    const state = await furnished(await fresh(kind))
    const told = listenTo(state)
    const work = state.write(async ({ users }) => {
      await users.remove({})
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow()
    await state.write(({ sessions }) => sessions.remove({}))
    expect(told.times).toBe(1)
  })

  test('every listener is told, and finds the doors closed', async () => {
    const state = await furnished(await fresh(kind))
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
  test.each(closing.filter(([what]) => /banned|session is removed|revoked/.test(what)))(
    'when %s elsewhere, listeners are told within a second',
    async (_what, work) => {
      const place = await kind.emptyPlace()
      const [here, elsewhere] = await Promise.all([opened(place), opened(place)])
      await furnished(elsewhere)
      const told = listenTo(here)
      await elsewhere.write(work)
      const since = ownTimeMs()
      await told.next
      expect(ownTimeMs() - since).toBeLessThan(1000)
    },
  )

  // A file says no more than that it was changed.
  const ordinaryElsewhere = kind.kind === 'a file' ? [] : ordinary
  test.each(ordinaryElsewhere)('when %s elsewhere, listeners are not told', async (_what, work) => {
    const place = await kind.emptyPlace()
    const [here, elsewhere] = await Promise.all([opened(place), opened(place)])
    await furnished(elsewhere)
    const told = listenTo(here)
    await elsewhere.write(work)
    await elsewhere.write(({ sessions }) => sessions.remove({}))
    await told.next
    expect(told.times).toBe(1)
  })

  test('a process is not told by itself of what it was told already', async () => {
    const state = await furnished(await fresh(kind))
    const told = listenTo(state)
    await state.write(({ users }) => users.remove({}))
    // Longer than any way round would take; there is no event for nothing.
    await pause(700)
    expect(told.times).toBe(1)
  })
})

/** With a user who has a session and a key. */
async function furnished(state: State): Promise<State> {
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
