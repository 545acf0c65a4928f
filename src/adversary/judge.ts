/** Judges what a client made of a fault, by the calls that it sent and by how it ended. */

import { isDeepStrictEqual } from 'node:util'
import { messagesIn } from '../chat/said.js'
import type { Fault } from '../core/fault.js'
import { jsonOf } from '../core/json.js'
import { type ClientCall, type ToldCall, toldCallsIn } from './calls.js'
import { countEffects, isEffect } from './effects.js'
import { hostileJudges } from './hostile.js'
import { isRefresh, sessionJudges, stormOf } from './session.js'
import type { ClientRun, ClientVerdict, Evidence, FindVerdict, RunFacts, VerdictCode } from './verdict.js'

/** Returns what the client did wrong; nothing if it did everything right. */
export function judge(run: ClientRun): readonly ClientVerdict[] {
  const { calls, hit, before } = run
  const isSame = ({ key }: ClientCall) => key === hit.key
  const same = calls.filter(isSame)
  // A call that the client gave up is not counted, since another one took its place.
  const usual = Math.max(1, before?.filter(call => isSame(call) && call.complete).length ?? 1)
  const later = calls.slice(calls.indexOf(hit) + 1)
  const again = later.filter(isSame)
  const facts = { ...run, same, usual, again, later, isRepeated: again.length > 0 && same.length > usual }
  const found = Object.entries(judges).flatMap(([code, find]) => verdictFrom(code as VerdictCode, find(facts)))
  if (run.end === 'killed') return [...found, ...verdictFrom('hung', hung(facts))]
  // What went wrong before says why.
  return found.length > 0 ? found : verdictFrom('failed', failed(facts))
}

const verdictFrom = (code: VerdictCode, finding: Evidence | undefined): readonly ClientVerdict[] =>
  finding ? [{ isBug: true, ...finding, code }] : []

const judges: Readonly<Partial<Record<VerdictCode, FindVerdict>>> = {
  'truncation-accepted': truncationAccepted,
  'retry-after-ignored': retryAfterIgnored,
  'retried-hopeless': retriedHopeless,
  'retry-storm': retryStorm,
  'no-retry': noRetry,
  'executed-twice': executedTwice,
  'connection-kept': connectionKept,
  'failure-swallowed': failureSwallowed,
  'done-twice': doneTwice,
  ...hostileJudges,
  ...sessionJudges,
}

/** Whether a client gets only a part of an answer. */
export const isTruncating = (fault: Fault): boolean =>
  (fault.stall !== undefined && fault.stallMs === undefined) ||
  [fault.end, fault.cut, fault.finish, fault.malformed, fault.fail].some(value => value !== undefined)

function truncationAccepted(run: RunFacts): Evidence | undefined {
  const { fault, hit, later, before, end, isRepeated } = run
  if (!isTruncating(fault) || hit.kind !== 'chat') return undefined
  const ran = later.find(call => ranHalf(call, run))
  if (ran) return { sentence: 'Only a part of a tool call arrived, and the tool ran with it.', calls: [hit, ran] }
  const echo = later.find(call => goesOnWith(call, run))
  if (echo)
    return {
      sentence: 'Only a part of the answer arrived, and a later request goes on with it as if it were all.',
      calls: [hit, echo],
    }
  const known = new Set(before?.map(({ key }) => key))
  const reaction = later.find(({ kind, key }) => kind === 'chat' && !known.has(key))
  if (end !== 'passed' || isRepeated || reaction) return undefined
  return {
    sentence: 'Only a part of the answer arrived. The run passes all the same, and does not ask again.',
    calls: [hit],
  }
}

/** Whether a request has the result of a tool call of which only a part had arrived, or is the call of the tool itself. */
function ranHalf({ kind, body }: ClientCall, { hit, before }: RunFacts): boolean {
  const halves = hit.answer.toolCalls.filter(call => call.arguments !== call.wholeArguments)
  if (kind === 'chat')
    return halves.some(({ id, wholeArguments }) => {
      const told = toldCallsIn(body).find(call => call.id === id)
      return told !== undefined && isRun(told, wholeArguments)
    })
  if (kind !== 'tool' && kind !== 'path') return false
  const isIn = (text: string, texts: unknown) => saidTexts(texts).includes(text)
  return halves.some(half => {
    const text = halfTextIn(half.arguments)
    return text !== undefined && isIn(text, body) && !before?.some(call => isIn(text, call.body))
  })
}

