/** The faults that a client is tested with: to which calls each applies, and which verdicts it can lead to. */
import type { Fault } from '../core/fault.js'
import type { ClientCall } from './calls.js'
import type { VerdictCode } from './judge.js'

export interface ClientTest {
  /** Such as `status-503`: the name of its fault, as in magic words. */
  readonly name: string
  /** The fault for a call, as it was answered without one; `undefined` if it cannot apply. */
  faultFor(call: ClientCall): Fault | undefined
  /** The next requests of the same call that fail; 1 by default, since retries should succeed. */
  readonly times?: number
  /** The fault of a repetition, to see whether the first connection is still open then. */
  readonly next?: Fault
  /** The only verdicts that it is for. */
  readonly only?: readonly VerdictCode[]
}

const RETRY_AFTER_SECONDS = 2
const SLOW_MS = 3000
/** Longer than the end of a connection takes to arrive. */
const NEXT_MS = 250
/** More than any client sends. */
const ALWAYS = 1000

const always = (fault: Fault) => () => fault
/** In the middle of a stream, after its first text. */
const inStream = (fault: (middle: number) => Fault) => (call: ClientCall) =>
  call.answer.isStream && call.answer.chunks > 0 ? fault(Math.max(2, Math.floor(call.answer.chunks / 2))) : undefined

/** In the order in which they are tried. */
export const clientTests: readonly ClientTest[] = [
  { name: 'status-429', faultFor: always({ status: 429, retryAfter: RETRY_AFTER_SECONDS }) },
  { name: 'status-503', faultFor: always({ status: 503 }) },
  { name: 'outage', faultFor: always({ status: 503 }), times: ALWAYS, only: ['retry-storm', 'failure-swallowed'] },
  { name: 'status-400', faultFor: always({ status: 400 }) },
  { name: 'status-401', faultFor: always({ status: 401 }) },
  { name: 'reset', faultFor: always({ reset: 'before' }) },
  { name: 'cut', faultFor: inStream(middle => ({ cut: middle })) },
  { name: 'end', faultFor: inStream(middle => ({ end: middle, done: 'missing' })) },
  { name: 'stall', faultFor: inStream(middle => ({ stall: middle })), next: { delayMs: NEXT_MS } },
  { name: 'malformed', faultFor: inStream(middle => ({ malformed: middle })) },
  { name: 'done-double', faultFor: inStream(() => ({ done: 'double' })) },
  {
    name: 'slow',
    faultFor: inStream(() => ({ stall: 0, stallMs: SLOW_MS })),
    next: { delayMs: NEXT_MS },
  },
  { name: 'finish-length', faultFor: ({ answer }) => (answer.text === '' ? undefined : { finish: 'length' }) },
  {
    name: 'malformedArguments',
    faultFor: ({ answer }) => (answer.toolCalls.length === 0 ? undefined : { malformedArguments: true }),
  },
]
