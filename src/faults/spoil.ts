/** Spoils what a completion or a stream says: stops it in the middle, or breaks the arguments of its tool calls. */

import { chunkOf } from '../chat/chunks.js'
import { completionIn, type VendorCall, type VendorChunk } from '../chat/reader.js'
import { jsonOf } from '../core/json.js'

/** A stream stops with another reason after the role and two pieces. */
export const CHUNKS_BEFORE_STOP = 3

/** The first half of a text, in whole characters. */
export const firstHalf = (text: string) => text.slice(0, Math.ceil(text.length / 2)).replace(/[\ud800-\udbff]$/, '')

/** Returns the body of a completion with half of its text, and this reason; `undefined` if it is none. */
export function stoppedCompletion(body: Buffer, reason: string): Buffer | undefined {
  const completion = completionIn(jsonOf(body))
  if (!completion) return undefined
  const choices = completion.choices.map(choice => ({
    ...choice,
    message: { ...choice.message, content: firstHalf(choice.message.content ?? '') },
    finish_reason: reason,
  }))
  return Buffer.from(JSON.stringify({ ...completion, choices }))
}

/** The event with which a stream of chunks stops instead of going on with this one; `undefined` if it is no chunk. */
export function stoppingEvent(event: Buffer, reason: string): Buffer | undefined {
  const chunk = chunkOf(event)
  const choices = chunk?.choices?.map(choice => ({ ...choice, delta: {}, finish_reason: reason }))
  return choices?.length ? sseEvent({ ...chunk, choices }) : undefined
}

/** Returns the body of a completion whose arguments are not JSON; `undefined` if it calls no tool. */
export function withBrokenArguments(body: Buffer): Buffer | undefined {
  const completion = completionIn(jsonOf(body))
  const broken = completion?.choices.map(choice => brokenCalls(choice.message.tool_calls))
  if (!completion || !broken?.some(Boolean)) return undefined
  const choices = completion.choices.map((choice, i) =>
    broken[i] ? { ...choice, message: { ...choice.message, tool_calls: broken[i] } } : choice,
  )
  return Buffer.from(JSON.stringify({ ...completion, choices }))
}

/** The same for an event of a stream. */
export function eventWithBrokenArguments(event: Buffer): Buffer | undefined {
  const chunk = chunkOf(event)
  const broken = chunk?.choices?.map(({ delta }) => brokenCalls(delta?.tool_calls))
  if (!broken?.some(Boolean)) return undefined
  const choices = chunk?.choices?.map((choice, i) =>
    broken[i] ? { ...choice, delta: { ...choice.delta, tool_calls: broken[i] } } : choice,
  )
  return sseEvent({ ...chunk, choices })
}

/** Doubles the brace with which arguments, or a piece of them, begin. Returns `undefined` if there is none. */
function brokenCalls(calls: readonly VendorCall[] | null | undefined): VendorCall[] | undefined {
  const begins = ({ function: called }: VendorCall) => called?.arguments?.startsWith('{') === true
  if (!calls?.some(begins)) return undefined
  return calls.map(call =>
    begins(call) ? { ...call, function: { ...call.function, arguments: `{${call.function?.arguments}` } } : call,
  )
}

export const sseEvent = (chunk: VendorChunk) => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)

const PROSE = [
  'Sure! Here is the JSON that you asked for:\n\n```json\n',
  '\n```\n\nLet me know if you need anything else.',
] as const

const beginsJson = (text: unknown): text is string => typeof text === 'string' && /^\s*[[{]/.test(text)

/** Returns the body of a completion with prose around its JSON; `undefined` if it has none. */
export function withProse(body: Buffer): Buffer | undefined {
  const completion = completionIn(jsonOf(body))
  if (!completion?.choices.some(({ message }) => beginsJson(message.content))) return undefined
  const choices = completion.choices.map(choice => {
    const { content } = choice.message
    return beginsJson(content) ? { ...choice, message: { ...choice.message, content: PROSE.join(content) } } : choice
  })
  return Buffer.from(JSON.stringify({ ...completion, choices }))
}

/** The same for the events of a stream. */
export async function* proseEvents(events: AsyncIterable<Buffer>, note: () => void): AsyncGenerator<Buffer, void> {
  let isInside = false
  for await (const event of events) {
    const chunk = chunkOf(event)
    const [choice] = chunk?.choices ?? []
    const said = (content: string) =>
      sseEvent({ ...chunk, choices: [{ ...choice, delta: { ...choice?.delta, content }, finish_reason: null }] })
    const begins = !isInside && beginsJson(choice?.delta?.content)
    if (begins) {
      isInside = true
      note()
      yield said(PROSE[0] + choice?.delta?.content)
      continue
    }
    if (isInside && choice?.finish_reason) yield said(PROSE[1])
    yield event
  }
}
