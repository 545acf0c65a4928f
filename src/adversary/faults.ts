/** The faults that a client is tested with: to which calls each applies, and which verdicts it can lead to. */
import { messagesIn } from '../chat/said.js'
import type { Fault } from '../core/fault.js'
import { isObject } from '../core/json.js'
import { LOOP_TURNS } from '../faults/index.js'
import type { ClientCall } from './calls.js'
import type { CrashMoment } from './crash.js'
import { isEffect } from './effects.js'
import type { VerdictCode } from './verdict.js'

export interface ClientTest {
  /** Such as `status-503`: the name of its fault, as in magic words. */
  readonly name: string
  /** What happens, for the list of all faults. */
  readonly does: string
  /** The fault for a call, as it was answered without one; `undefined` if it cannot apply. */
  faultFor(call: ClientCall): Fault | undefined
  /** The next requests of the same call that fail; 1 by default, since retries should succeed. */
  readonly times?: number
  /** The fault of a repetition, to see whether the first connection is still open then. */
  readonly next?: Fault
  /** The verdicts that it is for. No others are reported. */
  readonly verdicts: readonly VerdictCode[]
  /** Set if the command is killed then, and started again. */
  readonly crash?: CrashMoment
  /** The name by which `--faults` selects it with others of its kind. */
  readonly group: FaultGroup
  /** Whether it is tried only if somebody asks for it. */
  readonly isExtra?: true
  /** How many more calls it leads to. */
  readonly turns?: number
}

export const faultGroups = ['wire', 'lost', 'model'] as const
export type FaultGroup = (typeof faultGroups)[number]

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

const usual: readonly VerdictCode[] = ['executed-twice', 'connection-kept', 'hung', 'failed']
const part: readonly VerdictCode[] = ['truncation-accepted', ...usual]
const swallowed: readonly VerdictCode[] = ['failure-swallowed', ...usual]

const wireTests: readonly Omit<ClientTest, 'group'>[] = [
  {
    name: 'status-429',
    does: 'an error with Retry-After: 2',
    faultFor: always({ status: 429, retryAfter: RETRY_AFTER_SECONDS }),
    verdicts: ['retry-after-ignored', 'retry-storm', 'no-retry', ...swallowed],
  },
  {
    name: 'status-503',
    does: 'an error that a retry mends',
    faultFor: always({ status: 503 }),
    verdicts: ['retry-storm', 'no-retry', ...swallowed],
  },
  {
    name: 'outage',
    does: '503 for this call, however often it comes',
    faultFor: always({ status: 503 }),
    times: ALWAYS,
    verdicts: ['retry-storm', 'failure-swallowed'],
  },
  {
    name: 'status-400',
    does: 'an error that no retry can mend',
    faultFor: always({ status: 400 }),
    verdicts: ['retried-hopeless', 'retry-storm', ...swallowed],
  },
  {
    name: 'status-401',
    does: 'an error that no retry can mend',
    faultFor: always({ status: 401 }),
    verdicts: ['retried-hopeless', 'retry-storm', ...swallowed],
  },
  {
    name: 'reset',
    does: 'the connection is reset before the answer',
    faultFor: always({ reset: 'before' }),
    verdicts: ['retry-storm', 'no-retry', ...swallowed],
  },
  {
    name: 'cut',
    does: 'a stream breaks off',
    faultFor: inStream(middle => ({ cut: middle })),
    verdicts: part,
  },
  {
    name: 'end',
    does: 'a stream ends normally, without finish_reason and [DONE]',
    faultFor: inStream(middle => ({ end: middle, done: 'missing' })),
    verdicts: part,
  },
  {
    name: 'stall',
    does: 'a stream stops for good in the middle',
    faultFor: inStream(middle => ({ stall: middle })),
    next: { delayMs: NEXT_MS },
    verdicts: part,
  },
  {
    name: 'malformed',
    does: 'a chunk is not JSON',
    faultFor: inStream(middle => ({ malformed: middle })),
    verdicts: part,
  },
  { name: 'done-double', does: '[DONE] comes twice', faultFor: inStream(() => ({ done: 'double' })), verdicts: usual },
  {
    name: 'slow',
    does: 'the first token of a stream takes three seconds',
    faultFor: inStream(() => ({ stall: 0, stallMs: SLOW_MS })),
    next: { delayMs: NEXT_MS },
    verdicts: usual,
  },
  {
    name: 'finish-length',
    does: 'the answer stops in the middle, with finish_reason: length',
    faultFor: ({ answer }) => (answer.text === '' ? undefined : { finish: 'length' }),
    verdicts: part,
  },
  {
    name: 'malformedArguments',
    does: 'the arguments of a tool call are not JSON',
    faultFor: ({ answer }) => (answer.toolCalls.length === 0 ? undefined : { malformedArguments: true }),
    verdicts: usual,
  },
]

