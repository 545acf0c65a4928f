/** Transactions are all or nothing, run one after another, and are not visible before they are committed. */
import { describe, expect, test } from 'vitest'
import { TakenError } from '../../src/state/rows.js'
import { fresh, kinds, lasting, opened } from './kinds.js'
import { apiKey, session, user } from './rows.js'

describe.each(kinds)('in $kind', kind => {
  test('reading and writing return what the callback returns', async () => {
    const state = await fresh(kind)
    expect(await state.write(async () => 'written')).toBe('written')
    expect(await state.read(async () => 'read')).toBe('read')
  })

  test('a transaction that fails changes nothing and rejects with its own error', async () => {
    const state = await fresh(kind)
    await state.write(({ users }) => users.insert(user({ email: 'ada@example.com' })))
    const reason = new Error('changed my mind')
    const work = state.write(async ({ users, sessions, api_keys }) => {
      await sessions.insert(session())
      await api_keys.insert(apiKey())
      await users.update('ada', { email: 'new@example.com', user_metadata: { changed: true } })
      await users.remove({ email: 'new@example.com' })
      await users.insert(user({ id: 'bob' }))
      throw reason
    })
    await expect(work).rejects.toBe(reason)
    const after = await state.read(async ({ users, sessions, api_keys }) => ({
      users: await users.find({}),
      others: (await sessions.count({})) + (await api_keys.count({})),
    }))
    expect(after).toEqual({ users: [user({ email: 'ada@example.com' })], others: 0 })
  })

  test('a transaction sees its own changes', async () => {
    const state = await fresh(kind)
    await state.write(({ users }) => users.insert(user({ email: 'ada@example.com' })))
    await state.write(async ({ users }) => {
      await users.insert(user({ id: 'bob', email: 'bob@example.com' }))
      await users.update('ada', { email: 'lovelace@example.com' })
      expect(await users.count({})).toBe(2)
      expect(await users.find({ email: 'ada@example.com' })).toEqual([])
      expect(await users.find({ email: 'lovelace@example.com' })).toHaveLength(1)
      await users.insert(user({ id: 'eve', email: 'ada@example.com' }))
      await users.remove({ email: 'bob@example.com' })
      expect(await users.get('bob')).toBeUndefined()
      await users.insert(user({ id: 'bob' }))
    })
    const found = await state.read(({ users }) => users.find({}))
    expect(found.map(({ id, email }) => [id, email])).toEqual([
      ['ada', 'lovelace@example.com'],
      ['bob', null],
      ['eve', 'ada@example.com'],
    ])
  })

  test('a read-only transaction cannot change anything', async () => {
    const state = await fresh(kind)
    await state.write(({ users }) => users.insert(user()))
    await expect(state.read(({ users }) => users.insert(user({ id: 'bob' })))).rejects.toThrow()
    await expect(state.read(({ users }) => users.update('ada', { role: 'admin' }))).rejects.toThrow()
    await expect(state.read(({ users }) => users.remove({}))).rejects.toThrow()
    expect(await state.read(({ users }) => users.find({}))).toEqual([user()])
  })

  test('writers run one after another, in the order of their calls', async () => {
    const state = await fresh(kind)
    const order: string[] = []
    const writer = (name: string) =>
      state.write(async ({ users }) => {
        order.push(`${name} begins`)
        await users.insert(user({ id: name }))
        await new Promise(setImmediate)
        order.push(`${name} ends`)
      })
    await Promise.all([writer('a'), writer('b'), writer('c')])
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  test('when twenty users take one email at the same time, exactly one gets it', async () => {
    const state = await fresh(kind)
    const attempts = Array.from({ length: 20 }, (_, n) =>
      state.write(({ users }) => users.insert(user({ id: `u${n}`, email: 'ada@example.com' }))),
    )
    const results = await Promise.allSettled(attempts)
    const refused = results.filter(result => result.status === 'rejected')
    expect(refused).toHaveLength(19)
    for (const { reason } of refused) expect(reason).toBeInstanceOf(TakenError)
  })

  test('closing waits for pending transactions and refuses new ones', async () => {
    const state = await fresh(kind)
    let written = false
    const running = state.write(async ({ users }) => {
      await new Promise(setImmediate)
      await users.insert(user())
      written = true
    })
    const waiting = state.write(({ users }) => users.insert(user({ id: 'bob' })))
    await Promise.all([state.close(), state.close()])
    expect(written).toBe(true)
    await Promise.all([running, waiting])
    await expect(state.read(({ users }) => users.count({}))).rejects.toMatchObject({ code: 'has_stopped' })
    await expect(state.write(({ users }) => users.insert(user()))).rejects.toMatchObject({ code: 'has_stopped' })
    await state.close()
  })
})

describe.each(lasting)('in $kind', kind => {
  test('a reader does not wait for a transaction that is not committed yet', async () => {
    const state = await fresh(kind)
    const seen = await state.write(async ({ users }) => {
      await users.insert(user())
      return state.read(({ users }) => users.count({}))
    })
    expect(seen).toBe(0)
    expect(await state.read(({ users }) => users.count({}))).toBe(1)
  })

  test('a reader sees one snapshot, whatever is written in the meantime', async () => {
    const state = await fresh(kind)
    await state.write(async ({ users, sessions }) => {
      await users.insert(user({ id: 'ada', email: 'ada@example.com' }))
      await users.insert(user({ id: 'bob', email: 'bob@example.com' }))
      await sessions.insert(session())
    })
    await state.read(async ({ users, sessions }) => {
      const look = async () => [
        await users.find({}),
        await users.find({ email: 'ada@example.com' }),
        await users.find({ email: 'new@example.com' }),
        await users.count({}),
        await users.get('bob'),
        await sessions.get('session'),
        await sessions.find({ user_id: 'ada' }),
      ]
      const before = await look()
      await state.write(async ({ users, sessions }) => {
        await users.update('ada', { email: 'new@example.com' })
        await users.remove({ email: 'bob@example.com' })
        await sessions.remove({})
      })
      expect(await look()).toEqual(before)
      await state.write(async ({ users, sessions }) => {
        await users.insert(user({ id: 'bob', email: 'ada@example.com' }))
        await sessions.insert(session({ id: 'another' }))
      })
      expect(await look()).toEqual(before)
    })
    expect(await state.read(({ users }) => users.find({ email: 'ada@example.com' }))).toMatchObject([{ id: 'bob' }])
  })

  test('two instances of the same state share one counter without lost updates', async () => {
    const place = await kind.emptyPlace()
    const [one, other] = await Promise.all([opened(place), opened(place)])
    await one.write(({ users }) => users.insert(user({ user_metadata: { count: 0 } })))
    await Promise.all(Array.from({ length: 50 }, (_, n) => (n % 2 ? one : other).write(countUp)))
    expect(await other.read(count)).toBe(50)
    expect(await one.read(count)).toBe(50)
  })
})

type Write = Parameters<Awaited<ReturnType<typeof opened>>['write']>[0]
type Tables = Parameters<Write>[0]

/** Reads, gives other transactions a chance to run, and writes what it has read plus one. */
async function countUp({ users }: Tables) {
  const row = await users.get('ada')
  await new Promise(setImmediate)
  await users.update('ada', { user_metadata: { count: Number(row?.user_metadata.count) + 1 } })
}

const count = async ({ users }: Tables) => (await users.get('ada'))?.user_metadata.count
