/** Says which request an exchange is about, in the form in which requests are compared. */
import type { Exchange } from '../core/exchange.js'
import type { Redact, Redaction } from '../core/redact.js'
import { credentialsOf } from '../core/shown-credentials.js'
import type { Ignore } from './ignore.js'
import { keyOf, requestOf } from './key.js'
import type { RecordedRequest } from './recording.js'

export interface Identified {
  readonly request: RecordedRequest
  readonly key: string
  /** What has taken the secrets out of this very request, and can go on with its answer; not there where the request was remembered. */
  readonly redaction?: Redaction
}

/** What of an exchange is compared, before anything secret is taken out. */
export const askedIn = ({ method, path, query, headers, body }: Exchange) => ({
  ...{ method, path, query, body },
  contentType: headers['content-type'],
})

/** Larger requests are not remembered, nor more of them than this; in memory each takes some four times its length. */
const LONGEST_BYTES = 16_384
const REMEMBERED = 512
const REMEMBERED_BYTES = 2_097_152

/** Apps ask the same again and again: what a request came to is remembered by its bytes. */
export function createIdentify(redact: Redact, ignore: Ignore): (exchange: Exchange) => Identified {
  const remembered = new Map<string, Identified>()
  let rememberedBytes = 0

  function identify(exchange: Exchange, own: readonly string[]): Identified {
    const redaction = redact(own)
    const request = requestOf(askedIn(exchange), redaction)
    return { request, key: keyOf(request, ignore), redaction }
  }

  return exchange => {
    const { method, path, query, headers, body } = exchange
    const own = credentialsOf(exchange, redact)
    if (body && body.length > LONGEST_BYTES) return identify(exchange, own)
    const place = [method, path, query, headers['content-type'], ...own].join('\n')
    const bytes = `${place}\n\n${body?.toString('latin1') ?? ''}`
    const known = remembered.get(bytes)
    if (known) return known
    const found = identify(exchange, own)
    rememberedBytes += bytes.length
    if (remembered.size >= REMEMBERED || rememberedBytes > REMEMBERED_BYTES) {
      remembered.clear()
      rememberedBytes = bytes.length
    }
    remembered.set(bytes, { request: found.request, key: found.key })
    return found
  }
}
