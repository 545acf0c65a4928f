import { spawn } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/journal/index.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { hello, platformWith, type Scene } from '../scene.js'

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

test('the command repeats the exchange, and gets the same answer', async () => {
  const platform = await platformWith()
  await (await platform.chat({ ...hello, seed: 1 })).json()
  const { before, after, output } = await again(platform)
  expect(after.id).not.toBe(before.id)
  expect(requestOf(after)).toEqual(requestOf(before))
  expect(after.caller).toEqual(before.caller)
  expect(JSON.parse(output).choices).toEqual((before.response.body as { choices: unknown }).choices)
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

test('headers are repeated exactly, even empty ones', async () => {
  const platform = await platformWith()
  const headers = { 'x-quoted': `it's "$HOME" \`id\``, 'x-empty': '', 'x-standin-scope': 'one' }
  await (await platform.ask('/v1/models', { headers })).text()
  const { before, after } = await again(platform)
  expect(before.request.headers).toMatchObject(headers)
  expect(after.request.headers).toMatchObject(headers)
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
