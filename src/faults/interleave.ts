/** Mixes the fragments of parallel tool calls in a stream, as some models send them. */
import { chunkOf } from '../chat/chunks.js'
import { createEventSplitter } from '../chat/events.js'
import type { JsonFields, VendorCall, VendorChunk } from '../chat/reader.js'
import { sseEvent } from './spoil.js'

type Choice = NonNullable<VendorChunk['choices']>[number]

/** An event that takes part, and one fragment of it. */
interface Fragment {
  readonly chunk: VendorChunk
  readonly choice: Choice
  /** The other fields of the delta, which only the first fragment of an event repeats. */
  readonly others: JsonFields
  readonly call: VendorCall
}

/** Events to send now, and whether they are mixed. */
interface Interleaved {
  readonly events: readonly Buffer[]
  readonly isMixed: boolean
}

/** Holds back the events with tool calls until something else follows. */
export function createInterleaver() {
  const splitter = createEventSplitter()
  let heldEvents: readonly Buffer[] = []

  function pass(events: readonly Buffer[], { isEnd }: { readonly isEnd: boolean }): Interleaved {
    const passed: Buffer[] = []
    let isMixed = false
    const release = () => {
      const mixed = mixedEvents(heldEvents)
      passed.push(...(mixed ?? heldEvents))
      isMixed ||= mixed !== undefined
      heldEvents = []
    }
    for (const event of events) {
      if (chunkOf(event)?.choices?.some(({ delta }) => delta?.tool_calls?.length)) {
        heldEvents = [...heldEvents, event]
        continue
      }
      release()
      passed.push(event)
    }
    if (isEnd) release()
    return { events: passed, isMixed }
  }

  return {
    push: (bytes: Buffer) => pass(splitter.push(bytes), { isEnd: false }),
    rest: () => pass([splitter.rest()], { isEnd: true }),
  }
}

/** Returns `undefined` unless there are parallel calls, with the index by which a client tells their fragments apart. */
function mixedEvents(events: readonly Buffer[]): readonly Buffer[] | undefined {
  const chunks = events.map(chunkOf).filter(chunk => chunk !== undefined)
  const byCall = new Map<string, Fragment[]>()
  for (const fragment of chunks.flatMap(fragmentsIn)) {
    const { choice, call } = fragment
    if (call.index === undefined) return undefined
    const name = `${choice.index ?? 0} ${call.index}`
    byCall.set(name, [...(byCall.get(name) ?? []), fragment])
  }
  if (byCall.size < 2) return undefined
  const calls = [...byCall.values()].map(piecesOfCall)
  const rounds = Math.max(...calls.map(({ length }) => length))
  const mixed = Array.from({ length: rounds }, (_, i) => calls.flatMap(pieces => pieces[i] ?? [])).flat()
  return [...mixed.map(eventOf), ...chunks.flatMap(endingIn)]
}

const fragmentsIn = (chunk: VendorChunk): readonly Fragment[] =>
  (chunk.choices ?? []).flatMap(choice => {
    const { tool_calls, ...others } = choice.delta ?? {}
    return (tool_calls ?? []).map((call, i) => ({ chunk, choice, others: i === 0 ? others : {}, call }))
  })

/** The fragments of one call: one with id and name and without arguments, and those with the arguments. */
function piecesOfCall([first, ...rest]: readonly Fragment[]): readonly Fragment[] {
  if (!first) return []
  const key = first.call.custom ? 'custom' : 'function'
  const field = first.call.custom ? 'input' : 'arguments'
  const called: JsonFields = first.call[key] ?? {}
  const beginning = String(called[field] ?? '')
  const half = Math.ceil(beginning.length / 2)
  const pieces = [beginning.slice(0, half), beginning.slice(half)].filter(piece => piece !== '')
  const piece = (fragment: Fragment, text: string, others: JsonFields = {}) => ({
    ...fragment,
    others,
    call: { index: fragment.call.index, [key]: { [field]: text } },
  })
  return [
    { ...first, call: { ...first.call, [key]: { ...called, [field]: '' } } },
    ...pieces.map(text => piece(first, text)),
    ...rest.map(fragment => piece(fragment, String(fragment.call[key]?.[field] ?? ''), fragment.others)),
  ]
}

const eventOf = ({ chunk, choice, others, call }: Fragment) =>
  sseEvent({ ...chunk, choices: [{ ...choice, delta: { ...others, tool_calls: [call] }, finish_reason: null }] })

/** Some vendors send the `finish_reason` with the calls. It follows the last fragment. */
const endingIn = (chunk: VendorChunk): readonly Buffer[] =>
  (chunk.choices ?? []).flatMap(choice =>
    choice.finish_reason ? sseEvent({ ...chunk, choices: [{ ...choice, delta: {} }] }) : [],
  )
