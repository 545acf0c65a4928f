import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import path from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { hello } from '../scene.js'
import { liveKey, liveWith, tape } from './live.js'

const liveAnonKey = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiIsImlzcyI6ImxpdmUifQ.b3V0c2lkZXJzLW1heS1ub3Qtc2VlLXRoaXM'
const callersKey = 'sk-local-thisIsTheKeyOfTheCaller0123456789'
const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg'
const cookie = 'session=0f8fad5b-d9cb-469f-a165-70867728950e'
const project = 'cus_9s6XKzkNRiz8i3'
/** Secrets that are recognized by their format or as a credential. */
const said = { liveKey, liveAnonKey, callersKey, jwt, project, email: 'ada@example.com' }
/** A cookie is only recognized by its header, and of a key not even the end may be left. */
const all = { ...said, cookie, end: liveKey.slice(-12) }

const apiKeys = [{ name: 'caller', key: callersKey }]
const redact = ['emails', '/cus_\\w+/']

/** Records the answers of `live` to `ask` and returns everything on disk afterwards. */
async function diskAfter(
  live: RequestListener,
  ask: (platform: Awaited<ReturnType<ReturnType<typeof tape>['recording']>>) => Promise<unknown>,
  options: PlatformOptions = {},
) {
  const { url } = await liveWith(live)
  const { recording, replaying, files, dir } = tape(url)
  const platform = await recording({ apiKeys, upstream: { anonKey: liveAnonKey }, recordings: { redact }, ...options })
  await ask(platform)
  await platform.stop()
  const texts = files().map(file => `${file}\n${readFileSync(path.join(dir, file), 'utf8')}`)
  return {
    disk: texts.join('\n'),
    replaying: () => replaying({ apiKeys, recordings: { redact, speed: 0 } }),
    files: files(),
  }
}

/** Expects none of the secrets, plain or encoded. */
function expectNoSecret(disk: string): void {
  for (const [name, secret] of Object.entries(all)) {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replace(/=+$/, '')]
    for (const form of forms) expect(disk.includes(form), name).toBe(false)
  }
}

const everything = Object.values(said).join(' ')

test('secrets anywhere in a request are not written to disk', async () => {
  const { disk, files } = await diskAfter(
    (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
    async ({ chat, ask }) => {
      const headers = { cookie, apikey: liveAnonKey, 'x-api-key': callersKey, 'x-trace': jwt }
      const messages = [
        { role: 'system', content: `My key is ${callersKey}, yours ${liveKey}.` },
        { role: 'user', content: `Write to ada@example.com about ${project}: ${jwt}` },
      ]
      await (await chat({ ...hello, messages, metadata: { [jwt]: project, key: liveKey } }, { headers })).text()
      await (await ask(`/v1/models?apikey=${callersKey}&token=${jwt}&q=${encodeURIComponent(everything)}`)).text()
      await (await ask(`/v1/files/${callersKey}`, { headers })).text()
    },
  )
  expect(files.length).toBeGreaterThanOrEqual(2)
  expectNoSecret(disk)
})

/** A request to a path that only the live platform knows, with a compressed body. */
const compressed = (encoding: string, body: Buffer) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'content-encoding': encoding },
  body,
})

test('a compressed request is recorded and matched decompressed, without its secrets', async () => {
  const json = JSON.stringify({ name: 'report', secrets: [jwt, project, said.email] })
  const { disk, files, replaying } = await diskAfter(
    (_request, response) => response.writeHead(200).end('{"ok":true}'),
    async ({ ask }) => (await ask('/v1/items', compressed('gzip', gzipSync(json)))).text(),
  )
  expect(files).toHaveLength(1)
  expect(disk).toContain('name: report')
  expectNoSecret(disk)
  const { ask } = await replaying()
  expect((await ask('/v1/items', compressed('br', brotliCompressSync(json)))).status).toBe(200)
})

test.each([
  ['gzip', gzipSync(jwt).subarray(0, -8)],
  ['secret-sauce', gzipSync(jwt)],
  ['gzip', gzipSync(Buffer.alloc(17 * 1_048_576))],
])('a request whose body cannot be decompressed as %s is forwarded, but not recorded', async (encoding, body) => {
  const live = await liveWith((_request, response) => response.writeHead(200).end('{"ok":true}'))
  const { recording, files } = tape(live.url)
  const { ask, stop, receipt } = await recording()
  expect((await ask('/v1/items', compressed(encoding, body))).status).toBe(200)
  await stop()
  expect(files()).toEqual([])
  expect((await receipt())?.notRecorded).toEqual([expect.stringContaining('request body cannot be decompressed')])
})

