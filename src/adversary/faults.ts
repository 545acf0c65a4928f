/** The faults that a client is tested with: to which calls each applies, and which verdicts it can lead to. */
import { messagesIn } from '../chat/said.js'
import type { Fault, SessionFault } from '../core/fault.js'
import { isObject } from '../core/json.js'
import { LOOP_TURNS } from '../faults/index.js'
import type { ClientCall } from './calls.js'
import type { CrashMoment } from './crash.js'
import { isEffect } from './effects.js'
import { isRefresh, isUserCheck } from './session.js'
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
  /** Why it cannot be tried, if the fault applies to no call of the run. */
  readonly unless?: string
  /** How many more calls it leads to. */
  readonly turns?: number
}

export const faultGroups = ['wire', 'lost', 'model', 'session'] as const
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

const ofRefresh = (fault: Fault) => ({
  faultFor: (call: ClientCall) => (isRefresh(call) ? fault : undefined),
  unless: 'the run never refreshed a session',
})
/** Calls with the token of a user, which a session has; of those to the auth server itself, the question who it is. */
const ofUser = (session: SessionFault) => ({
  faultFor: ({ session: { used }, caller, ...call }: ClientCall) =>
    used && caller.kind === 'user' && (call.kind !== 'auth' || isUserCheck(call)) ? { session } : undefined,
  unless: 'no request came with the token of a session',
})
const revoked: readonly VerdictCode[] = ['served-after-revocation', 'stale-session-used']
const refusedToken: readonly VerdictCode[] = ['work-lost', 'stale-session-used', 'failed']

/** What happens to sessions in life. An app may end a session that is over, so that its run fails: this is no verdict. */
const sessionTests: readonly Omit<ClientTest, 'group'>[] = [
  {
    name: 'session-refresh-used',
    does: 'another tab has used up the refresh token',
    ...ofRefresh({ session: 'refresh-used' }),
    verdicts: ['refresh-storm'],
  },
  {
    name: 'session-refresh-429',
    does: 'each refresh gets a 429',
    ...ofRefresh({ status: 429 }),
    times: ALWAYS,
    verdicts: ['signed-out-by-429', 'refresh-storm'],
  },
  {
    name: 'session-refresh-503',
    does: 'each refresh gets a 503',
    ...ofRefresh({ status: 503 }),
    times: ALWAYS,
    verdicts: ['signed-out', 'refresh-storm'],
  },
  {
    name: 'session-refresh-lost',
    does: 'a refresh takes effect, and its answer is lost, as is that of the first retry',
    ...ofRefresh({ lostAnswer: true }),
    // A browser sends it once more by itself if its connection was kept from before.
    times: 2,
    verdicts: ['signed-out', 'refresh-storm', 'failed'],
  },
  {
    name: 'session-revoked',
    does: 'the session is revoked between two calls',
    ...ofUser('revoked'),
    verdicts: revoked,
  },
  {
    name: 'session-banned',
    does: 'the user is banned while a call, such as a stream, is answered',
    ...ofUser('banned'),
    verdicts: revoked,
  },
  {
    name: 'session-key-rotated',
    does: 'the key that signed the token is replaced; a refresh gets a token by the new one',
    ...ofUser('key-rotated'),
    verdicts: refusedToken,
  },
  {
    name: 'session-clock-ahead',
    does: "the server's clock is an hour ahead, so that the token has expired; a refresh gets another",
    ...ofUser('clock-ahead'),
    verdicts: refusedToken,
  },
  {
    name: 'session-link-used',
    does: 'a link was opened already, as the scanners of mail servers do',
    faultFor: call => (call.kind === 'auth' && call.path.endsWith('/verify') ? { session: 'link-used' } : undefined),
    unless: 'no link or code was used to sign in',
    verdicts: ['retry-storm'],
  },
]

/** In the order in which they are tried. */
export const clientTests: readonly ClientTest[] = [
  ...wireTests.map(test => ({ ...test, group: 'wire' }) as const),
  ...lostTests.map(test => ({ ...test, group: 'lost', isExtra: true }) as const),
  ...modelTests.map(test => ({ ...test, group: 'model', isExtra: true }) as const),
  ...sessionTests.map(test => ({ ...test, group: 'session', isExtra: true }) as const),
]
