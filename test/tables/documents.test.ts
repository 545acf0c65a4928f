import { createClient } from '@supabase/supabase-js'
import { beforeAll, describe, expect, test } from 'vitest'
import { forAll } from '../command.js'
import type { Scene } from '../scene.js'
import { anonClient, documents, platformOf } from './apps.js'

const shared = forAll(until => platformOf('documents', documents, {}, until))
let platform: Scene
let client: ReturnType<typeof anonClient>
beforeAll(async () => {
  platform = await shared()
  client = anonClient(platform)
}, 120_000)

const titles = ['A plan', 'The long report', 'Notes'] as const
const [plan, report, notes] = titles

/** The titles that a query finds. */
const found = async (query: PromiseLike<{ data: readonly { title: string }[] | null; error: unknown }>) => {
  const { data, error } = await query
  expect(error).toBeNull()
  return data?.map(({ title }) => title)
}

type Query = ReturnType<ReturnType<typeof anonClient>['from']>['select']
const select = () => client.from('documents').select('title').order('id') as ReturnType<Query>

test.each([
  ['eq', () => select().eq('id', 2), [report]],
  ['neq', () => select().neq('id', 2), [plan, notes]],
  ['gt, lte', () => select().gt('id', 1).lte('id', 3), [report, notes]],
  ['gte, lt', () => select().gte('id', 1).lt('id', 3), [plan, report]],
  ['like', () => select().like('title', '%long%'), [report]],
  ['ilike', () => select().ilike('title', 'a PLAN'), [plan]],
  ['likeAnyOf', () => select().likeAnyOf('title', ['A%', 'N%']), [plan, notes]],
  ['match', () => select().regexMatch('title', '^[AN]'), [plan, notes]],
  ['imatch', () => select().regexIMatch('title', '^the'), [report]],
  ['is', () => select().is('body', null), [notes]],
  ['in', () => select().in('title', ['A plan', 'with, (signs)']), [plan]],
  ['in an empty list', () => select().in('id', []), []],
  ['contains an array', () => select().contains('tags', ['x']), [plan]],
  ['contains JSON', () => select().contains('body', { a: { b: [1] } }), [plan]],
  ['contained by', () => select().containedBy('tags', ['y', 'z']), [report, notes]],
  ['overlaps', () => select().overlaps('tags', ['x', 'q']), [plan]],
  ['ranges', () => select().rangeGte('pages', '[5,7)'), [report]],
  ['adjacent ranges', () => select().rangeAdjacent('pages', '[9,10)'), [report]],
  ['text search', () => select().textSearch('search', 'plan | note'), [plan, notes]],
  [
    'text search in words',
    () => select().textSearch('title', 'long reports', { type: 'websearch', config: 'english' }),
    [report],
  ],
  ['not', () => select().not('title', 'ilike', '%o%'), [plan]],
  ['or', () => select().or('id.eq.1,and(id.gt.2,title.in.(Notes,"x,y"))'), [plan, notes]],
  ['match', () => select().match({ id: 2, kind: 'private' }), [report]],
  ['inside JSON', () => select().eq('body->a->b->>1', 'two'), [plan]],
  [
    'of what is embedded',
    () => client.from('documents').select('title, people!author!inner()').eq('people.name', 'Bob'),
    [report],
  ],
  [
    'of rows that have something',
    () => client.from('documents').select('title, labels()').not('labels', 'is', null).order('id'),
    [plan, report],
  ],
  ['range', () => select().range(1, 2), [report, notes]],
  ['limit', () => select().limit(1), [plan]],
  [
    'order',
    () =>
      client.from('documents').select('title').order('author', { nullsFirst: true }).order('id', { ascending: false }),
    [notes, plan, report],
  ],
])('filters and order: %s', async (_name, query, expected) => {
  expect(await found(query() as never)).toEqual(expected)
})

