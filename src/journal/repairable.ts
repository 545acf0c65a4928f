/** Which repairs an exchange is for, as far as it says so itself: for its row in a list. */
import type { ClosestRecording } from '../check/finding.js'
import { accessBelow, type Exchange } from '../core/exchange.js'
import { isAuth } from '../core/paths.js'
import { isMissed } from './facts.js'

/** All repairs, by what they do. */
export const repairIds = ['key', 'record', 'nearest', 'ignore', 'answer', 'answer-message'] as const
type RepairId = (typeof repairIds)[number]

/** The repairs of an exchange that did not get the answer that its app wants, in the words of a button. */
export function repairsFor(exchange: Exchange): readonly { readonly id: RepairId; readonly says: string }[] {
  const { outcome, nearest } = exchange
  const isMiss = outcome?.code === 'no_recording'
  const ignorable = isMiss && nearest ? ignorableOf(nearest) : undefined
  return [
    ...(keyFor(exchange) ? [{ id: 'key', says: 'Copy a key that works' } as const] : []),
    ...(isMiss ? [{ id: 'record', says: 'Record now' } as const] : []),
    ...(isMiss && nearest ? [{ id: 'nearest', says: 'Use nearest' } as const] : []),
    ...(ignorable ? [{ id: 'ignore', says: `Ignore ${ignorable.says}` } as const] : []),
    ...(isMissed(exchange) ? [{ id: 'answer', says: 'Answer' } as const] : []),
  ]
}

/** The key that would help; `undefined` if none would: something else sent the refusal, or it is about something else. */
export function keyFor({ outcome, endpoint, path, caller }: Exchange): 'apiKey' | 'anonKey' | undefined {
  if (outcome?.status !== 401 || outcome.fault || outcome.answeredBy || outcome.answer?.kind === 'upstream')
    return undefined
  if (isAuth(path)) return outcome.code === 'gateway' ? 'anonKey' : undefined
  const access = endpoint?.access ?? accessBelow(path)
  if (access === undefined || access === 'anyone') return undefined
  if (caller.kind !== 'anonymous' && caller.kind !== 'refused' && outcome.code !== 'wrong_kind') return undefined
  return access.includes('apiKey') ? 'apiKey' : access.includes('anon') ? 'anonKey' : undefined
}

type Ignored = string | { readonly query: string }

/** What was said, and what the platform is told to do, decides the answer. */
const decisive =
  /^(?:messages|input|prompt|instructions|tools|functions|tool_choice|model|method|path|body|response_format)\b/

/** What can be ignored so that the nearest recording answers: what the recorder advises, or the one field that differs by accident. */
export function ignorableOf({ ignore, differences }: ClosestRecording) {
  if (ignore !== undefined && ignore.length > 0) return { entries: ignore, says: ignore.map(inWords).join(' and ') }
  const [first, ...others] = differences
  if (!first || others.length > 0 || decisive.test(first.field)) return undefined
  const [, parameter] = /^query\.(.*)$/.exec(first.field) ?? []
  const entry = parameter === undefined ? first.field : { query: parameter }
  return { entries: [entry], says: inWords(entry) }
}

const inWords = (entry: Ignored) => (typeof entry === 'string' ? entry : `query.${entry.query}`)
