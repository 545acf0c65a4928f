/** The clauses about MCP servers, for servers of each kind and without one. */
import { expect, test } from 'vitest'
import { contractTests } from '../../src/contract/index.js'
import type { PlatformOptions } from '../../src/index.js'
import { everythingServer } from '../mcp/everything.js'
import { platformWith } from '../scene.js'

const tools = [{ name: 'get_weather' }]

/** The verdicts on the clauses about MCP servers, and why clauses were skipped. */
async function judged(target: Parameters<typeof contractTests>[0]['target'], only = 'MCP-*') {
  const tests = contractTests({ target, only })
  const verdicts = await Promise.all(tests.map(async ({ clause, judge }) => [clause.id, await judge()] as const))
  return Object.fromEntries(verdicts.map(([id, one]) => [id, one.kind === 'skipped' ? one.why : one.kind]))
}

const standin = async (mcp?: PlatformOptions['mcp']) => platformWith(mcp === undefined ? {} : { mcp })

test('a server is found through the API index, and keeps all clauses', async () => {
  const verdicts = await judged(await standin({ '/tools/mcp': { tools } }))
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['held']))
})

test('clauses about versions, tools or credentials that a server does not have are skipped', async () => {
  const stateless = await judged(await standin({ protocolVersions: ['2026-07-28'] }))
  expect(stateless).toMatchObject({
    ...{ 'MCP-1': 'held', 'MCP-D4': 'the server has no versions with sessions', 'MCP-D5': 'held' },
    ...{ 'MCP-D6': 'the server has no tools', 'MCP-D7': 'held', 'MCP-D8': 'held' },
  })
  const open = await judged(await standin({ access: 'anyone', protocolVersions: ['2025-06-18'], tools }))
  expect(open).toMatchObject({
    ...{ 'MCP-D1': 'the server needs no credential', 'MCP-D3': 'the server needs no credential' },
    ...{ 'MCP-D4': 'held', 'MCP-D5': 'the server has no version without sessions', 'MCP-D6': 'held' },
  })
})

test('without a server all clauses are skipped', async () => {
  const verdicts = await judged(await standin())
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['the API index lists no MCP server, and none is given']))
})

test('a real server that answers with streams is judged too', async () => {
  const { url } = await everythingServer()
  const verdicts = await judged({ url, mcpPath: '/mcp', apiKey: 'sk-one' }, 'MCP-1,MCP-D4,MCP-D6,MCP-D7,MCP-D8')
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['held']))
})
