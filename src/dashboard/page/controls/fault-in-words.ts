/** A fault as a sentence without its end: what it does to a request. */
import type { Fault } from '../../../core/fault.js'

const chunks = (count: number) => (count === 1 ? '1 chunk' : `${count} chunks`)
const seconds = (ms: number) => `${ms / 1000} s`

/** In the order in which it happens to a request. */
function* effects(fault: Fault): Generator<string> {
  const { status, message, retryAfter, delayMs, stallAfterChunks, stallMs, errorAfterChunks } = fault
  if (delayMs !== undefined) yield `waits ${seconds(delayMs)}`
  if (fault.hang) yield 'never answers'
  if (fault.reset === 'before') yield 'resets the connection before the answer'
  if (status !== undefined) yield `answers ${status}`
  if (retryAfter !== undefined) yield `says Retry-After ${retryAfter} s`
  if (fault.contentType !== undefined) yield `says Content-Type ${fault.contentType}`
  if (fault.malformedChunk !== undefined) yield `breaks chunk ${fault.malformedChunk}`
  if (stallAfterChunks !== undefined) {
    yield `falls silent after ${chunks(stallAfterChunks)}${stallMs === undefined ? '' : ` for ${seconds(stallMs)}`}`
  }
  if (errorAfterChunks !== undefined) yield `sends an error after ${chunks(errorAfterChunks)}`
  if (fault.cutAfterChunks !== undefined) yield `cuts the stream after ${chunks(fault.cutAfterChunks)}`
  if (fault.cutAfterBytes !== undefined) yield `cuts the body after ${fault.cutAfterBytes} bytes`
  if (fault.reset === 'mid-body') yield 'resets the connection in the middle'
  if (fault.truncate) yield 'truncates the JSON'
  if (fault.done === 'missing') yield 'leaves out [DONE]'
  if (fault.done === 'double') yield 'sends [DONE] twice'
  if (message !== undefined) yield `says “${message}”`
}

/** `Waits 3 s, answers 503`. */
export function faultInWords(fault: Fault): string {
  const words = [...effects(fault)].join(', ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

interface Meant {
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly scope?: string | undefined
  readonly when?: Readonly<Record<string, unknown>> | undefined
}

/** Which requests a fault is for: `POST /v1/*, model gpt-4o`. */
export function meantInWords({ method, path, scope, when = {} }: Meant): string {
  const { model, user, ...more } = when
  const parts = [
    [method, path].filter(Boolean).join(' ') || (Object.keys(when).length > 0 ? 'chat completions' : 'any endpoint'),
    ...(model === undefined ? [] : [`model ${textOf(model)}`]),
    ...(user === undefined ? [] : [`user says ${textOf(user)}`]),
    ...(Object.keys(more).length > 0 ? [JSON.stringify(more)] : []),
    ...(scope ? [`scope ${scope}`] : []),
  ]
  return parts.join(', ')
}

function textOf(condition: unknown): string {
  if (typeof condition === 'string') return condition
  const { contains } = (condition ?? {}) as { readonly contains?: unknown }
  return typeof contains === 'string' ? `“${contains}”` : JSON.stringify(condition)
}