describe('what is selected', () => {
  const one = async (columns: string) => (await client.from('documents').select(columns).eq('id', 1).single()).data

  test.each([
    ['id, name:title, kind::text', { id: 1, name: 'A plan', kind: 'public' }],
    ['body->a->b->0, second:body->a->b->>1', { b: 1, second: 'two' }],
    ['word_count', { word_count: 2 }],
    [
      'author:people!author(name), reviewer:people!documents_reviewer_fkey(name)',
      { author: { name: 'Ada' }, reviewer: { name: 'Bob' } },
    ],
    ['labels(name)', { labels: [{ name: 'red' }, { name: 'green' }] }],
    ['document_labels(labels(id))', { document_labels: [{ labels: { id: 1 } }, { labels: { id: 2 } }] }],
    ['title, ...people!author(writer:name)', { title: 'A plan', writer: 'Ada' }],
    ['title, ...labels(name)', { title: 'A plan', name: ['red', 'green'] }],
    ['labels(count)', { labels: [{ count: 2 }] }],
    ['people!author(name, manager(name))', { people: { name: 'Ada', manager: null } }],
  ])('%s', async (columns, expected) => {
    expect(await one(columns)).toEqual(expected)
  })

  test('views are embedded like their tables, and rows of a table refer to each other', async () => {
    const people = await client.from('people').select('name, public_documents(title), people(name)').order('name')
    expect(people.data).toEqual([
      { name: 'Ada', public_documents: [{ title: 'A plan' }], people: [{ name: 'Bob' }] },
      { name: 'Bob', public_documents: [], people: [] },
    ])
  })

  test('filters, order and limits of what is embedded', async () => {
    const { data } = await client
      .from('documents')
      .select('id, labels(name)')
      .eq('id', 1)
      .order('name', { referencedTable: 'labels' })
      .limit(1, { referencedTable: 'labels' })
    expect(data).toEqual([{ id: 1, labels: [{ name: 'green' }] }])
    const ordered = await client
      .from('documents')
      .select('id, author:people!author(name)')
      .order('author(name)', { ascending: false, nullsFirst: false })
    expect(ordered.data?.map(({ id }) => id)).toEqual([2, 1, 3])
  })

  test('aggregates', async () => {
    const { data } = await client.from('documents').select('kind, id.sum(), count()').order('kind')
    expect(data).toEqual([
      { kind: 'private', sum: 5, count: 2 },
      { kind: 'public', sum: 1, count: 1 },
    ])
  })
})

test('counts, heads, CSV, single rows and ranges have the headers of PostgREST', async () => {
  const { ask, anonKey } = platform
  const get = (query: string, headers: Record<string, string> = {}) =>
    ask(`/rest/v1/documents?${query}`, { bearer: anonKey, headers: { apikey: anonKey, ...headers } })
  const page = await get('select=id&order=id', { prefer: 'count=exact', range: '1-1' })
  expect([page.status, page.headers.get('content-range'), await page.json()]).toEqual([206, '1-1/3', [{ id: 2 }]])
  const beyond = await get('select=id&offset=9', { prefer: 'count=exact' })
  expect([beyond.status, await beyond.json()]).toMatchObject([416, { code: 'PGRST103' }])
  const csv = await get('select=id,title&order=id&limit=2', { accept: 'text/csv' })
  expect([csv.headers.get('content-type'), await csv.text()]).toEqual([
    'text/csv; charset=utf-8',
    'id,title\n1,"A plan"\n2,"The long report"',
  ])
  const none = await get('select=id&id=eq.9', { accept: 'application/vnd.pgrst.object+json' })
  expect([none.status, await none.json()]).toEqual([
    406,
    {
      code: 'PGRST116',
      details: 'The result contains 0 rows',
      hint: null,
      message: 'Cannot coerce the result to a single JSON object',
    },
  ])
  expect((await client.from('documents').select('*', { count: 'estimated', head: true })).count).toBe(3)
  expect((await client.from('documents').select('*', { count: 'planned', head: true })).count).toBeGreaterThan(0)
  expect((await client.from('documents').select('id').eq('id', 9).maybeSingle()).data).toBeNull()
})

