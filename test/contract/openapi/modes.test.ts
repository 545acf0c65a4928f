import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import type { PlatformOptions } from '../../../src/index.js'
import { folderWith } from '../../command.js'
import { hello, platformWith, type Scene } from '../../scene.js'
import { otherProcess } from '../other-process.js'
import { documentOf, judging, operationsOf, type Placed } from './document.js'

const modes = ['emulate', 'proxy', 'record', 'replay'] as const
type Mode = (typeof modes)[number]

/** How to get an answer of a status: what is added to the request, and to the configuration of the platform. */
interface Way {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | object
  readonly bearer?: 'none' | 'wrong'
  readonly options?: PlatformOptions
  /** The modes in which there is such an answer. */
  readonly in?: readonly Mode[]
  /** Only for these operations. */
  readonly of?: readonly string[]
  /** How often the request is sent; the last answer counts. */
  readonly times?: number
}

const chat = ['createChatCompletion']
/** The health check has no limits. */
const limited = ['getIndex', 'listModels', ...chat]
const streamed = { ...hello, stream: true, stream_options: { include_usage: true } }
const live: readonly Mode[] = ['proxy', 'record']

const ways = (slow: string, closed: string): readonly Way[] => [
  { status: 200 },
  { status: 200, of: chat, body: streamed },
  { status: 200, of: chat, body: streamed, headers: { 'x-standin-fault': 'fail=1' } },
  { status: 400, headers: { 'x-standin-fault': 'nonsense' } },
  { status: 400, of: chat, body: {} },
  { status: 400, of: chat, body: '{', headers: { 'content-type': 'application/json' } },
  { status: 401, bearer: 'none', options: { access: { health: ['apiKey'] } } },
  { status: 401, bearer: 'wrong', options: { access: { health: ['apiKey'] } } },
  { status: 403, headers: { origin: 'https://elsewhere.example' }, in: live },
  { status: 404, headers: { 'x-standin-fault': 'status=404' } },
  { status: 413, of: chat, body: { ...hello, user: 'x'.repeat(20_000) }, options: { limits: { bodyBytes: 10_000 } } },
  { status: 415, of: chat, headers: { 'content-type': 'text/plain' } },
  { status: 417, headers: { expect: 'a miracle' } },
  { status: 424, in: ['replay'], options: { recordings: { dir: folderWith() } } },
  { status: 424, of: chat, in: ['emulate'], options: { strict: true } },
  { status: 429, of: limited, times: 2, options: { limits: { requestsPerMinute: 1 } } },
  { status: 431, headers: { 'x-long': 'x'.repeat(20_000) } },
  { status: 502, in: live, options: { upstream: { baseUrl: closed, apiKey: 'sk-live' } } },
  { status: 504, in: live, options: { upstream: { baseUrl: slow, apiKey: 'sk-live', timeoutMs: 50 } } },
  // Any other error.
  ...[408, 418, 500, 503].map(status => ({ status, headers: { 'x-standin-fault': `status=${status}` } })),
]

/** A live platform, and one that never answers. */
async function livePlatforms() {
  const upstream = await otherProcess()
  onTestFinished(() => upstream.stop())
  const silent = net.createServer(socket => socket.on('error', () => {})).listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  // It listens, since another test could be given the port of one that does not.
  const gone = net.createServer(socket => socket.destroy()).listen(0, '127.0.0.1')
  await once(gone, 'listening')
  onTestFinished(() => void gone.close())
  const urlOf = (server: net.Server) => `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
  return { upstream, slow: urlOf(silent), gone: urlOf(gone) }
}

/** Sends a request as exactly as node can, and returns the answer as a client of the web would have it. */
async function answerTo({ url, anonKey, apiKey }: Scene, { method, path, operation }: Placed, way: Way) {
  const { bearer, body, headers } = way
  const key = path === '/api/v1' ? anonKey : apiKey
  const takesBody = operation.requestBody !== undefined
  const request = http.request(url + path, {
    method: method.toUpperCase(),
    agent: false,
    headers: {
      ...(bearer !== 'none' && { authorization: `Bearer ${bearer === 'wrong' ? 'sk-wrong' : key}` }),
      ...(takesBody && { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  request.end(takesBody ? (typeof body === 'string' ? body : JSON.stringify(body ?? hello)) : undefined)
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, headers: answered } = answer
  return new Response(await text(answer), { status, headers: { 'content-type': answered['content-type'] ?? '' } })
}

const isFor = ({ in: only = modes, of }: Way, { operation }: Placed, mode: Mode) =>
  only.includes(mode) && (of?.includes(operation.operationId) ?? true)

test('every answer, refusal and event that the document has is given as it says, in all modes', async () => {
  const { upstream, slow, gone } = await livePlatforms()
  const all = ways(slow, gone)
  const recordings = { dir: folderWith(), speed: 0 }
  const usual = { upstream: { baseUrl: upstream.url, apiKey: upstream.apiKey, anonKey: upstream.anonKey }, recordings }
  const given = new Map<string, Set<string>>()
  const wrong: unknown[] = []
  for (const mode of modes) {
    const events = new Set<string>()
    const platforms = new Map<PlatformOptions | undefined, Scene>()
    const platformFor = async ({ options }: Way) => {
      const platform = platforms.get(options) ?? (await platformWith({ ...usual, mode, ...options }))
      platforms.set(options, platform)
      return platform
    }
    const platform = await platformFor({ status: 200 })
    const document = await documentOf(platform)
    const judge = judging(document, event => events.add(event))
    for (const placed of operationsOf(document, 'platform'))
      for (const way of all.filter(one => isFor(one, placed, mode))) {
        const asked = await platformFor(way)
        let response = await answerTo(asked, placed, way)
        for (let i = 1; i < (way.times ?? 1); i++) response = await answerTo(asked, placed, way)
        const { operationId, responses } = placed.operation
        const documented = String(response.status) in responses ? String(response.status) : 'default'
        given.set(operationId, (given.get(operationId) ?? new Set()).add(documented))
        if (response.status !== way.status) wrong.push([mode, operationId, way, response.status])
        wrong.push(...[(await judge(placed, response)) ?? []].flat())
      }
    expect([mode, [...events].length]).toEqual([mode, 3])
    // What was recorded is replayed.
    await platform.stop()
  }
  expect(wrong).toEqual([])
  for (const { operation } of operationsOf(await documentOf(await platformWith()), 'platform'))
    expect([...(given.get(operation.operationId) ?? [])].toSorted()).toEqual(
      Object.keys(operation.responses).toSorted(),
    )
}, 60_000)