test('credentials under any name are not written to disk, even if the answer repeats them, and other credentials find the recording', async () => {
  const credentialsOf = (who: string) => ({
    query: `token=${who}-token-plain&code=${who}-code-plain`,
    headers: {
      'x-auth-token': `${who}-auth-plain`,
      'openai-api-key': `${who}-openai-plain`,
      'x-client-secret': `${who}-secret-plain`,
      cookie: `theme=dark; sid=${who}-cookie-plain`,
    },
  })
  const { disk, files, replaying } = await diskAfter(
    (request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'sid=setby-cookie-plain; Path=/' })
        .end(JSON.stringify({ url: request.url, ...request.headers, sid: 'setby-cookie-plain' })),
    async ({ ask }) => {
      const { query, headers } = credentialsOf('first-caller')
      await (await ask(`/v1/models?${query}`, { headers })).text()
    },
  )
  expect(files).toHaveLength(1)
  expect(disk).not.toMatch(/caller-\w+-plain|setby/)
  expect(disk).toContain('[credential]')
  const { query, headers } = credentialsOf('second-caller')
  const { ask } = await replaying()
  const replayed = await ask(`/v1/models?${query}`, { headers })
  expect(replayed.status).toBe(200)
  expect(await replayed.json()).toMatchObject({ sid: '[credential]', 'x-auth-token': '[x-auth-token]' })
})

test('secrets in headers, bodies and errors of the live platform are not written to disk', async () => {
  const answers: readonly RequestListener[] = [
    (_request, response) =>
      response
        .writeHead(200, { 'set-cookie': [cookie, `a=${jwt}`], 'x-key': liveKey, location: `/x?token=${jwt}` })
        .end(JSON.stringify({ everything: everything, deep: [{ [liveKey]: jwt }] })),
    (_request, response) => response.writeHead(403).end(`{"error":"Incorrect API key provided: ${liveKey}."}`),
    (_request, response) => response.writeHead(500).end(`<pre>${jwt}\n${callersKey}</pre>`),
    // Written with escapes, as some serializers do.
    (_request, response) =>
      response
        .writeHead(200)
        .end(`{"key":"${[...liveKey].map(c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`),
    (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(`\xff\x00${liveKey}\xfe`, 'latin1')),
  ]
  let turn = 0
  const { disk, files } = await diskAfter(
    (request, response) => answers[turn++]?.(request, response as never),
    async ({ chat }) => {
      for (const seed of answers.keys()) await (await chat({ ...hello, seed })).arrayBuffer()
    },
  )
  expect(files).toHaveLength(answers.length)
  expectNoSecret(disk)
})

test('a secret that a model spells out across tokens and network chunks is not written to disk', async () => {
  const spoken = `The key is ${liveKey} and the token ${jwt}.`
  const { disk, replaying } = await diskAfter(
    async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const events = (spoken.match(/.{1,3}/gs) ?? []).map(
        content => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`,
      )
      for (const piece of `${events.join('')}data: [DONE]\n\n`.match(/.{1,50}/gs) ?? []) {
        await new Promise<void>(sent => response.write(piece, () => sent()))
      }
      response.end()
    },
    async ({ chat }) => (await chat({ ...hello, stream: true })).text(),
  )
  expectNoSecret(disk)
  // Nor can it be assembled from the replay.
  const { chat } = await replaying()
  const { choices } = (await (await chat(hello)).json()) as { choices: { message: { content: string } }[] }
  expect(choices[0]?.message.content).toMatch(/^The key is \[[\w-]+\] and the token \[jwt-\d+\]\.$/)
})

test('a request with another credential matches the same recording', async () => {
  const asking = (key: string) => ({ ...hello, messages: [{ role: 'user', content: `I am ${key}. Who am I?` }] })
  const { replaying } = await diskAfter(
    (_request, response) => response.writeHead(200).end('{"you":"somebody"}'),
    async ({ chat }) => (await chat(asking(callersKey))).text(),
  )
  const { chat, apiKey } = await replaying()
  expect((await chat(asking(apiKey))).status).toBe(200)
  // A key other than the caller's own is part of the content.
  expect((await chat(asking('sk-local-anotherKey0123456789abcdefgh'))).status).toBe(424)
})

test('the report of a miss contains no secret', async () => {
  const { replaying } = await diskAfter(
    (_request, response) => response.writeHead(200).end('{}'),
    async ({ chat }) => (await chat(hello)).text(),
  )
  const platform = await replaying()
  const response = await platform.chat({
    ...hello,
    messages: [{ role: 'user', content: everything }],
  })
  expectNoSecret(await response.text())
  await (await platform.ask(`/v1/files/${liveKey}/${jwt}`)).text()
  expectNoSecret(JSON.stringify(await platform.misses()))
})
