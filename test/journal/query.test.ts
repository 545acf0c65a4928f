/** The control API, the test API and the dashboard's search take the same query words and find the same requests. */
import { expect, test } from 'vitest'
import { factFilterKeys } from '../../src/core/caller.js'
import { filterIn, journalQueryOf } from '../../src/dashboard/page/activity/filter.js'
import { journalFilter } from '../../src/journal/filter.js'
import type { JournalBrief } from '../../src/journal/index.js'
import type { ExchangeFilter } from '../../src/testing/exchange-filter.js'
import { hello, platformWith, type Scene } from '../scene.js'

/** Five requests: an answered chat, a refused one, a health check, an unknown path and an MCP call. */
async function asked(): Promise<Scene> {
  const platform = await platformWith({ mcp: { '/mcp': {} } })
  await platform.chat(hello, { headers: { 'x-standin-scope': 'one' } })
  await platform.chat({ ...hello, model: 'gpt-4o' }, { bearer: 'sk-of-another-place' })
  await platform.ask('/health')
  await platform.ask('/v1/nowhere')
  const headers = { 'content-type': 'application/json' }
  await platform.ask('/mcp', { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })
  return platform
}

const listed = async (platform: Scene, query: Readonly<Record<string, string>>) => {
  const answer = await platform.ask(`/__standin/journal?brief&${new URLSearchParams(query)}`)
  return ((await answer.json()) as { readonly data: readonly JournalBrief[] }).data
}

const idsOf = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id)

const queries: readonly (readonly [word: keyof typeof journalFilter.entries, value: string, ids: readonly string[]])[] =
  [
    ['method', 'POST', ['1', '2', '5']],
    ['path', '/v1/chat/*', ['1', '2']],
    ['endpoint', 'POST /v1/chat/completions', ['1', '2']],
    ['endpoint', '*/health', ['3']],
    ['status', '401', ['2']],
    ['status', '4xx', ['2', '4', '5']],
    ['status', 'none', []],
    ['mode', 'emulate', ['1', '3', '5']],
    ['model', 'gpt-4o', ['2']],
    ['model', 'gpt-4o*', ['1', '2']],
    ['call', 'pi*', ['5']],
    ['caller', 'refused', ['2']],
    ['caller', 'apiKey', ['1', '5']],
    ['credential', 'development', ['1', '5']],
    ['credential', 'unknown key', ['2']],
    ['source', 'canned', ['1']],
    ['scope', 'one', ['1']],
    ['search', 'NOWHERE', ['4']],
    ['search', 'not known', ['2']],
    ['complete', 'true', ['1', '2', '3', '4', '5']],
    ['complete', 'false', []],
    ['problems', 'true', ['2', '4', '5']],
    ['run', '1', ['1']],
  ]

test('every query word finds the same requests over HTTP, in tests and on the dashboard', async () => {
  const platform = await asked()
  const searched = (address: Readonly<Record<string, string>>) =>
    listed(platform, journalQueryOf(filterIn(new URLSearchParams(address))) as Readonly<Record<string, string>>)
  for (const [word, value, ids] of queries) {
    const typed = ['complete', 'problems'].includes(word) ? value === 'true' : value
    expect({
      [word]: value,
      control: idsOf(await listed(platform, { [word]: value })),
      tests: idsOf(await platform.journal.find({ [word]: typed } as ExchangeFilter)),
      search: idsOf(await searched({ search: `${word}:"${value}"` })),
      address: idsOf(await searched({ [word]: value })),
    }).toEqual({ [word]: value, control: ids, tests: ids, search: ids, address: ids })
  }
})

test('text in a body is found over HTTP and in tests', async () => {
  const platform = await asked()
  expect(idsOf(await listed(platform, { text: '"gpt-4o"' }))).toEqual(['2'])
  expect(await platform.journal.count({ text: '"gpt-4o"' })).toBe(1)
})

test('text in an answer is found across the chunks of a stream', async () => {
  const reply = { text: 'We are "open" until noon, 😀 every day.' }
  const platform = await platformWith({ rules: [{ when: { user: 'hello' }, reply }] })
  await (await platform.chat(hello)).text()
  await (await platform.chat({ ...hello, stream: true })).text()
  await platform.ask('/health')
  for (const answer of ['until noon', '"open" until', '😀 every'])
    expect({ answer, ids: idsOf(await listed(platform, { answer })) }).toEqual({ answer, ids: ['1', '2'] })
  expect(idsOf(await listed(platform, { answer: 'hello' }))).toEqual([])
})

test('every query word is tested and exists everywhere', () => {
  const words = Object.keys(journalFilter.entries).filter(word => word !== 'after' && word !== 'before')
  expect([...new Set(queries.map(([word]) => word)), 'text', 'answer'].sort()).toEqual(words.sort())
  expect([...factFilterKeys, 'text', 'answer', 'run'].sort()).toEqual(words)
})
