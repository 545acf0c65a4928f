import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { hello } from '../scene.js'
import { liveKey, liveWith, tape } from './live.js'

const liveAnonKey = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiIsImlzcyI6ImxpdmUifQ.b3V0c2lkZXJzLW1heS1ub3Qtc2VlLXRoaXM'
const callersKey = 'sk-local-thisIsTheKeyOfTheCaller0123456789'
const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg'
const cookie = 'session=0f8fad5b-d9cb-469f-a165-70867728950e'
const project = 'cus_9s6XKzkNRiz8i3'
/** What is known by its form, or as a credential. */
const said = { liveKey, liveAnonKey, callersKey, jwt, project, email: 'ada@example.com' }
/** A cookie is known by its header alone; and of a key nothing is left, not even its end. */
const all = { ...said, cookie, end: liveKey.slice(-12) }

const apiKeys = [{ name: 'caller', key: callersKey }]
const redact = { emails: true, patterns: ['/cus_\\w+/'] }

/** Records what `live` says to `ask`, and gives back everything that is on the disk then. */
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

/** None of them is there, as it is or in an encoding. */
function expectNoSecret(disk: string): void {
  for (const [name, secret] of Object.entries(all)) {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replace(/=+$/, '')]
    for (const form of forms) expect(disk.includes(form), name).toBe(false)
  }
}

const everything = Object.values(said).join(' ')

test('secrets that a request shows are on no disk, wherever they stand', async () => {
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

test('secrets that the live platform says are on no disk, in headers, bodies and errors', async () => {
  const answers: readonly RequestListener[] = [
    (_request, response) =>
      response
        .writeHead(200, { 'set-cookie': [cookie, `a=${jwt}`], 'x-key': liveKey, location: `/x?token=${jwt}` })
        .end(JSON.stringify({ everything: everything, deep: [{ [liveKey]: jwt }] })),
    (_request, response) => response.writeHead(401).end(`{"error":"Incorrect API key provided: ${liveKey}."}`),
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
      for (const _ of answers) await (await chat(hello)).arrayBuffer()
    },
  )
  expect(files).toHaveLength(answers.length)
  expectNoSecret(disk)
})

test('a secret that a model spells out, over the borders of tokens and of network chunks, is on no disk', async () => {
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
  // Nor can it be put together from what is played.
  const { chat } = await replaying()
  const { choices } = (await (await chat(hello)).json()) as { choices: { message: { content: string } }[] }
  expect(choices[0]?.message.content).toMatch(/^The key is \[[\w-]+\] and the token \[jwt-\d+\]\.$/)
})

test('a request with another credential is the same request', async () => {
  const asking = (key: string) => ({ ...hello, messages: [{ role: 'user', content: `I am ${key}. Who am I?` }] })
  const { replaying } = await diskAfter(
    (_request, response) => response.writeHead(200).end('{"you":"somebody"}'),
    async ({ chat }) => (await chat(asking(callersKey))).text(),
  )
  const { chat, apiKey } = await replaying()
  expect((await chat(asking(apiKey))).status).toBe(200)
  // A key that is not the caller's own is something else that is said.
  expect((await chat(asking('sk-local-anotherKey0123456789abcdefgh'))).status).toBe(424)
})

test('what a miss says of a request has no secret in it', async () => {
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
  expectNoSecret(JSON.stringify(platform.misses()))
})
