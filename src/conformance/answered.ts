/** What is to be judged of an exchange: the answer that the live platform gave, or a recording of it. */

import { decoded } from '../core/decode.js'
import type { Exchange, Heard, Reply } from '../core/exchange.js'
import { headerIn } from '../core/headers.js'
import { CHAT } from '../core/read-chat.js'
import { replyBytes } from '../core/reply-bytes.js'

export interface Answered {
  /** `POST /v1/chat/completions`; nothing where the path is not documented. */
  readonly endpoint: string | undefined
  readonly method: string
  /** As it was asked for. */
  readonly path: string
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
  /** Whether the body is all of it, to its end. */
  readonly isWhole: boolean
  /** What was asked of a chat completion; nothing where the request cannot be read. */
  readonly asked: { readonly stream: boolean; readonly usage: boolean } | undefined
}

/** Nothing where the answer is ours, was spoilt on purpose, or cannot be read. */
export function answeredIn(exchange: Exchange): Answered | undefined {
  const { method, path, endpoint, outcome } = exchange
  // What the platform said is judged, not what became of it here.
  const said = outcome?.upstream ?? outcome?.said
  if (!outcome || !said || !endpoint || outcome.error !== undefined || outcome.fault) return undefined
  const { headers, body, isAll } = saidIn(said)
  const coding = headerIn(headers, 'content-encoding')
  const plain = readable(body, coding)
  if (!plain) return undefined
  return {
    ...{ method, path, status: outcome.status },
    endpoint: endpoint.isElsewhere ? undefined : `${endpoint.method} ${endpoint.path}`,
    contentType: headerIn(headers, 'content-type') ?? '',
    body: plain,
    // Of what is compressed only the whole was read.
    isWhole: isAll && outcome.complete,
    asked: endpoint.path === CHAT ? askedIn(exchange.body) : undefined,
  }
}

interface Said {
  readonly headers: readonly string[]
  readonly body: Buffer
  readonly isAll: boolean
}

function saidIn(said: Reply | Heard): Said {
  if (said.kind === 'heard') {
    const body = Buffer.concat(said.beginning)
    return { headers: said.headers, body, isAll: body.length === said.bytes }
  }
  const headers = ['content-type', said.contentType, ...(said.headers ?? [])]
  return { headers, body: replyBytes(said), isAll: true }
}

/** More than this is not looked at. */
const MOST_BYTES = 16 * 1024 * 1024

/** Nothing where it cannot be read, as with only a beginning of what is compressed. */
function readable(body: Buffer, coding: string | undefined): Buffer | undefined {
  try {
    return decoded(body, coding, MOST_BYTES)
  } catch {
    return undefined
  }
}

/** Read once more, and with no check: whoever forwards has not looked at it. */
function askedIn(body: Buffer | undefined): Answered['asked'] {
  try {
    const { stream, stream_options } = JSON.parse(body?.toString('utf8') ?? '')
    return { stream: stream === true, usage: stream_options?.include_usage === true }
  } catch {
    return undefined
  }
}
