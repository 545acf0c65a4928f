import { describe, expect, test } from 'vitest'
import { connect } from '../../src/index.js'
import { forAll } from '../command.js'
import { postgres } from '../postgres.js'
import { anonClient, chats, platformOf, serviceClient, signedUp } from './apps.js'

const server = postgres()

const engines = [
  { engine: 'PGlite', database: async () => 'memory' },
  ...(server ? [{ engine: 'a PostgreSQL server', database: () => server.freshDatabase() }] : []),
]

describe.each(engines)('on $engine', ({ database }) => {
  /** One platform for all tests here; each has its own users, as at Supabase. */
  const shared = forAll(async until => platformOf('chats', chats, { tables: { database: await database() } }, until))

  test('a user signs up, gets a profile from the trigger, and sees their own chats only', async () => {
    const platform = await shared()
    const ada = await signedUp(platform, 'ada@example.org', { full_name: 'Ada Lovelace' })
    const bob = await signedUp(platform, 'bob@example.com')
    const profile = await ada.client.from('profiles').select('full_name, email').eq('id', ada.user.id).single()
    expect(profile.data).toEqual({ full_name: 'Ada Lovelace', email: 'ada@example.org' })

    const added = await ada.client
      .from('chats')
      .insert({ title: 'Plans', payload: { a: [1] } })
      .select()
      .single()
    expect(added).toMatchObject({ status: 201, error: null, data: { user_id: ada.user.id, title: 'Plans' } })
    await ada.client.from('messages').insert([
      { chat_id: added.data.id, role: 'user', content: 'Hi' },
      { chat_id: added.data.id, role: 'assistant', content: 'Hello' },
    ])
    const read = await ada.client.from('chats').select('title, messages(role), profiles(full_name)')
    expect(read.data).toEqual([
      { title: 'Plans', messages: [{ role: 'user' }, { role: 'assistant' }], profiles: { full_name: 'Ada Lovelace' } },
    ])
    expect((await bob.client.from('chats').select()).data).toEqual([])
    expect((await ada.client.rpc('count_chats')).data).toBe(1)
    expect((await ada.client.rpc('search', { term: 'PLA' }).select('title')).data).toEqual([{ title: 'Plans' }])

    const foreign = await bob.client.from('chats').insert({ title: 'Of Ada', user_id: ada.user.id })
    expect(foreign).toMatchObject({ status: 403, error: { code: '42501' } })
    expect((await bob.client.from('chats').delete().eq('id', added.data.id).select()).data).toEqual([])
    const all = await serviceClient(platform)
      .from('chats')
      .select('*', { count: 'exact', head: true })
      .eq('user_id', ada.user.id)
    expect(all).toMatchObject({ data: null, count: 1 })
  })

  test('the journal shows the SQL and its role, and which policy hides rows', async () => {
    const platform = await shared()
    const { client } = await signedUp(platform, 'eve@example.com')
    await platform.sql`insert into chats (user_id, title) select id, 'Secret' from profiles where email <> 'eve@example.com' limit 1`
    await client.from('chats').select('title').eq('title', 'Secret')
    const [entry] = await platform.journal.find({ path: '/rest/v1/chats', search: 'eve@example.com' })
    expect(entry).toMatchObject({
      status: 200,
      source: 'tables as authenticated',
      sql: {
        role: 'authenticated',
        text: expect.stringContaining('from "public"."chats" as "chats" where "chats"."title" = $1'),
      },
      remark: '0 rows: policy own_chats hides 1',
    })
    await anonClient(platform).from('chats').select()
    expect((await platform.journal.find({ path: '/rest/v1/chats', caller: 'anon' })).at(-1)?.remark).toMatch(
      /^0 rows: chats has no policy for SELECT by anon, which hides \d+$/,
    )
  })

  test('a test reads and prepares rows, in this process and from another one', async () => {
    const platform = await shared()
    const other = await connect(platform.url)
    const { user } = await signedUp(platform, 'dan@example.com')
    for (const door of [platform, other]) {
      const title = `It's "quoted"; drop table chats`
      const made =
        await door.sql`insert into chats (user_id, title, payload) values (${user.id}, ${title}, ${{ n: 1 }}) returning id, title, payload, created_at`
      expect(made).toEqual([
        { id: expect.any(Number), title, payload: { n: 1 }, created_at: expect.stringMatching(/^\d{4}-.*T.*\+00:00$/) },
      ])
      expect(await door.sql`select count(*) as n from chats where user_id = any(${[user.id]})`).toEqual([
        { n: door === platform ? 1 : 2 },
      ])
      expect(await door.rows('models')).toEqual([
        { id: 'large', context: 128000 },
        { id: 'small', context: 8000 },
      ])
      await expect(door.rows('nowhere')).rejects.toThrow('There is no table nowhere.')
      await expect(door.sql`select * from nowhere`).rejects.toThrow('relation "nowhere" does not exist')
    }
  })

  test('a reset restores users, rows and numbers as they were at the start', async () => {
    const platform = await shared()
    await platform.reset()
    const before = await platform.rows('profiles')
    expect(before).toMatchObject([{ email: 'developer@example.com' }])
    const { client } = await signedUp(platform, 'ada@example.com')
    await client.from('chats').insert({ title: 'Plans' })
    await serviceClient(platform).from('models').delete().neq('id', '')
    await platform.reset()
    expect(await platform.rows('profiles')).toEqual(before)
    expect(await platform.rows('chats')).toEqual([])
    expect(await platform.rows('models')).toHaveLength(2)
    const again = await signedUp(platform, 'ada@example.com')
    expect((await again.client.from('chats').insert({ title: 'Plans' }).select('id')).data).toEqual([{ id: 1 }])
  })

  test('a trigger that fails refuses the sign-up in the words of Supabase, and there is no user', async () => {
    const platform = await shared()
    await platform.sql`alter table profiles add constraint short check (length(full_name) < 5) not valid`
    const refused = await anonClient(platform).auth.signUp({ email: 'late@example.com', password: 'correct horse' })
    expect(refused.error).toMatchObject({
      status: 500,
      message: 'Database error saving new user',
    })
    const { data } = await serviceClient(platform).auth.admin.listUsers()
    expect(data.users.map(({ email }) => email)).not.toContain('late@example.com')
    const [entry] = await platform.journal.find({ path: '/auth/v1/signup', status: 500 })
    expect(JSON.stringify(entry)).toContain('violates check constraint \\"short\\"')
    await platform.sql`alter table profiles drop constraint short`
    const { user, client } = await signedUp(platform, 'late@example.com')
    await client.from('chats').insert({ title: 'Plans' })
    await serviceClient(platform).auth.admin.deleteUser(user.id)
    expect(await platform.sql`select * from chats where user_id = ${user.id}`).toEqual([])
  })
})
