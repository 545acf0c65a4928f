/** Rows are read as they were written, found by their values, and unique where they have to be. */
import { describe, expect, test } from 'vitest'
import { type TableName, type Tables, TakenError, type UserRow } from '../../src/state/rows.js'
import { fresh, kinds } from './kinds.js'
import {
  apiKey,
  at,
  flowState,
  message,
  oneTimeToken,
  refreshToken,
  resource,
  resourceRow,
  session,
  user,
} from './rows.js'

const nasty = `"quoted" 'single' back\\slash %_ ; -- \n\t\r \u0001 \u007f é e\u0301 ß 漢字 👩‍💻 \ufffd \uffff ${'long '.repeat(2000)}`

describe.each(kinds)('in $kind', kind => {
  test('a row of every table is read as it was written', async () => {
    const state = await fresh(kind)
    const identity = {
      identity_id: 'i',
      id: 'ada',
      user_id: 'ada',
      identity_data: { email: 'ada@example.com', deep: [{ a: null }] },
      provider: 'email' as const,
      last_sign_in_at: at(1),
      created_at: at(1),
      updated_at: at(1),
      email: 'ada@example.com',
    }
    const everything = {
      users: user({
        email: 'ada@example.com',
        phone: '4912345',
        encrypted_password: '$argon2id$',
        email_confirmed_at: at(1),
        email_change_confirm_status: 1,
        identities: [identity],
        is_anonymous: true,
        banned_until: at(9),
      }),
      sessions: session({ refreshed_at: at(3) }),
      refresh_tokens: refreshToken({ parent: 'older', revoked: true }),
      one_time_tokens: oneTimeToken(),
      flow_states: flowState({ user_id: 'ada', auth_code_issued_at: at(2), provider: 'github', is_offline: true }),
      identity_owners: { id: 'github 1', user_id: 'ada', email: 'ada@example.com', created_at: at(1) },
      api_keys: apiKey({ seeded: true, expires_at: at(5) }),
      messages: message({ code: null, link: null }),
      resources: resource({ scope: 'test' }),
      resource_rows: resourceRow({ owner: 'ada', seed: 'digest' }),
    }
    await state.write(async tables => {
      for (const [name, row] of Object.entries(everything)) await anyTable(tables, name).insert(row)
    })
    const { read, found } = await state.read(async tables => {
      const names = Object.keys(everything)
      const keys: Record<string, string> = {
        ...Object.fromEntries(names.map(name => [name, 'id'])),
        refresh_tokens: 'token',
      }
      const rows = names.map(async name => {
        const table = anyTable(tables, name)
        const key = everything[name as TableName][keys[name] as never] as string
        return { read: [name, await table.get(key)], found: [name, ...(await table.find({}))] }
      })
      const all = await Promise.all(rows)
      return {
        read: Object.fromEntries(all.map(({ read }) => read)),
        found: Object.fromEntries(all.map(({ found }) => found)),
      }
    })
    expect(read).toEqual(everything)
    expect(found).toEqual(everything)
  })

  test('text is read and found exactly as it was written', async () => {
    const state = await fresh(kind)
    const row = message({ subject: nasty, recipient: '', code: ' ', link: "'; drop table users; --" })
    await state.write(({ messages }) => messages.insert(row))
    expect(await state.read(({ messages }) => messages.get(row.id))).toEqual(row)
    expect(await state.read(({ messages }) => messages.find({ subject: nasty }))).toEqual([row])
  })

  test('resource rows are ordered by position', async () => {
    const state = await fresh(kind)
    const rows = [30, 5, 20, 10].map(position =>
      resourceRow({ id: `row ${position}`, position, created_at: at(position) }),
    )
    await state.write(async ({ resource_rows }) => {
      for (const row of rows) await resource_rows.insert(row)
    })
    const found = await state.read(({ resource_rows }) =>
      resource_rows.find({ resource: 'resource' }, { limit: 2, offset: 1 }),
    )
    expect(found.map(({ position }) => position)).toEqual([10, 20])
  })

  test('metadata is read exactly as it was written, including the order of its keys', async () => {
    const state = await fresh(kind)
    const text = JSON.stringify({
      z: 1,
      a: { 2: 'two', 1: 'one', '': [] },
      text: `${nasty}\u0000 and half of one: \ud800`,
      numbers: [0.1, 1e300, -1, 9007199254740991, 0],
      nothing: null,
      'a.b': [[], {}, [[{}]]],
      // Built by JSON.parse, as the metadata of a request is.
    }).replace('"z"', '"__proto__"')
    await state.write(({ users }) => users.insert(user({ user_metadata: JSON.parse(text) })))
    const row = await state.read(({ users }) => users.get('ada'))
    expect(JSON.stringify(row?.user_metadata)).toBe(text)
  })

  test('text that some kinds of state cannot store is refused', async () => {
    const state = await fresh(kind)
    await state.write(({ messages }) => messages.insert(message()))
    for (const subject of ['NUL \0 in it', 'half \ud83d a character']) {
      const insert = state.write(({ messages }) => messages.insert(message({ id: 'other', subject })))
      await expect(insert).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/^subject /) })
      const update = state.write(({ messages }) => messages.update('message', { subject }))
      await expect(update).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/^subject /) })
    }
    expect(await state.read(({ messages }) => messages.find({}))).toEqual([message()])
  })

  test('an undefined value in a condition is refused and does not match every row', async () => {
    const state = await fresh(kind)
    await state.write(({ sessions }) => sessions.insert(session()))
    const open = { user_id: undefined } as unknown as { user_id: string }
    await expect(state.write(({ sessions }) => sessions.remove(open))).rejects.toThrow(/user_id/)
    expect(await state.read(({ sessions }) => sessions.count({}))).toBe(1)
  })

  test('an update changes the columns that it names and nothing else', async () => {
    const state = await fresh(kind)
    const before = user({ email: 'ada@example.com', user_metadata: { a: 1 } })
    await state.write(({ users }) => users.insert(before))
    await state.write(({ users }) => users.insert(user({ id: 'bob' })))
    const changes: Partial<UserRow> = {
      email: null,
      user_metadata: { b: [2] },
      is_anonymous: true,
      email_change_confirm_status: 1,
    }
    await state.write(({ users }) => users.update('ada', changes))
    await state.write(({ users }) => users.update('ada', {}))
    expect(await state.read(({ users }) => users.get('ada'))).toEqual({ ...before, ...changes })
    expect(await state.read(({ users }) => users.get('bob'))).toEqual(user({ id: 'bob' }))
  })

  test('the newest rows come first, and rows of the same moment are ordered by key', async () => {
    const state = await fresh(kind)
    const rows = [
      // The expected order is that of bytes, not that of any locale.
      ...['b', 'A', 'a', '_', '-1', 'B', 'a-b', 'ab', 'a_b'].map(id => user({ id, created_at: at(5) })),
      user({ id: 'old', created_at: at(1) }),
      user({ id: 'new', created_at: at(7) }),
    ]
    await state.write(async ({ users }) => {
      for (const row of rows) await users.insert(row)
    })
    const found = await state.read(({ users }) => users.find({}))
    expect(found.map(({ id }) => id)).toEqual(['new', '-1', 'A', 'B', '_', 'a', 'a-b', 'a_b', 'ab', 'b', 'old'])
  })

  test('rows can be read in pages', async () => {
    const state = await fresh(kind)
    await state.write(async ({ users }) => {
      for (let n = 0; n < 10; n++)
        await users.insert(user({ id: `u${n}`, created_at: at(n), role: n % 2 ? 'odd' : 'even' }))
    })
    const page = async (page: { limit?: number; offset?: number }, where = {}) => {
      const found = await state.read(({ users }) => users.find(where, page))
      return found.map(({ id }) => id).join(' ')
    }
    expect(await page({ limit: 3 })).toBe('u9 u8 u7')
    expect(await page({ limit: 3, offset: 3 })).toBe('u6 u5 u4')
    expect(await page({ limit: 3, offset: 9 })).toBe('u0')
    expect(await page({ offset: 7 })).toBe('u2 u1 u0')
    expect(await page({ limit: 0 })).toBe('')
    expect(await page({ limit: 5, offset: 50 })).toBe('')
    expect(await page({ limit: 2, offset: 1 }, { role: 'odd' })).toBe('u7 u5')
  })

  test('rows are found, counted and removed when they match all of the given values', async () => {
    const state = await fresh(kind)
    await state.write(async ({ refresh_tokens }) => {
      await refresh_tokens.insert(refreshToken({ token: 'first', revoked: true }))
      await refresh_tokens.insert(refreshToken({ token: 'second', parent: 'first', created_at: at(1) }))
      await refresh_tokens.insert(refreshToken({ token: 'other', session_id: 'another', created_at: at(2) }))
    })
    const tokens = (where: object) =>
      state.read(async ({ refresh_tokens }) => {
        const found = await refresh_tokens.find(where)
        expect(await refresh_tokens.count(where)).toBe(found.length)
        return found.map(({ token }) => token)
      })
    expect(await tokens({})).toEqual(['other', 'second', 'first'])
    expect(await tokens({ session_id: 'session' })).toEqual(['second', 'first'])
    expect(await tokens({ session_id: 'session', revoked: true })).toEqual(['first'])
    expect(await tokens({ parent: null })).toEqual(['other', 'first'])
    expect(await tokens({ parent: 'first', revoked: false })).toEqual(['second'])
    expect(await tokens({ user_id: 'nobody' })).toEqual([])
    expect(await state.write(({ refresh_tokens }) => refresh_tokens.remove({ parent: null, revoked: false }))).toBe(1)
    expect(await tokens({})).toEqual(['second', 'first'])
    expect(await state.write(({ refresh_tokens }) => refresh_tokens.remove({ user_id: 'ada' }))).toBe(2)
    expect(await state.write(({ refresh_tokens }) => refresh_tokens.remove({ user_id: 'ada' }))).toBe(0)
  })

  test('keys, emails, phone numbers and digests are unique', async () => {
    const state = await fresh(kind)
    await state.write(async ({ users, api_keys }) => {
      await users.insert(user({ email: 'ada@example.com', phone: '49123' }))
      await api_keys.insert(apiKey())
    })
    const refused = (work: (tables: Tables) => Promise<void>) => expect(state.write(work)).rejects.toThrow(TakenError)
    await refused(({ users }) => users.insert(user()))
    await refused(({ users }) => users.insert(user({ id: 'bob', email: 'ada@example.com' })))
    await refused(({ users }) => users.insert(user({ id: 'bob', phone: '49123' })))
    await refused(({ api_keys }) => api_keys.insert(apiKey({ id: 'other' })))
    expect(await state.read(({ users }) => users.count({}))).toBe(1)
  })

  test('a transaction can continue after a refused value, and is committed', async () => {
    const state = await fresh(kind)
    await state.write(async ({ users }) => {
      await users.insert(user({ email: 'ada@example.com' }))
      await users.insert(user({ id: 'bob', email: 'bob@example.com' }))
      await expect(users.insert(user({ id: 'eve', email: 'ada@example.com' }))).rejects.toThrow(TakenError)
      await expect(users.update('bob', { email: 'ada@example.com' })).rejects.toThrow(TakenError)
      await users.insert(user({ id: 'zoe' }))
    })
    const found = await state.read(({ users }) => users.find({}))
    expect(found.map(({ id, email }) => [id, email])).toEqual([
      ['ada', 'ada@example.com'],
      ['bob', 'bob@example.com'],
      ['zoe', null],
    ])
  })

  test('changing an object that was written or read does not change what is stored', async () => {
    const state = await fresh(kind)
    const metadata = { colors: ['red'] }
    await state.write(({ users }) => users.insert(user({ user_metadata: metadata })))
    metadata.colors.push('blue')
    const row = await state.read(({ users }) => users.get('ada'))
    const colors = row?.user_metadata.colors as string[]
    // Some rows are frozen, others are copies.
    for (const change of [() => Object.assign(row as object, { role: 'admin' }), () => colors.push('green')]) {
      try {
        change()
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
      }
    }
    expect(await state.read(({ users }) => users.get('ada'))).toEqual(user({ user_metadata: { colors: ['red'] } }))
  })
})

interface Loose {
  get(key: string): Promise<unknown>
  find(where: object): Promise<readonly unknown[]>
  insert(row: unknown): Promise<void>
}

const anyTable = (tables: Tables, name: string): Loose => tables[name as TableName] as unknown as Loose
