/** The shape of an answer: all about it that a client relies on, and nothing of what it says. */
import { bodyOf, isStream, type RecordedResponse } from '../recording.js'
import { type Shape, shapeOf } from './shape.js'
import { type StreamShape, streamShape } from './stream-shape.js'

export interface AnswerShape {
  readonly status: number
  /** Without its parameters, in small letters; empty where there is none. */
  readonly contentType: string
  /** The names of those that clients act on. */
  readonly headers: ReadonlySet<string>
  readonly body: BodyShape
}

export type BodyShape =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'JSON'; readonly shape: Shape }
  | { readonly kind: 'text' }
  | ({ readonly kind: 'stream' } & StreamShape)

const clientsActOn = /^(retry-after|x-ratelimit-.+|ratelimit(-.+)?|www-authenticate|location)$/

/** Never throws: a body that is not what its type says is a text. */
export function shapeOfAnswer(response: Pick<RecordedResponse, 'status' | 'headers' | 'chunks'>): AnswerShape {
  const names = response.headers.map(([name]) => name)
  const [, contentType = ''] = response.headers.find(([name]) => name === 'content-type') ?? []
  return {
    status: response.status,
    contentType: contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '',
    headers: new Set(names.filter(name => clientsActOn.test(name))),
    body: bodyShape(response, contentType),
  }
}

function bodyShape(response: Pick<RecordedResponse, 'headers' | 'chunks'>, contentType: string): BodyShape {
  const body = bodyOf(response)
  if (isStream(response)) return { kind: 'stream', ...streamShape(body, /^text\/event-stream/i.test(contentType)) }
  if (body.length === 0) return { kind: 'nothing' }
  try {
    return { kind: 'JSON', shape: shapeOf(JSON.parse(body.toString('utf8'))) }
  } catch {
    return { kind: 'text' }
  }
}
