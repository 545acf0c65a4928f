/** PostgreSQL goes down while states are open, and comes back. */
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { opened, server } from './kinds.js'
import { user } from './rows.js'

describe.skipIf(!server)('PostgreSQL', () => {
  const freshPlace = async () => ({ where: (await server?.freshDatabase()) ?? '', dir: '/' })

  test('reads and writes fail while it is down and work again afterwards', async () => {
    const state = await opened(await freshPlace())
    await state.write(({ users }) => users.insert(user()))
    await server?.stop()
    await expect(state.read(({ users }) => users.count({}))).rejects.toThrow()
    await expect(state.write(({ users }) => users.insert(user({ id: 'bob' })))).rejects.toThrow()
    await server?.start()
    expect(await state.read(({ users }) => users.count({}))).toBe(1)
    await state.write(({ users }) => users.insert(user({ id: 'bob' })))
    expect(await state.read(({ users }) => users.count({}))).toBe(2)
  })

  test('a transaction whose connection is lost is rolled back and gives the reason', async () => {
    const place = await freshPlace()
    const state = await opened(place)
    const cut = state.write(async ({ users }) => {
      await users.insert(user())
      await cutOff(place.where)
      await users.count({})
    })
    await expect(cut).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(/^The database of the state/),
    })
    const reason = new Error('changed my mind')
    const failing = state.write(async () => {
      await cutOff(place.where)
      throw reason
    })
    await expect(failing).rejects.toBe(reason)
    expect(await state.read(({ users }) => users.count({}))).toBe(0)
  })

  test('a state can be closed while it is down', async () => {
    const state = await opened(await freshPlace())
    await server?.stop()
    await state.close()
    await server?.start()
  })
})

/** Terminates all other connections to the database. */
const cutOff = (url: string) =>
  query(
    url,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}
