/** What a fault does to a body: which bytes are sent, what happens between them, and how it ends. */

import { createEventSplitter, dataOf, halvedEvent } from '../chat/events.js'
import type { Fault } from '../core/fault.js'
import { noBytes } from '../core/http.js'

/** The next step. Nothing follows a `cut`, a `reset` or an `end`. */
export type DamageStep =
  /** `isChanged` if these are not the original bytes. */
  | { readonly kind: 'pass'; readonly bytes: Buffer; readonly isChanged?: boolean }
  | { readonly kind: 'stall' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'reset' }
  /** Ends the body normally, as if it were complete. */
  | { readonly kind: 'end' }

/** The steps to take after the head, for each part of the body, and at its end. */
export interface Damage {
  begin(): Iterable<DamageStep>
  take(bytes: Buffer): Iterable<DamageStep>
  end(): Iterable<DamageStep>
}

/** What the head says about a body. */
export interface BodyFacts {
  readonly isStream: boolean
  /** Its length in bytes, if the head has one. */
  readonly length: number | undefined
}

export function damageOf(fault: Fault, { isStream, length }: BodyFacts): Damage {
  const inner = isStream ? streamDamage(fault) : bodyDamage(fault, length)
  if (fault.cutAfterBytes !== undefined) return cutAfter(inner, fault.cutAfterBytes, 'cut')
  if (isStream || length === undefined || length === 0) return inner
  if (fault.reset) return cutAfter(inner, halfLength(length), 'reset')
  if (fault.truncate) return cutAfter(inner, halfLength(length), 'end')
  return inner
}

/** The length of a truncated body. */
export const halfLength = (length: number) => Math.floor(length / 2)

const noSteps: readonly DamageStep[] = []
const pass = (bytes: Buffer): DamageStep => ({ kind: 'pass', bytes })
const spoilt = (bytes: Buffer): DamageStep => ({ kind: 'pass', bytes, isChanged: true })

/** Ends the body in this way after `bytes` bytes. */
function cutAfter(inner: Damage, bytes: number, ending: 'cut' | 'reset' | 'end'): Damage {
  let left = bytes
  function* limit(steps: Iterable<DamageStep>): Generator<DamageStep> {
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
    begin: () => limit(inner.begin()),
    take: taken => limit(inner.take(taken)),
    end: () => limit(inner.end()),
  }
}

/** A JSON body of unknown length is collected up to this size and then cut in half. */
const LONGEST_COLLECTED_BYTES = 1_048_576

/** For a body that is not a stream. */
function bodyDamage({ reset, truncate }: Fault, length: number | undefined): Damage {
  const collected: Buffer[] = []
  let size = 0
  function* half(): Generator<DamageStep> {
    yield pass(Buffer.concat(collected).subarray(0, halfLength(size)))
    yield { kind: 'end' }
  }
  return {
    begin: () => noSteps,
    *take(bytes) {
      if (length !== undefined || !(reset || truncate)) return yield pass(bytes)
      if (reset && bytes.length > 0) {
        yield pass(bytes.subarray(0, halfLength(bytes.length)))
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
function streamDamage(fault: Fault): Damage {
  const splitter = createEventSplitter()
  const { dueSteps, passChunk } = createChunks(fault)
  /** The last chunk so far, held back if the very last one is to be truncated. */
  let held: Buffer | undefined

  function* passHeld({ isLast }: { isLast: boolean }): Generator<DamageStep> {
    const event = held
    held = undefined
    if (event) yield* passChunk(event, isLast)
  }

  function* passEvent(event: Buffer): Generator<DamageStep> {
    const data = dataOf(event)
    if (data === undefined) return yield pass(event)
    const isDone = data.trim() === '[DONE]'
    yield* passHeld({ isLast: isDone })
    if (!isDone && fault.truncate) held = event
    else if (!isDone) yield* passChunk(event, false)
    else if (fault.done === 'missing') yield spoilt(noBytes)
    else yield pass(event)
    if (isDone && fault.done === 'double') yield spoilt(event)
  }

  return {
    begin: dueSteps,
    *take(bytes) {
      for (const event of splitter.push(bytes)) yield* passEvent(event)
    },
    *end() {
      const rest = splitter.rest()
      if (rest.length > 0) yield* passEvent(rest)
      yield* passHeld({ isLast: true })
      if (fault.reset) yield { kind: 'reset' }
    },
  }
}

/** Counts the chunks of a stream, and returns the steps that are due after each. */
function createChunks(fault: Fault) {
  let chunks = 0

  function* dueSteps(): Generator<DamageStep> {
    if (chunks === fault.stallAfterChunks) yield { kind: 'stall' }
    if (chunks === fault.cutAfterChunks) yield { kind: 'cut' }
    if (fault.reset && chunks === CHUNKS_BEFORE_RESET) yield { kind: 'reset' }
    if (chunks !== fault.errorAfterChunks) return
    yield spoilt(Buffer.from(`data: ${JSON.stringify(errorEvent(fault.message ?? brokenStream))}\n\n`))
    yield { kind: 'end' }
  }

  function* passChunk(event: Buffer, isHalved: boolean): Generator<DamageStep> {
    chunks++
    yield isHalved || chunks === fault.malformedChunk ? spoilt(halvedEvent(event)) : pass(event)
    yield* dueSteps()
  }

  return { dueSteps, passChunk }
}

/** The error event at the end of a stream. */
const brokenStream = 'Something went wrong on the server while the answer was being sent.'

/**
 * An error as an event of a stream, in OpenAI's format: the platform's document covers HTTP errors only, and the AI SDK
 * shows no other format.
 */
const errorEvent = (message: string) => ({ error: { message, type: 'server_error', param: null, code: null } })
