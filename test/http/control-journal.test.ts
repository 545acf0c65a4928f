import { spawn } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/journal/index.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { isUnknown, mustBe, wholeNumber } from '../sentences.js'

interface Page {
  readonly data: readonly JournalEntry[]
  readonly next?: string
}

/** A platform that has received requests for these paths, in this order. */
async function platformAfter(...paths: readonly string[]) {
  const platform = await platformWith({
    rules: [{ name: 'greeting', when: { user: 'hello' }, reply: { text: 'Hi!' } }],
  })
  for (const path of paths) await (await platform.ask(path)).text()
  const control = (path: string, init: RequestInit = {}) => fetch(`${platform.url}/__standin/${path}`, init)
  const call = async (path: string, body?: unknown) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await control(path, body === undefined ? {} : init)
    return { status: response.status, body: (await response.json()) as Page & { error: string; count: number } }
  }
  return { ...platform, control, call, page: async (query = '') => (await call(`journal${query}`)).body }
}

const pathsOf = ({ data }: Page) => data.map(({ request }) => request.path)

test('the journal lists requests, newest last, and where each answer came from', async () => {
  const { chat, page } = await platformAfter('/health')
  await (await chat(hello)).json()
  const { data, next } = await page()
  expect(pathsOf({ data })).toEqual(['/health', '/v1/chat/completions'])
  expect(next).toBeUndefined()
  expect(data[1]).toMatchObject({
    caller: { kind: 'apiKey', name: 'development' },
    request: { method: 'POST', body: hello },
    source: 'rule "greeting"',
    status: 200,
    complete: true,
  })
})

test.each([
  ['?path=/v1/*', ['/v1/models']],
  ['?status=4xx&complete=true', ['/nope']],
  ['?caller=apiKey', ['/v1/models']],
  ['?method=get&path=/nope', ['/nope']],
  ['?scope=', ['/health', '/v1/models', '/nope']],
  ['?after=1&before=3', ['/v1/models']],
])('query parameters filter the journal: %s', async (query, paths) => {
  const { page } = await platformAfter('/health', '/v1/models', '/nope')
  expect(pathsOf(await page(query))).toEqual(paths)
})

test.each([
  ['?staus=404', `staus ${isUnknown('status')}`],
  ['?limit=0', mustBe('limit', wholeNumber(1, 1000), '0')],
  ['?follow&before=3', 'before cannot be combined with follow.'],
])('a wrong parameter is refused by name: %s', async (query, error) => {
  const { call } = await platformAfter()
  expect(await call(`journal${query}`)).toEqual({ status: 400, body: { error } })
})

test('going back page by page shows everything once', async () => {
  const { page } = await platformAfter('/a', '/b', '/c', '/d', '/e')
  const last = await page('?limit=2')
  const middle = await page(`?limit=2&before=${last.next}`)
  const first = await page(`?limit=2&before=${middle.next}`)
  expect([first, middle, last].map(pathsOf)).toEqual([['/a'], ['/b', '/c'], ['/d', '/e']])
  expect(first.next).toBeUndefined()
})

test('an exchange has an address of its own until it is cleared', async () => {
  const { page, call, control } = await platformAfter('/health')
  const { data } = await page()
  const id = data[0]?.id ?? ''
  expect((await call(`journal/${id}`)).body).toEqual(data[0])
  expect((await control(`journal/${id}`, { method: 'HEAD' })).status).toBe(200)
  expect((await control('journal', { method: 'DELETE' })).status).toBe(204)
  expect(await call(`journal/${id}`)).toEqual({
    status: 404,
    body: { error: expect.stringMatching(/^Exchange 1 is no longer kept\./) },
  })
})

test('a test can find exchanges', async () => {
  const { call } = await platformAfter('/health', '/nope', '/health')
  expect(pathsOf((await call('journal/find', { status: 404 })).body)).toEqual(['/nope'])
  expect((await call('journal/find', { path: '/health', limit: 1 })).body).toMatchObject({
    data: [{ id: '3' }],
    next: '3',
  })
})

test('clearing one scope keeps the others', async () => {
  const { ask, page, control } = await platformAfter('/health')
  for (const scope of ['one', 'two']) await ask('/v1/models', { headers: { 'x-standin-scope': scope } })
  const scopes = async () => (await page()).data.map(({ scope }) => scope)
  expect((await page('?scope=one')).data).toMatchObject([{ scope: 'one', request: { path: '/v1/models' } }])
  expect((await control('journal?scope=one', { method: 'DELETE' })).status).toBe(204)
  expect(await scopes()).toEqual(['', 'two'])
  expect((await control('journal?scoop=two', { method: 'DELETE' })).status).toBe(400)
  expect(await scopes()).toEqual(['', 'two'])
})

const curlOf = async ({ url }: Pick<Scene, 'url'>, id: string) =>
  (await fetch(`${url}/__standin/journal/${id}/curl`)).text()

