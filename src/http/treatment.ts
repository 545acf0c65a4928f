/** What a fault does to a body: which bytes are sent, what happens between them, and how the body ends. */
import { createEventSplitter, dataOf, halvedEvent } from '../completions/events.js'
import { brokenStream, errorEvent } from '../core/errors.js'
import type { Fault } from '../core/fault.js'

/** The next step. Nothing follows a `cut`, a `reset` or an `end`. */
export type TreatmentStep =
  /** `spoilt` if these are not the original bytes. */
  | { readonly kind: 'pass'; readonly bytes: Buffer; readonly spoilt?: boolean }
  | { readonly kind: 'stall' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'reset' }
  /** Ends the body normally, as if it were complete. */
  | { readonly kind: 'end' }

/** The steps to take after the head, for each piece of the body, and at its end. */
export interface Treatment {
  begin(): Iterable<TreatmentStep>
  take(bytes: Buffer): Iterable<TreatmentStep>
  end(): Iterable<TreatmentStep>
}

/** What the head says about a body. */
export interface BodyFacts {
  readonly isStream: boolean
  /** Its length in bytes, if the head has one. */
  readonly length: number | undefined
}

export function treatmentOf(fault: Fault, { isStream, length }: BodyFacts): Treatment {
  const inner = isStream ? stream(fault) : whole(fault, length)
  if (fault.cutAfterBytes !== undefined) return limited(inner, fault.cutAfterBytes, 'cut')
  if (isStream || length === undefined || length === 0) return inner
  if (fault.reset) return limited(inner, halfOf(length), 'reset')
  if (fault.truncate) return limited(inner, halfOf(length), 'end')
  return inner
}

/** The length of a truncated body. */
export const halfOf = (length: number) => Math.floor(length / 2)

const none: readonly TreatmentStep[] = []
const passing = (bytes: Buffer): TreatmentStep => ({ kind: 'pass', bytes })
const spoilt = (bytes: Buffer): TreatmentStep => ({ kind: 'pass', bytes, spoilt: true })
const nothing = Buffer.alloc(0)

/** Lets `bytes` bytes through, then ends in this way. */
function limited(inner: Treatment, bytes: number, ending: 'cut' | 'reset' | 'end'): Treatment {
  let left = bytes
  function* within(steps: Iterable<TreatmentStep>): Generator<TreatmentStep> {
    if (left === 0) yield { kind: ending }
    for (const step of steps) {
      if (step.kind !== 'pass' || step.bytes.length < left) {
        if (step.kind === 'pass') left -= step.bytes.length
        yield step
        continue
      }
      yield { ...step, bytes: step.bytes.subarray(0, left) }
      left = 0
      yield { kind: ending }
    }
  }
  return {
    begin: () => within(inner.begin()),
    take: taken => within(inner.take(taken)),
    end: () => within(inner.end()),
  }
}

/** A JSON body of unknown length is collected up to this size and then cut in half. */
const LONGEST_COLLECTED_BYTES = 1_048_576

/** For a body that is not a stream. */
function whole({ reset, truncate }: Fault, length: number | undefined): Treatment {
  const collected: Buffer[] = []
  let size = 0
  function* half(): Generator<TreatmentStep> {
    yield passing(Buffer.concat(collected).subarray(0, halfOf(size)))
    yield { kind: 'end' }
  }
  return {
    begin: () => none,
    *take(bytes) {
      if (length !== undefined || !(reset || truncate)) return yield passing(bytes)
      if (reset && bytes.length > 0) {
        yield passing(bytes.subarray(0, halfOf(bytes.length)))
        return yield { kind: 'reset' }
      }
      collected.push(bytes)
      size += bytes.length
      if (size > LONGEST_COLLECTED_BYTES) yield* half()
    },
    *end() {
      if (size > 0) yield* half()
    },
  }
}

/** A stream is reset after this many chunks. */
const CHUNKS_BEFORE_RESET = 2

/** For event streams. */
function stream(fault: Fault): Treatment {
  const splitter = createEventSplitter()
  const { due, passChunk } = createChunks(fault)
  /** The last chunk so far, held back if the very last one is to be truncated. */
  let held: Buffer | undefined

  function* letGo({ isLast }: { isLast: boolean }): Generator<TreatmentStep> {
    const event = held
    held = undefined
    if (event) yield* passChunk(event, isLast)
  }

  function* passEvent(event: Buffer): Generator<TreatmentStep> {
    const data = dataOf(event)
    if (data === undefined) return yield passing(event)
    const isDone = data.trim() === '[DONE]'
    yield* letGo({ isLast: isDone })
    if (!isDone && fault.truncate) held = event
    else if (!isDone) yield* passChunk(event, false)
    else if (fault.done === 'missing') yield spoilt(nothing)
    else yield passing(event)
    if (isDone && fault.done === 'double') yield spoilt(event)
  }

  return {
    begin: due,
    *take(bytes) {
      for (const event of splitter.push(bytes)) yield* passEvent(event)
    },
    *end() {
      const rest = splitter.rest()
      if (rest.length > 0) yield* passEvent(rest)
      yield* letGo({ isLast: true })
      if (fault.reset) yield { kind: 'reset' }
    },
  }
}

/** Counts the chunks of a stream, and takes the steps that are due after so many of them. */
function createChunks(fault: Fault) {
  let chunks = 0

  function* due(): Generator<TreatmentStep> {
    if (chunks === fault.stallAfterChunks) yield { kind: 'stall' }
    if (chunks === fault.cutAfterChunks) yield { kind: 'cut' }
    if (fault.reset && chunks === CHUNKS_BEFORE_RESET) yield { kind: 'reset' }
    if (chunks !== fault.errorAfterChunks) return
    yield spoilt(Buffer.from(`data: ${JSON.stringify(errorEvent(fault.message ?? brokenStream))}\n\n`))
    yield { kind: 'end' }
  }

  function* passChunk(event: Buffer, isHalved: boolean): Generator<TreatmentStep> {
    chunks++
    yield isHalved || chunks === fault.malformedChunk ? spoilt(halvedEvent(event)) : passing(event)
    yield* due()
  }

  return { due, passChunk }
}
