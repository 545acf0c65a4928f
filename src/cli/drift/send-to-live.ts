/** Sends recorded requests to the live platform, with the live credentials. */
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { finished } from 'node:stream/promises'
import type { Config } from '../../config/schema.js'
import { upstreamTimeout, upstreamUnreachable, upstreamUnreadable } from '../../core/errors.js'
import { stringifyExact } from '../../core/json.js'
import { isStatus } from '../../http/documented-error.js'
import { type Capture, MOST_BODY_BYTES, type RecordedRequest, type SendToLive } from '../../recordings/index.js'

export interface LiveOptions {
  readonly upstream: Config['upstream']
  /** The live credential for a path, by the name of its option. */
  readonly credentialOf: (path: string) => 'apiKey' | 'anonKey' | undefined
}

/** Sends only to `upstream.baseUrl`, and does not follow redirects. The message of an error is a sentence for the user. */
export function sendToLive(options: LiveOptions): SendToLive {
  const { upstream, credentialOf } = options
  return (recorded, signal) => {
    const target = requestOptions(recorded, upstream, signal)
    const headers = headersFor(recorded, { ...upstream, credentialOf })
    return exchange(recorded, { ...target, headers }, options)
  }
}

function requestOptions(
  recorded: RecordedRequest,
  upstream: Config['upstream'],
  signal: AbortSignal,
): https.RequestOptions {
  const { method, path, query } = recorded
  const base = new URL(upstream.baseUrl)
  const prefix = base.pathname.replace(/\/$/, '')
  return {
    ...{ method, signal, protocol: base.protocol, port: base.port },
    // A new connection for each request: a reused one may just have been closed by the server.
    agent: false,
    // Node expects IPv6 addresses without brackets.
    hostname: base.hostname.replace(/^\[|\]$/g, ''),
    path: `${prefix}${path}${query === '' ? '' : `?${query}`}`,
  }
}

/** Sends one request and resolves with its answer. */
function exchange(recorded: RecordedRequest, target: https.RequestOptions, options: LiveOptions): Promise<Capture> {
  const { timeoutMs } = options.upstream
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const request = (target.protocol === 'https:' ? https : http).request(target)
    let timedOut = false
    let isAnswered = false
    const timer = setTimeout(() => {
      timedOut = true
      request.destroy()
    }, timeoutMs)
    request.once('response', answer => {
      clearTimeout(timer)
      isAnswered = true
      const { statusCode = 0 } = answer
      if (!isStatus(statusCode)) {
        answer.destroy()
        return reject(upstreamUnreadable(`status ${statusCode}`))
      }
      receive(answer, startedMs, options).then(resolve, reject)
    })
    // Once the answer has begun, its own events report how it ended.
    request.on('error', ({ code = '', message }: NodeJS.ErrnoException) => {
      if (timedOut) return reject(upstreamTimeout(timeoutMs))
      reject(code.startsWith('HPE_') ? upstreamUnreadable(code) : upstreamUnreachable(code || message))
    })
    // Some requests end without an answer and without an error, for example on an unexpected protocol upgrade.
    request.once('close', () => {
      clearTimeout(timer)
      if (!isAnswered) reject(upstreamUnreachable('no answer'))
    })
    request.end(textOf(recorded))
  })
}

function headersFor(
  recorded: RecordedRequest,
  { credentialOf, ...keys }: Pick<Config['upstream'], 'apiKey' | 'anonKey'> & Pick<LiveOptions, 'credentialOf'>,
): Record<string, string | number> {
  const { path } = recorded
  const kind = credentialOf(path)
  const credential = kind === undefined ? '' : keys[kind]
  const text = textOf(recorded)
  return {
    accept: '*/*',
    'accept-encoding': 'identity',
    ...(credential !== '' && { authorization: `Bearer ${credential}` }),
    ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
}

/** The request body as text. Recorded requests that can be repeated all have JSON bodies. */
function textOf({ body }: RecordedRequest): string | undefined {
  if (body.kind === 'json') return stringifyExact(body.value)
  return body.kind === 'text' ? body.text : undefined
}

/** Resolves when the answer has ended, completely or not. */
async function receive(answer: IncomingMessage, startedMs: number, options: LiveOptions): Promise<Capture> {
  const { upstream } = options
  const headAtMs = performance.now()
  const chunks: { readonly atMs: number; readonly bytes: Buffer }[] = []
  let length = 0
  const timer = setTimeout(() => answer.destroy(), upstream.timeoutMs)
  // Iterating over the answer would join chunks that arrive together.
  answer.on('data', (bytes: Buffer) => {
    timer.refresh()
    chunks.push({ atMs: performance.now() - headAtMs, bytes })
    length += bytes.length
    if (length > MOST_BODY_BYTES) answer.destroy()
  })
  // Rejects for an incomplete answer.
  await finished(answer).catch(() => {})
  clearTimeout(timer)
  if (length > MOST_BODY_BYTES) throw new Error(`The live answer is larger than ${MOST_BODY_BYTES} bytes.`)
  return {
    status: answer.statusCode ?? 0,
    headers: answer.rawHeaders,
    headMs: headAtMs - startedMs,
    endMs: performance.now() - headAtMs,
    chunks,
    complete: answer.complete,
  }
}