const lastOf = async ({ url }: Pick<Scene, 'url'>) => {
  const { data } = (await (await fetch(`${url}/__standin/journal?limit=1`)).json()) as { data: readonly JournalEntry[] }
  if (!data[0]) throw new Error('Nothing is in the journal.')
  return data[0]
}

/** The environment variables that the banner prints. */
const environmentOf = ({ apiKey, anonKey, serviceKey }: Scene) => ({
  PATH: process.env.PATH,
  OPENAI_API_KEY: apiKey,
  SUPABASE_ANON_KEY: anonKey,
  SUPABASE_SERVICE_ROLE_KEY: serviceKey,
})

/** Runs a command in a shell, as if it were pasted. */
function inShell(command: string, env: NodeJS.ProcessEnv): Promise<string> {
  const shell = spawn('sh', ['-e'], { env })
  let output = ''
  shell.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  shell.stdin.end(command)
  return new Promise((resolve, reject) => {
    shell.once('error', reject)
    shell.once('close', code =>
      code === 0 ? resolve(output) : reject(new Error(`The shell exited with ${code}: ${command}`)),
    )
  })
}

/** Repeats the last exchange with its curl command. */
async function again(platform: Scene) {
  const before = await lastOf(platform)
  const command = await curlOf(platform, before.id)
  const output = await inShell(command, environmentOf(platform))
  return { before, command, output, after: await lastOf(platform) }
}

const requestOf = ({ request: { method, path, query, body, bytes } }: JournalEntry) => ({
  method,
  path,
  query,
  body,
  bytes,
})

test('the command is readable', async () => {
  const platform = await platformWith()
  await platform.chat(hello, { headers: { 'content-type': 'application/json', 'x-standin-scope': "it's" } })
  expect(await curlOf(platform, '1')).toBe(`curl '${platform.url}/v1/chat/completions' \\
  -H "authorization: Bearer $OPENAI_API_KEY" \\
  -H 'content-type: application/json' \\
  -H 'x-standin-scope: it'\\''s' \\
  -H 'accept: */*' \\
  -H 'accept-language: *' \\
  --data-raw '${JSON.stringify(hello)}'
`)
})

test('any text can be the body', async () => {
  const platform = await platformWith()
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: anyCharacter, minLength: 1 }),
        fc.string({ unit: fc.constantFrom(...'\'"\\$`!@%\n\r\t\0;&|é€😀') }),
      ),
      async content => {
        await (await platform.chat({ ...hello, messages: [{ role: 'user', content }] })).text()
        const { before, after } = await again(platform)
        expect(requestOf(after)).toEqual(requestOf(before))
        await (await platform.chat({}, { body: content === '' ? '\0' : content })).text()
        const raw = await again(platform)
        expect(requestOf(raw.after)).toEqual(requestOf(raw.before))
      },
    ),
    { numRuns: runs(25, 5) },
  )
})

test.each([
  ['GET', '/v1/models?q=[1-3]{a,b}&x=%27'],
  ['GET', "/it's/../$HOME/`id`"],
  ['HEAD', '/health'],
])('the method and the path are repeated exactly: %s %s', async (method, path) => {
  const platform = await platformWith()
  const { port } = new URL(platform.url)
  await inShell(
    `curl -s --path-as-is --globoff -X ${method} ${method === 'HEAD' ? '--head' : ''} 'http://127.0.0.1:${port}${path.replaceAll("'", "'\\''")}'`,
    environmentOf(platform),
  )
  const { before, after } = await again(platform)
  expect(before.request.path).toBe(path.split('?')[0])
  expect(requestOf(after)).toEqual(requestOf(before))
})

test.each([
  ['the anon key', ({ anonKey }: Scene) => anonKey, '/api/v1', '$SUPABASE_ANON_KEY'],
  ['an API key', ({ apiKey }: Scene) => apiKey, '/v1/models', '$OPENAI_API_KEY'],
  ['an unknown key', () => 'sk-of-nobody', '/v1/models', '$OPENAI_API_KEY'],
  ['an unknown token', () => 'a.b.c', '/v1/models', '$TOKEN'],
])('%s comes from the environment', async (_what, keyOf, path, variable) => {
  const platform = await platformWith()
  const bearer = keyOf(platform)
  await (await platform.ask(path, { bearer })).text()
  const command = await curlOf(platform, '1')
  expect(command).toContain(`-H "authorization: Bearer ${variable}"`)
  expect(command).not.toContain(bearer)
})

test('the command says that the body is missing when the journal kept only its beginning', async () => {
  const platform = await platformWith()
  await (await platform.chat({ ...hello, user: 'x'.repeat(100_000) }, { bearer: null })).text()
  expect(await curlOf(platform, '1')).toMatch(
    /^# The body of the request is missing here, because the journal has only part of it\.\ncurl -X 'POST' /,
  )
})