test('changes: defaults, upserts, preferences', async () => {
  const labels = client.from('labels')
  expect(
    await labels.insert([
      { id: 3, name: 'blue' },
      { id: 4, name: 'grey' },
    ]),
  ).toMatchObject({ status: 201, data: null, count: null })
  expect(await labels.upsert({ id: 3, name: 'navy' }).select()).toMatchObject({
    status: 200,
    data: [{ id: 3, name: 'navy' }],
  })
  expect((await labels.upsert({ id: 3, name: 'sky' }, { ignoreDuplicates: true }).select()).data).toEqual([])
  expect(await labels.update({ name: 'dark' }, { count: 'exact' }).gte('id', 3)).toMatchObject({
    status: 204,
    count: 2,
  })
  const most = { headers: { Prefer: 'handling=strict,max-affected=1' } }
  const limited = createClient(platform.url, platform.anonKey, { global: most }).from('labels')
  expect(await limited.update({ name: 'x' }).gte('id', 3)).toMatchObject({
    status: 400,
    error: { code: 'PGRST124' },
  })
  expect((await labels.delete().eq('id', 4).select('name').single()).data).toEqual({ name: 'dark' })
  await labels.delete().eq('id', 3)
  const given = await client
    .from('documents')
    .insert(
      [
        { id: 8, title: 'X' },
        { id: 9, title: 'Y', kind: 'public' },
      ],
      { defaultToNull: false },
    )
    .select('id, kind, tags')
  expect(given.data).toEqual([
    { id: 8, kind: 'private', tags: [] },
    { id: 9, kind: 'public', tags: [] },
  ])
  await client.from('documents').delete().gt('id', 7)
  expect(await platform.rows('labels')).toHaveLength(2)
})

test('functions: rows, values, nothing, and what they refuse', async () => {
  expect((await client.rpc('latest').select('title').order('n')).data).toEqual([{ title: report }, { title: notes }])
  expect((await client.rpc('latest', {}, { get: true })).data).toHaveLength(2)
  expect(await client.rpc('nothing')).toMatchObject({ status: 204, data: null })
  expect(await client.rpc('refuse')).toMatchObject({
    status: 402,
    error: { code: 'PT402', message: 'Not now', hint: 'Pay' },
  })
})

test.each([
  ['an unknown table', () => client.from('document').select(), 404, 'PGRST205'],
  ['an unknown column', () => client.from('documents').select('titel'), 400, '42703'],
  ['an unknown column to set', () => client.from('documents').update({ titel: 'x' }).eq('id', 1), 400, 'PGRST204'],
  ['an unknown relationship', () => client.from('labels').select('people(*)'), 400, 'PGRST200'],
  ['two relationships', () => client.from('documents').select('people(*)'), 300, 'PGRST201'],
  [
    'two embedded resources with one name',
    () => client.from('documents').select('people!author(*), people!reviewer(*)'),
    400,
    '42712',
  ],
  [
    'a filter on what is not embedded',
    () => client.from('documents').select().eq('people.name', 'Ada'),
    400,
    'PGRST108',
  ],
  ['an unknown function', () => client.rpc('lates'), 404, 'PGRST202'],
  [
    'an unknown operator',
    () =>
      client
        .from('documents')
        .select()
        .filter('id', 'is_like' as 'eq', 1),
    400,
    'PGRST100',
  ],
  ['an unknown schema', () => client.schema('private').from('documents').select(), 406, 'PGRST106'],
  ['a value of another type', () => client.from('documents').select().eq('id', 'one'), 400, '22P02'],
  ['a second row with a key', () => client.from('labels').insert({ id: 1, name: 'x' }), 409, '23505'],
  [
    'a row that does not exist',
    () => client.from('document_labels').insert({ document_id: 1, label_id: 99 }),
    409,
    '23503',
  ],
  ['several rows for one', () => client.from('documents').select().single(), 406, 'PGRST116'],
  [
    'rows with different keys',
    () => client.from('labels').insert([{ id: 7 }, { name: 'x' }], { defaultToNull: true }),
    400,
    '23502',
  ],
])('%s is refused as PostgREST refuses it', async (_name, ask, status, code) => {
  const { error, status: answered } = await ask()
  expect({ status: answered, code: error?.code }).toEqual({ status, code })
})

const injection = `x' or 1=1; drop table public.documents; --"`