/** Whether a tool ran with a part of its arguments, as a request tells it. */
function isRun({ arguments: told, result }: ToldCall, whole: string): boolean {
  const known = typeof told === 'string' ? (jsonOf(told) ?? told.trim()) : told
  // A client that knows that they are not whole may send none.
  const isNone = known === undefined || known === '' || isDeepStrictEqual(known, {})
  if (isNone || isDeepStrictEqual(known, jsonOf(whole))) return false
  const text = typeof result === 'string' ? result : JSON.stringify(result ?? '')
  // Somebody has closed what was open. A tool may fail then, but only a client that has seen the half says so.
  return !(typeof known === 'object' ? aboutArguments : anyError).test(text)
}

const aboutArguments =
  /\b(arguments?|parameters?|json|pars(e|ed|ing)|schema|validat\w*|truncated|incomplete|not (complete|whole)|partial\w*|interrupted|abort\w*|cancel\w*|cut off|ended early|skipped|not (run|executed|called))\b/i
const anyError = new RegExp(`${aboutArguments.source}|error|fail|invalid|cannot|could not|unable|refused|denied`, 'i')

/** The text in which arguments break off. */
function halfTextIn(sent: string): string | undefined {
  const text = /[:,[]\s*"((?:[^"\\]|\\.)*)$/.exec(sent)?.[1]
  const value = text === undefined ? undefined : jsonOf(`"${text}"`)
  return typeof value === 'string' && value.length >= TELLING_LENGTH ? value : undefined
}

/** A shorter text may be part of another one by chance. */
const TELLING_LENGTH = 20

/** Whether a call contains the part of an answer, or its tool calls, and is no attempt to get the rest. */
function goesOnWith(call: ClientCall, { hit, before, isRepeated }: RunFacts): boolean {
  const lastOf = ({ body }: ClientCall) => JSON.stringify(messagesIn(body).at(-1))
  // To ask for the rest, a client adds a message that it does not send otherwise.
  const asksForRest = before && call.kind === 'chat' && !before.some(one => lastOf(one) === lastOf(call))
  if (asksForRest || (!before && hit.fault?.finish !== undefined)) return false
  const { toolCalls } = hit.answer
  const calledIn = (message: { readonly tool_calls?: unknown }) =>
    toolCalls.some(({ id }) => JSON.stringify(message.tool_calls ?? null).includes(JSON.stringify(id)))
  if (!isRepeated && messagesIn(call.body).some(calledIn)) return true
  const part = hit.answer.text.trim()
  const whole = before?.find(({ key }) => key === hit.key)?.answer.text ?? hit.answer.wholeText
  if (part === '' || part === whole.trim()) return false
  const has = ({ body }: ClientCall) =>
    saidTexts(body).some(
      text => text.trim() === part || (part.length >= TELLING_LENGTH && text.includes(part) && !text.includes(whole)),
    )
  return has(call) && !has(hit) && before?.some(has) !== true
}

function saidTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(saidTexts) : []
}

/** Timers may be early by this much, and the answer takes time to arrive. */
const TOLERANCE_MS = 100

function retryAfterIgnored({ fault, hit, again, usual }: RunFacts): Evidence | undefined {
  if (fault.status === undefined || fault.retryAfter === undefined) return undefined
  const earliestMs = hit.endMs + fault.retryAfter * 1000 - TOLERANCE_MS
  const early = again.filter(({ startMs }) => startMs < earliestMs)
  const retry = early[usual - 1]
  if (!retry) return undefined
  const waited = ((retry.startMs - hit.endMs) / 1000).toFixed(1)
  const sentence = `Retry-After asked for ${fault.retryAfter} s, and the call came again after ${waited} s.`
  return { sentence, calls: [hit, retry] }
}

function retriedHopeless({ fault, hit, again, later, isRepeated }: RunFacts): Evidence | undefined {
  const { status } = fault
  const [retry] = again
  if (!retry || !isRepeated || (status !== 400 && status !== 401)) return undefined
  // With a new token, the same call may succeed.
  const isSignedIn = later.some(({ kind, startMs }) => kind === 'auth' && startMs <= retry.startMs)
  if (status === 401 && isSignedIn) return undefined
  return {
    sentence: `The same call came again after a ${status}, which it gets again whenever it is repeated.`,
    calls: [hit, retry],
  }
}

/** OpenAI's SDK and the AI SDK send a call up to three times, and need about two seconds or more for that. */
const DEFAULT_ATTEMPTS = 3
const STORM_MS = 2000

