/** The MCP clients of agent frameworks, and the CLI of the MCP inspector. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createMCPClient } from '@ai-sdk/mcp'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { generateText, stepCountIs, type ToolSet } from 'ai'
import { expect, onTestFinished, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { platformWith } from '../scene.js'
import { failureOf, modelAt } from './clients.js'

/** A server with one tool, beside a model that calls it. */
const weather: PlatformOptions = {
  mcp: {
    tools: [
      {
        name: 'get_weather',
        description: 'The weather in a city.',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ],
  },
  rules: [
    { on: 'tools/call get_weather', reply: { text: 'Rain in {{ arguments.city }}.' } },
    {
      when: { user: 'weather', toolResult: false },
      reply: { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
    },
    { when: { toolResult: { contains: 'Rain in Oslo' } }, reply: { text: 'Take an umbrella.' } },
  ],
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** Connects the client of the AI SDK. */
async function aiSdk(url: string, headers: Record<string, string> = {}) {
  const client = await createMCPClient({ transport: { type: 'http', url: `${url}/mcp`, headers } })
  onTestFinished(() => client.close())
  return client
}

/** Creates LangChain's client, which connects when tools are requested. */
function langChain(url: string, headers: Record<string, string> = {}) {
  const client = new MultiServerMCPClient({ standin: { transport: 'http', url: `${url}/mcp`, headers } })
  onTestFinished(() => client.close())
  return client
}

const command = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector-cli/build/index.js'))

/** Runs the inspector's command with these arguments, in its own folder: it looks for its package.json from there. */
async function inspector(url: string, ...args: string[]) {
  const all = [command, `${url}/mcp`, '--transport', 'http', ...args]
  const child = spawn(process.execPath, all, { cwd: path.dirname(command) })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { stdout, stderr, code }
}

test('a model of the AI SDK calls a tool of the server, with the same API key for both', async () => {
  const platform = await platformWith(weather)
  const tools = (await (await aiSdk(platform.url, bearer(platform.apiKey))).tools()) as unknown as ToolSet
  expect(Object.keys(tools)).toEqual(['get_weather'])
  const answer = await generateText({
    ...{ ...modelAt(platform), tools, prompt: 'What is the weather?' },
    stopWhen: stepCountIs(3),
  })
  expect(answer.steps[0]?.toolResults[0]?.output).toMatchObject({ content: [{ type: 'text', text: 'Rain in Oslo.' }] })
  expect(answer.text).toBe('Take an umbrella.')
})

test('the AI SDK gets a 401 without a key', async () => {
  const { url } = await platformWith(weather)
  expect(String(await failureOf(aiSdk(url)))).toMatch(/401/)
})

test("LangChain's adapter lists the tool and calls it", async () => {
  const platform = await platformWith(weather)
  const [tool, ...others] = await langChain(platform.url, bearer(platform.apiKey)).getTools()
  expect([tool?.name, tool?.description, others]).toEqual(['get_weather', 'The weather in a city.', []])
  expect(await tool?.invoke({ city: 'Oslo' })).toBe('Rain in Oslo.')
})

test("LangChain's adapter gets a 401 without a key", async () => {
  const { url } = await platformWith(weather)
  expect(String(await failureOf(langChain(url).getTools()))).toContain('Authentication failed')
})

test("the inspector's command lists the tool and calls it", async () => {
  const { url, apiKey } = await platformWith(weather)
  const withKey = ['--header', `Authorization: Bearer ${apiKey}`]
  const [list, call] = await Promise.all([
    inspector(url, ...withKey, '--method', 'tools/list'),
    inspector(url, ...withKey, '--method', 'tools/call', '--tool-name', 'get_weather', '--tool-arg', 'city=Oslo'),
  ])
  expect(JSON.parse(list.stdout)).toMatchObject({ tools: [{ name: 'get_weather' }] })
  expect(JSON.parse(call.stdout)).toEqual({ content: [{ type: 'text', text: 'Rain in Oslo.' }] })
})

test("the inspector's command gets a 401 without a key", async () => {
  const { url } = await platformWith(weather)
  const { stderr, code } = await inspector(url, '--method', 'tools/list')
  expect([stderr, code]).toEqual([expect.stringMatching(/401|Unauthorized|credential/i), 1])
})
