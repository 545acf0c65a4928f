/** What stands around the words of every completion: its id, its time, its model and the marks of an event. */
import type { Paced, Reply } from '../../core/exchange.js'

/** The part of a reply that depends on its form. */
export type Form = Pick<Reply, 'contentType' | 'body' | 'sent' | 'again' | 'headers' | 'tokens'>

/** How a completion begins. */
export interface Opening {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
}

/** A stream in parts, not yet in a rhythm. */
export type Events = Pick<Paced, 'head' | 'before' | 'pieces' | 'after' | 'tail'>

/** Which back end made the answer, as OpenAI names it. There is only one here. */
export const FINGERPRINT = 'fp_standin'

// A proxy in between must neither keep nor collect a stream.
const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no'] as const

/** What every stream leaves with. Some clients, such as Python's requests, read text without a charset as Latin-1. */
export const streamForm = { contentType: 'text/event-stream; charset=utf-8', headers: streamHeaders } as const

export const secondsNow = () => Math.floor(Date.now() / 1000)

/** How every object of a completion begins. */
export const start = ({ id, created, model }: Opening, object: string) =>
  `{"id":"${id}","object":"${object}","created":${created},"model":${JSON.stringify(model)},`

/** What stands before and behind the choice of each event, and what ends the stream; `usage` is JSON, where it was asked for. */
export function frame(opening: Opening, usage: string | undefined) {
  const before = `data: ${start(opening, 'chat.completion.chunk')}"system_fingerprint":"${FINGERPRINT}","choices":[`
  // With include_usage every chunk has the key, and it is null but in the last (OpenAI's reference, "stream_options").
  const after = usage === undefined ? ']}\n\n' : '],"usage":null}\n\n'
  const total = usage === undefined ? '' : `${before}],"usage":${usage}}\n\n`
  return { before, after, end: `${total}data: [DONE]\n\n` }
}

/** A stream without a rhythm. */
export function inOnePiece({ head, before, pieces, after, tail }: Events): string {
  const middle = pieces.length === 0 ? '' : before + pieces.join(after + before) + after
  return head + middle + tail
}