function retryStorm({ hit, same, usual }: RunFacts): Evidence | undefined {
  // Clients of Supabase Auth retry these more often, which another judge knows.
  if (isRefresh(hit)) return undefined
  const failures = same.filter(({ status }) => status === null || status >= 400)
  const most = DEFAULT_ATTEMPTS * usual
  const storm = stormOf(failures, most, STORM_MS)
  if (!storm) return undefined
  return {
    sentence: `The call failed, and came ${storm.length} times within ${STORM_MS / 1000} s; an SDK would send it ${most} times by default.`,
    calls: storm,
  }
}

/** Whether the same request may succeed a moment later. */
export const isTransient = ({ status = 0, reset }: Fault) => status === 429 || status >= 500 || reset === 'before'

function noRetry({ fault, hit, later, isRepeated, before }: RunFacts): Evidence | undefined {
  if (!hit.sdk || !isTransient(fault) || isRepeated) return undefined
  const known = new Set(before?.map(({ key }) => key))
  if (later.some(({ kind, key }) => kind === hit.kind && !known.has(key))) return undefined
  return {
    sentence: `${hit.sdk[0]?.toUpperCase()}${hit.sdk.slice(1)} would have sent the call again, but it came only once.`,
    calls: [hit],
  }
}

const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

function executedTwice(run: RunFacts): Evidence | undefined {
  const { calls, hit, before, again } = run
  const [retry] = again
  const told = calls.find(({ body }) => isToldTwice(body))
  if (told && !before?.some(({ body }) => isToldTwice(body)))
    return { sentence: 'A request has two results of the same tool call: the tool ran twice.', calls: [hit, told] }
  if (!retry) return undefined
  const countIn = (all: readonly ClientCall[], key: string) => all.filter(call => call.key === key).length
  const isExecution = ({ kind, method, key }: ClientCall) =>
    key !== hit.key && (kind === 'tool' || (kind === 'path' && changing.has(method)))
  const repeated = calls.find(
    call => isExecution(call) && countIn(calls, call.key) > Math.max(1, countIn(before ?? [], call.key)),
  )
  if (!repeated) return undefined
  const all = calls.filter(({ key }) => key === repeated.key)
  return { sentence: `After the retry, ${repeated.title} ran again.`, calls: [hit, ...all] }
}

/** Whether a conversation has two results of the same tool call. */
function isToldTwice(body: unknown): boolean {
  const ids = messagesIn(body).flatMap(({ tool_call_id: id }) => (typeof id === 'string' ? [id] : []))
  return new Set(ids).size < ids.length
}

function connectionKept({ hit, again, isRepeated }: RunFacts): Evidence | undefined {
  const retry = again.at(-1)
  if (!retry || !isRepeated || hit.endMs <= retry.endMs || retry.endMs - retry.startMs < TOLERANCE_MS) return undefined
  return {
    sentence:
      'The call came again while the connection of the first one stayed open: it was given up, but not aborted.',
    calls: [hit, retry],
  }
}

/** After a lost answer, which the client cannot tell from a call that was never made. */
function doneTwice({ fault, hit, again, calls, before }: RunFacts): Evidence | undefined {
  if (!fault.lostAnswer || !isEffect(hit) || countEffects(calls, hit) <= Math.max(1, countEffects(before, hit)))
    return undefined
  return {
    sentence: `${hit.title} took effect, and its answer was lost. The call came again without an Idempotency-Key, and took effect again.`,
    calls: [hit, ...again.filter(isEffect)],
  }
}

function failureSwallowed({ end, hit, calls }: RunFacts): Evidence | undefined {
  const asked = calls.filter(({ kind }) => kind === 'chat')
  const isLost = ({ key, status }: ClientCall) => key === hit.key && (status === null || status >= 400)
  if (end !== 'passed' || hit.kind !== 'chat' || !asked.every(isLost)) return undefined
  return { sentence: 'The run passes, although its only model call never got an answer.', calls: asked, isBug: false }
}

function failed({ end, fault, hit, again }: RunFacts): Evidence | undefined {
  if (end !== 'failed' || fault.status === 400 || fault.status === 401) return undefined
  // An answer that is lost for good may fail a run that expects one, and so may a session that is over.
  const isSurvivable = isTransient(fault) || fault.done === 'double' || fault.stallMs !== undefined
  const how = again.length > 0 ? 'although the call was repeated' : 'and the call was not repeated'
  return {
    sentence:
      fault.session === undefined
        ? `The run failed, ${how}.`
        : 'The token of the session was refused, and the run failed. A refresh gets a new one.',
    calls: [hit, ...again],
    ...((fault.session !== undefined || !isSurvivable) && { isBug: false }),
  }
}

const hung = ({ hit, again }: RunFacts): Evidence => ({
  sentence: 'The run took more than three times as long as without the fault, and was ended.',
  calls: [hit, ...again],
})
