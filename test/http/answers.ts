/** One answer, delivered in five ways, and a client that reports how it ended. */
import { once } from 'node:events'
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { PlatformOptions } from '../../src/index.js'
import { hello, platformWith } from '../scene.js'

const liveKey = 'sk-live-nobody-here-may-see-it'

/** Five words; as a stream seven chunks: the role, one for each word, the end. */
export const words = 'one two three four five'
export const CHUNKS = 7

const countingRule = (pace: object = {}) => [{ name: 'count', reply: { text: words }, pace }]
const brisk = { firstTokenMs: 1, tokensPerSecond: 500 }

/** Where an answer comes from, and how the client asks for it. */
export interface Way {
  readonly isStream: boolean
  /** How the log names the source when there is no fault. */
  readonly source: string
  options(): Promise<PlatformOptions>
}

/** A platform in front of another one that answers at this pace. */
async function proxied(pace: object): Promise<PlatformOptions> {
  const live = await platformWith({ apiKeys: [{ name: 'live', key: liveKey }], rules: countingRule(pace) })
  return { mode: 'proxy', upstream: { baseUrl: live.url, apiKey: liveKey, anonKey: live.anonKey } }
}

const emulated = (pace?: object) => async (): Promise<PlatformOptions> => ({ rules: countingRule(pace) })
const rule = 'rule "count"'

export const ways: Readonly<Record<string, Way>> = {
  'emulated, whole': { isStream: false, source: rule, options: emulated() },
  'emulated, an unpaced stream': { isStream: true, source: rule, options: emulated() },
  'emulated, a paced stream': { isStream: true, source: rule, options: emulated(brisk) },
  'proxied, whole': { isStream: false, source: 'live', options: () => proxied({}) },
  'proxied, a paced stream': { isStream: true, source: 'live', options: () => proxied(brisk) },
}

export const all = Object.entries(ways)
export const streams = all.filter(([, { isStream }]) => isStream)
export const wholes = all.filter(([, { isStream }]) => !isStream)

/** What a client got. */
export interface ReceivedAnswer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Whether the answer was complete, as far as HTTP can tell. */
  readonly isWhole: boolean
  /** Whether the connection was torn down rather than closed. */
  readonly wasReset: boolean
}

/** Asks for a chat completion, and reads until the response closes. Rejects when no answer begins. */
export async function requestChat(
  platform: { readonly url: string; readonly apiKey: string },
  { isStream, fault, ...headers }: { readonly isStream: boolean; readonly fault?: string; readonly origin?: string },
): Promise<ReceivedAnswer> {
  const request = http.request(`${platform.url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${platform.apiKey}`,
      ...(fault !== undefined && { 'x-standin-fault': fault }),
      ...headers,
    },
  })
  request.end(JSON.stringify({ ...hello, stream: isStream }))
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  let wasReset = false
  request.on('error', () => {
    wasReset = true
  })
  // To node, a cut-off response is an error, and then a normal close.
  response.on('data', chunk => chunks.push(chunk)).on('error', () => {})
  await new Promise(closed => response.once('close', closed))
  const { statusCode: status, headers: received, complete: isWhole } = response
  return { status, headers: received, text: Buffer.concat(chunks).toString(), isWhole, wasReset }
}

/** The events of a stream in order, without the blank lines between them; the last one may be incomplete. */
export const eventsIn = (text: string) => text.split('\n\n').filter(event => event !== '')
