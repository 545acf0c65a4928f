/** Sends recorded requests to the live platform, with the live credentials. */
import { finished } from 'node:stream/promises'
import { type Dispatcher, EnvHttpProxyAgent, request } from 'undici'
import { upstreamUnreadable } from '../../core/errors.js'
import { stringifyExact } from '../../core/json.js'
import { isStatus } from '../../http/documented-error.js'
import { liveError } from '../../http/proxy.js'
import type { Config } from '../../platform/config/schema.js'
import { type Capture, MOST_BODY_BYTES, type RecordedRequest, type SendToLive } from '../../recordings/index.js'

export interface LiveOptions {
  readonly upstream: Config['upstream']
  /** The live credential for a path, by the name of its option. */
  readonly credentialOf: (path: string) => 'apiKey' | 'anonKey' | undefined
}

/**
 * Sends only to `upstream.baseUrl`, through the proxy that the environment names, and does not follow redirects. The
 * message of an error is a sentence for the user.
 */
export function sendToLive({ upstream, credentialOf }: LiveOptions): SendToLive {
  const { timeoutMs } = upstream
  const { origin, pathname } = new URL(upstream.baseUrl)
  const baseUrl = origin + pathname.replace(/\/+$/, '')
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  return async (recorded, signal) => {
    const { method, path, query } = recorded
    const kind = credentialOf(path)
    const startedMs = performance.now()
    const answer = await request(`${baseUrl}${path}${query === '' ? '' : `?${query}`}`, {
      method: method as Dispatcher.HttpMethod,
      headers: headersFor(recorded, kind === undefined ? '' : upstream[kind]),
      body: requestText(recorded) ?? null,
      dispatcher,
      signal,
    }).catch(error => {
      throw liveError(error, timeoutMs)
    })
    return received(answer, startedMs)
  }
}

const headersFor = (recorded: RecordedRequest, credential: string): Record<string, string> => ({
  accept: '*/*',
  'accept-encoding': 'identity',
  ...(credential !== '' && { authorization: `Bearer ${credential}` }),
  ...(requestText(recorded) !== undefined && { 'content-type': 'application/json' }),
})

/** The request body as text. Recorded requests that can be repeated all have JSON bodies. */
function requestText({ body }: RecordedRequest): string | undefined {
  if (body.kind === 'json') return stringifyExact(body.value)
  return body.kind === 'text' ? body.text : undefined
}

/** Resolves when the answer has ended, completely or not. */
async function received({ statusCode, headers, body }: Dispatcher.ResponseData, startedMs: number): Promise<Capture> {
  const headAtMs = performance.now()
  const chunks: { readonly atMs: number; readonly bytes: Buffer }[] = []
  let length = 0
  // Iterating over the answer would join chunks that arrive together.
  body.on('data', (bytes: Buffer) => {
    chunks.push({ atMs: performance.now() - headAtMs, bytes })
    length += bytes.length
    if (length > MOST_BODY_BYTES || !isStatus(statusCode)) body.destroy()
  })
  const complete = await finished(body).then(
    () => true,
    () => false,
  )
  if (!isStatus(statusCode)) throw upstreamUnreadable(`status ${statusCode}`)
  if (length > MOST_BODY_BYTES) throw new Error(`The live answer is larger than ${MOST_BODY_BYTES} bytes.`)
  return {
    status: statusCode,
    headers: Object.entries(headers).flatMap(([name, value = []]) => [value].flat().flatMap(one => [name, one])),
    headMs: headAtMs - startedMs,
    endMs: performance.now() - headAtMs,
    chunks,
    complete,
  }
}
