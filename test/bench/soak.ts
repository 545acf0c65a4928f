/**
 * `node --expose-gc --import tsx test/bench/soak.ts [minutes] [requests per second]`: puts a mixed load on three platforms in one process
 * (emulate, record with every request new, replay), and prints its memory every minute after a garbage collection. It should level off; only
 * the index of recordings grows with them. `SNAPSHOT=folder` writes a heap snapshot after the first and the last minute.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { writeHeapSnapshot } from 'node:v8'
import type { Mode } from '../../src/core/exchange.js'
import { startPlatform } from '../../src/index.js'

const modes = ['emulate', 'record', 'replay'] as const
const person = { email: 'ada@example.com', password: 'correct horse' }

interface Running {
  readonly platforms: readonly {
    readonly mode: Mode
    readonly url: string
    readonly apiKey: string
    readonly anonKey: string
  }[]
}

interface Measured {
  readonly rssMb: number
  readonly heapMb: number
  readonly externalMb: number
}

const megabytes = (bytes: number) => Math.round(bytes / 104_857.6) / 10

/** The measured process. */
async function serve(liveUrl: string, dir: string): Promise<void> {
  const running = await Promise.all(
    modes.map(mode =>
      startPlatform({
        ...{ mode, state: 'memory', upstream: { baseUrl: liveUrl, apiKey: 'sk-live-0123456789abcdefABCDEF' } },
        ...{ users: [person], recordings: { dir: path.join(dir, mode === 'emulate' ? 'none' : 'recordings') } },
      }),
    ),
  )
  const platforms = running.map(({ url, apiKey, anonKey }, i) => ({ mode: modes[i], url, apiKey, anonKey }))
  process.send?.({ platforms })
  process.on('message', (snapshot: string) => {
    // Twice, because the first run only detects some of the garbage.
    global.gc?.()
    global.gc?.()
    const { rss, heapUsed, external } = process.memoryUsage()
    if (snapshot) writeHeapSnapshot(snapshot)
    process.send?.({ rssMb: megabytes(rss), heapMb: megabytes(heapUsed), externalMb: megabytes(external) })
  })
}

/** The live platform: a whole answer or a stream, different each time. */
async function live(): Promise<string> {
  let count = 0
  const server = createServer(async (request, response) => {
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk)
    count++
    if (!/"stream":true/.test(Buffer.concat(body).toString())) {
      response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': `req-${count}` })
      const choices = [
        { index: 0, message: { role: 'assistant', content: `Answer ${count}. `.repeat(50) }, finish_reason: 'stop' },
      ]
      response.end(
        JSON.stringify({ id: `chatcmpl-${count}`, object: 'chat.completion', created: 1, model: 'gpt-4o', choices }),
      )
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let i = 0; i < 100; i++) {
      const choices = [{ index: 0, delta: { content: `word ${i} ` }, finish_reason: null }]
      response.write(
        `data: ${JSON.stringify({ id: `chatcmpl-${count}`, object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', choices })}\n\n`,
      )
    }
    response.end('data: [DONE]\n\n')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An endless sequence of requests of each kind in turn. */
function* requests({ platforms }: Running): Generator<Request> {
  for (let count = 0; ; count++) {
    for (const { mode, url, apiKey, anonKey } of platforms) {
      const json = { 'content-type': 'application/json' }
      const chat = (content: string, stream: boolean, bearer = apiKey) =>
        new Request(`${url}/v1/chat/completions`, {
          ...{ method: 'POST', headers: { ...json, authorization: `Bearer ${bearer}` } },
          body: JSON.stringify({ model: 'gpt-4o', stream, messages: [{ role: 'user', content }] }),
        })
      // Mode replay repeats half of the recorded requests, and half of those are misses.
      const text =
        mode === 'replay'
          ? `Question ${count % 400} of record? ${'word '.repeat(200)}`
          : `Question ${count} of ${mode}? ${'word '.repeat(200)}`
      switch (count % 8) {
        case 0:
        case 1:
        case 2:
          yield chat(text, false)
          break
        case 3:
        case 4:
          yield chat(text, true)
          break
        case 5:
          yield count % 16 === 5
            ? new Request(`${url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } })
            : new Request(`${url}/no/such/${count}`, { headers: { authorization: `Bearer ${apiKey}` } })
          break
        case 6:
          yield chat(text, false, `sk-unknown-${count}`)
          break
        default:
          // Hashing a password takes a tenth of a second.
          yield count % 64 === 7
            ? new Request(`${url}/auth/v1/token?grant_type=password`, {
                ...{ method: 'POST', headers: { ...json, apikey: anonKey }, body: JSON.stringify(person) },
              })
            : new Request(`${url}/__standin/journal?limit=20`)
      }
    }
  }
}

async function soak(minutes: number, perSecond: number): Promise<void> {
  const dir = mkdtempSync(path.join(tmpdir(), 'standin-soak-'))
  const child = fork(import.meta.filename, ['serve', await live(), dir], {
    execArgv: ['--expose-gc', ...process.execArgv],
  })
  const nextMessage = <T>() =>
    new Promise<T>(resolve => void child.once('message', resolve as (message: unknown) => void))
  const next = requests(await nextMessage<Running>())
  const { SNAPSHOT: folder } = process.env
  const statuses = new Map<number, number>()
  const startedMs = performance.now()
  console.log('minute  requests  RSS MB  heap MB  external MB')
  let sent = 0
  for (let minute = 0; minute <= minutes; minute++) {
    if (minute > 0) {
      for (const endMs = startedMs + minute * 60_000; performance.now() < endMs; ) {
        const due = Math.floor(((performance.now() - startedMs) / 1000) * perSecond) - sent
        const batch = Array.from({ length: Math.min(due, 32) }, async () => {
          const response = await fetch(next.next().value as Request)
          await response.arrayBuffer()
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        })
        sent += batch.length
        await Promise.all(batch)
        if (batch.length < 4) await pause(20)
      }
    }
    const answer = nextMessage<Measured>()
    const isShown = folder && (minute === 1 || minute === minutes)
    child.send(isShown ? path.join(folder, `minute-${minute}.heapsnapshot`) : '')
    const { rssMb, heapMb, externalMb } = await answer
    console.log(
      [minute, sent, rssMb, heapMb, externalMb]
        .map((value, i) => String(value).padStart([6, 10, 8, 9, 13][i] ?? 0))
        .join(''),
    )
  }
  console.log('statuses:', Object.fromEntries(statuses))
  child.kill()
  rmSync(dir, { recursive: true })
  process.exit()
}

const [, , first = '30', second = '60', third = ''] = process.argv
if (first === 'serve') await serve(second, third)
else await soak(Number(first), Number(second))