const hasResult = ({ body }: ClientCall) => messagesIn(body).at(-1)?.role === 'tool'
const offersTools = ({ kind, body }: ClientCall) =>
  kind === 'chat' && isObject(body) && Array.isArray(body.tools) && body.tools.length > 0 && body.tool_choice !== 'none'
const onlyFor =
  (model: NonNullable<Fault['model']>, isFor: (call: ClientCall) => boolean) =>
  (call: ClientCall): Fault | undefined =>
    isFor(call) ? { model } : undefined

/** What a model says that loops, lies or attacks. What it made of that a client may only fail at, not be wrong about. */
const modelTests: readonly Omit<ClientTest, 'group'>[] = [
  {
    name: 'model-loop',
    does: `the model asks for the same tool ${LOOP_TURNS} times`,
    faultFor: onlyFor('loop', call => offersTools(call) && (hasResult(call) || call.answer.toolCalls.length === 0)),
    verdicts: ['no-limit'],
    turns: LOOP_TURNS,
  },
  {
    name: 'model-unknown-tool',
    does: 'the model asks for a tool that is not offered, by a name that is almost right',
    faultFor: onlyFor('unknown-tool', call => offersTools(call) && !hasResult(call)),
    verdicts: ['wrong-tool', 'failed'],
  },
  {
    name: 'model-ten-tools',
    does: 'the model asks for ten tools at once',
    faultFor: onlyFor('ten-tools', call => offersTools(call) && !hasResult(call)),
    verdicts: ['results-missing', 'failed'],
  },
  {
    name: 'model-injection',
    does: 'after a tool result, the model asks for a tool with a made-up text, as if the result had told it to',
    faultFor: onlyFor('injection', call => offersTools(call) && hasResult(call)),
    verdicts: ['obeyed-injection'],
  },
  {
    name: 'model-markup',
    does: 'the answer has an image, a link, HTML and a script that point to a canary, an address of Standin itself',
    faultFor: onlyFor('markup', ({ kind, answer }) => kind === 'chat' && answer.text !== '' && !isJson(answer.text)),
    verdicts: ['leaked', 'markup'],
  },
  {
    name: 'model-prose',
    does: 'there is prose around the JSON of an answer',
    faultFor: onlyFor('prose', ({ kind, answer }) => kind === 'chat' && isJson(answer.text)),
    verdicts: ['executed-twice', 'failed'],
  },
  {
    name: 'model-empty',
    does: 'the answer is empty',
    faultFor: onlyFor('empty', ({ kind }) => kind === 'chat'),
    verdicts: ['executed-twice', 'failed'],
  },
  {
    name: 'model-refusal',
    does: 'the model refuses',
    faultFor: onlyFor('refusal', ({ kind }) => kind === 'chat'),
    verdicts: ['executed-twice', 'failed'],
  },
]

const isJson = (text: string) => /^\s*[[{]/.test(text)

const crashed: readonly VerdictCode[] = ['done-twice', 'lost', 'paid-again', 'stuck']

/** The answer is lost; or the command gets SIGKILL at a call, and is started again. */
const lostTests: readonly Omit<ClientTest, 'group'>[] = [
  {
    name: 'lostAnswer',
    does: 'a call takes effect, then the connection closes without a byte',
    faultFor: call => (isEffect(call) || call.kind === 'chat' ? { lostAnswer: true } : undefined),
    verdicts: ['done-twice', 'retry-storm', ...swallowed],
  },
  {
    name: 'kill-before',
    does: 'the command is killed before the call takes effect, and started again',
    faultFor: call => (isEffect(call) || call.kind === 'chat' ? { hang: true } : undefined),
    crash: 'before',
    verdicts: crashed,
  },
  {
    name: 'kill-after',
    does: 'the command is killed when the call took effect, before its answer',
    faultFor: call => (isEffect(call) ? { lostAnswer: true, hang: true } : undefined),
    crash: 'after',
    verdicts: crashed,
  },
  {
    name: 'kill-stream',
    does: 'the command is killed in the middle of a stream',
    faultFor: inStream(middle => ({ stall: middle })),
    crash: 'stream',
    verdicts: crashed,
  },
]

/** In the order in which they are tried. */
export const clientTests: readonly ClientTest[] = [
  ...wireTests.map(test => ({ ...test, group: 'wire' }) as const),
  ...lostTests.map(test => ({ ...test, group: 'lost', isExtra: true }) as const),
  ...modelTests.map(test => ({ ...test, group: 'model', isExtra: true }) as const),
]