test.each([
  ['a table', `${injection}`],
  ['a column', `documents?select=${injection}`],
  ['a quoted column', `documents?select="id"";drop table documents"`],
  ['a cast', 'documents?select=id::int); drop table documents'],
  ['an alias', 'documents?select="a"" from pg_class; --":id'],
  ['an alias with a NUL', 'documents?select="a\0":id'],
  ['JSON keys with a NUL', 'documents?select=body->a\0'],
  ['JSON keys', `documents?select=body->${injection}`],
  ['an embedded resource', `documents?select=labels!${injection}(*)`],
  ['an operator', `documents?id=eq;drop table documents.1`],
  ['a value', `documents?title=eq.${injection}`],
  ['a list', `documents?title=in.(${injection},"${injection}")`],
  ['a language', `documents?title=fts(${injection}).x`],
  ['logic', `documents?or=(title.eq.${injection})`],
  ['an order', `documents?order=id.desc,${injection}`],
  ['a limit', `documents?limit=${injection}`],
  ['on_conflict', `documents?on_conflict=${injection}`],
  ['a function', `rpc/${injection}`],
  ['an argument', `rpc/latest?${injection}=1`],
])('injection in %s does nothing', async (_name, request) => {
  const [target = '', query = ''] = request.split(/\?(.*)/s)
  const encoded = query
    .split('&')
    .map(part => part.split(/=(.*)/s).map(encodeURIComponent).join('='))
    .join('&')
  const { anonKey } = platform
  const answer = await platform.ask(`/rest/v1/${target.split('/').map(encodeURIComponent).join('/')}?${encoded}`, {
    bearer: anonKey,
    headers: { apikey: anonKey },
  })
  expect(answer.status).toBeLessThan(500)
  expect(await platform.rows('documents')).toHaveLength(3)
})

test('requests without a valid credential are refused at the gateway, in its words and in those of Standin', async () => {
  const { ask, anonKey, apiKey, serviceKey } = platform
  const at = '/rest/v1/labels?select=id'
  const without = await ask(at, { bearer: null })
  expect([without.status, await without.json()]).toEqual([401, { message: 'No API key found in request' }])
  const forged = await ask(at, { bearer: `${serviceKey.slice(0, -4)}AAAA`, headers: { apikey: anonKey } })
  expect([forged.status, await forged.json()]).toMatchObject([401, { code: 'PGRST301', hint: null }])
  const ofPlatform = await ask(at, { bearer: apiKey, headers: { apikey: anonKey } })
  expect(ofPlatform.status).toBe(401)
  const { client: user, token } = await (async () => {
    const { accessToken } = await platform.signIn()
    return { client: await ask(at, { bearer: accessToken, headers: { apikey: anonKey } }), token: accessToken }
  })()
  expect(user.status).toBe(200)
  await platform.clock.advance(2 * 3_600_000)
  expect((await ask(at, { bearer: token, headers: { apikey: anonKey } })).status).toBe(401)
  await platform.clock.reset()
})

test('faults, holds and limits apply as at any endpoint', async () => {
  await platform.failNext({ status: 503 }, { path: '/rest/v1/*' })
  expect(await client.from('labels').insert({ id: 50, name: 'x' })).toMatchObject({
    status: 503,
    error: { code: 'PGRST503' },
  })
  expect(await platform.rows('labels')).toHaveLength(2)
  const held = await platform.hold({ on: 'GET /rest/v1/labels' })
  const waiting = client
    .from('labels')
    .select('id')
    .then(answer => answer)
  await held.reached()
  await held.release()
  expect((await waiting).data).toHaveLength(2)
})

test('10 MB of rows, 4,000 filters and a selection nested 20 deep are answered or refused with a sentence', async () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ id: 1000 + i, name: 'x'.repeat(10_000) }))
  expect((await client.from('labels').insert(many)).error).toBeNull()
  const big = await client.from('labels').select('name').gte('id', 1000)
  expect(JSON.stringify(big.data).length).toBeGreaterThan(10_000_000)
  await client.from('labels').delete().gte('id', 1000)
  const filtered = (count: number) =>
    client
      .from('labels')
      .select('id')
      .or(`and(${Array.from({ length: count }, (_, i) => `id.neq.${i + 10}`).join()})`)
  expect((await filtered(1200)).data).toHaveLength(2)
  // Node takes 16 kB of headers, as gateways do.
  expect(await filtered(4000)).toMatchObject({ status: 431, error: { error: 'The request headers are too large.' } })
  const nested = '(name, people'.repeat(20)
  const deep = await client.from('people').select(`name, people${nested}(name)${')'.repeat(20)}`)
  expect(deep.error).toBeNull()
  const tooDeep = await client
    .from('people')
    .select(`name, people${'(name, people'.repeat(150)}(name)${')'.repeat(150)}`)
  expect(tooDeep.error).toMatchObject({ code: 'PGRST100', details: expect.stringContaining('at most 100 levels') })
})
