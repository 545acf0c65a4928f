/** Answers requests from recordings, or says why there is no answer. */
import { sideBySide } from '../check/miss-text.js'
import { ProblemsError } from '../check/problem.js'
import type { Exchange } from '../core/exchange.js'
import { variantsOf } from './canonical.js'
import type { Ignore } from './ignore.js'
import { callOf, noServerStream, opensServerStream, replyWithoutRecording } from './json-rpc.js'
import { withClientSession } from './json-rpc-answer.js'
import { keyOf, type RequestIdentity } from './key.js'
import type { RecordingFile } from './names.js'
import { byPresentKey, candidatesFor, type Nearest, nearest } from './nearest.js'
import { type DelayedReply, delayedReplyOf, inFormatOf, withOpenEnd } from './play.js'
import type { RecordedRequest, Recording } from './recording.js'
import type { Run } from './run.js'
import type { Shelf } from './shelf.js'

export interface ReplayerParts {
  readonly shelf: Shelf
  readonly run: Run
  readonly identify: (exchange: Exchange) => RequestIdentity
  readonly ignore: Ignore
  /** What to replay after the last of several recordings. */
  readonly afterLast: 'repeat-last' | 'cycle' | 'miss'
  /** Whether incomplete answers are replayed. */
  readonly incomplete: boolean
  readonly speed: number
  /** 0 means no limit. */
  readonly maxAgeMs: number
  readonly stale: 'warn' | 'fail'
  /** Resolves when everything recorded so far is on disk. */
  readonly flush: () => Promise<void>
  /** Called once for each recording that is too old. */
  readonly warn: (sentence: string) => void
}

export type ReplayResult =
  | { readonly kind: 'found'; readonly answer: DelayedReply }
  /** `title` is the request in words, `why` a sentence. `isKnownPath` says whether anything is recorded for the path. */
  | { readonly kind: 'miss'; readonly title: string; readonly why: string; readonly isKnownPath: boolean }

/** Creates the function that finds the answer to an exchange. It rejects only if the folder cannot be listed. */
export function createFind(parts: ReplayerParts): (exchange: Exchange) => Promise<ReplayResult> {
  const { shelf, run, identify, ignore, flush } = parts
  const state: SearchState = { ...parts, warned: new Set() }
  return async exchange => {
    const identified = identify(exchange)
    const reply = replyWithoutRecording(exchange, identified.request)
    if (reply) return { kind: 'found', answer: { reply, afterMs: 0 } }
    // Counted before the first await, so that answers follow the order of the requests.
    const count = run.count(exchange.scope, identified.key)
    await shelf.ready()
    const found = await search(identified, count, state, shelf.of)
    if (found?.kind === 'found') return forClient(found, exchange)
    // The recording may still be on its way to disk, or may have been added since the folder was listed.
    await flush()
    await shelf.refresh()
    const refreshed = await search(identified, count, state, shelf.of)
    if (refreshed?.kind === 'found') return forClient(refreshed, exchange)
    if (opensServerStream(exchange)) return { kind: 'found', answer: { reply: noServerStream(), afterMs: 0 } }
    const candidates = refreshed ? [] : await candidatesFor(identified.request, shelf)
    const recordingsOf = byPresentKey(candidates, ignore)
    const outcome = refreshed ?? (await search(identified, count, state, recordingsOf))
    if (outcome?.kind === 'found') return forClient(outcome, exchange)
    const closest = outcome ? undefined : nearest(identified.request, candidates, ignore)
    const nearestRecording = closest && { file: closest.entry.file, differences: closest.differences }
    const why = outcome ? `${outcome.why}${adviceOn(recordingsOf(identified.key))}` : whyNot(closest)
    const { method, path } = identified.request
    exchange.nearest = nearestRecording
    const at = new Date().toISOString()
    run.missed({ at, scope: exchange.scope, method, path, reason: why, nearest: nearestRecording }, exchange)
    const title = callOf(identified.request) ?? `${method} ${exchange.path}`
    return { kind: 'miss', title, why, isKnownPath: (outcome ?? closest) !== undefined }
  }
}

/** Sessions belong to a client, not to a recording. A session's own stream stays open, because clients reopen one that ends. */
function forClient({ kind, answer }: Extract<ReplayResult, { kind: 'found' }>, exchange: Exchange): ReplayResult {
  const reply = withClientSession(answer.reply, exchange)
  return { kind, answer: { ...answer, reply: opensServerStream(exchange) ? withOpenEnd(reply) : reply } }
}

/** What a search needs. */
interface SearchState extends ReplayerParts {
  /** The files for which the age warning was already given. */
  readonly warned: Set<string>
}

/** Finds a recording of the request, or one whose answer can be converted to the requested format. `recordingsOf` returns those of a key. */
async function search(
  { request, key, asReceived }: RequestIdentity,
  count: number,
  parts: SearchState,
  recordingsOf: Shelf['of'],
): Promise<ReplayResult | Unfit | undefined> {
  const exact = await choose(recordingsOf(key), count, request, parts)
  if (exact?.kind === 'found') return exact
  let reason = exact
  for (const variant of variantsOf(request)) {
    const found = await choose(recordingsOf(keyOf(variant, parts.ignore)), count, request, parts)
    if (found?.kind === 'found') return found
    reason ??= found
  }
  if (!asReceived) return reason
  return (await choose(recordingsOf(keyOf(asReceived, parts.ignore)), count, asReceived, parts)) ?? reason
}

/** Chooses one of several recordings of the same request, which was sent `count` times before. */
async function choose(
  same: readonly RecordingFile[],
  count: number,
  request: RecordedRequest,
  parts: SearchState,
): Promise<Extract<ReplayResult, { kind: 'found' }> | Unfit | undefined> {
  if (same.length === 0) return undefined
  const results = await Promise.all(same.map(entry => load(entry, parts)))
  const fit = results.filter(one => one.kind === 'fit')
  const [first] = results
  if (fit.length === 0 && first?.kind === 'unfit') return first
  const index = turnOf(count, fit.length, parts.afterLast)
  if (index === undefined) return unfit(`All ${fit.length} recordings of this request have already been replayed.`)
  const { file, recording } = fit[index] as (typeof fit)[number]
  const response = inFormatOf(request, recording)
  if (!response) return unfit(`${file} cannot be converted to the requested format.`)
  parts.run.served(file)
  return { kind: 'found', answer: delayedReplyOf(response, parts.speed, file) }
}

/** The index of the recording to replay; `undefined` for a miss. */
function turnOf(count: number, length: number, afterLast: ReplayerParts['afterLast']): number | undefined {
  if (count < length) return count
  switch (afterLast) {
    case 'repeat-last':
      return length - 1
    case 'cycle':
      return count % length
    case 'miss':
      return undefined
  }
}

/** Returns a recording, or why it cannot be replayed. */
async function load({ file }: RecordingFile, { shelf, incomplete, maxAgeMs, stale, warn, warned }: SearchState) {
  let recording: Recording
  try {
    recording = await shelf.read(file)
  } catch (error) {
    if (error instanceof ProblemsError) return unfit(`A recording cannot be read: ${error.message.split('\n', 1)[0]}`)
    throw error
  }
  if (!recording.response.complete && !incomplete) {
    return unfit(`The answer in ${file} broke off. Record it again, or replay it with recordings.incomplete.`)
  }
  const ageMs = Date.now() - Date.parse(recording.recordedAt)
  if (maxAgeMs === 0 || !(ageMs > maxAgeMs)) return { kind: 'fit', file, recording } as const
  const tooOld = `${file} is ${ageInWords(ageMs)} old, more than recordings.maxAge. Record it again.`
  if (stale === 'fail') return unfit(tooOld)
  if (!warned.has(file)) warn(tooOld)
  warned.add(file)
  return { kind: 'fit', file, recording } as const
}

/** Recordings under the present key take precedence over those under an outdated one (byPresentKey). */
function adviceOn([first, ...others]: readonly RecordingFile[]): string {
  if (!first) return ''
  const files = others.length === 0 ? first.file : `${first.file} and ${others.length} more`
  return ` The name of ${files} is outdated: run "standin recordings rename", or the next recording of this request is replayed instead.`
}

/** A recording exists but cannot be replayed. The reason is a sentence. */
const unfit = (why: string) => ({ kind: 'unfit', why }) as const
type Unfit = ReturnType<typeof unfit>

const DAY_MS = 86_400_000

function ageInWords(ms: number): string {
  const days = Math.floor(ms / DAY_MS)
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} minutes`
  if (days < 1) return `${Math.floor(ms / 3_600_000)} hours`
  return days === 1 ? 'a day' : `${days} days`
}

function whyNot(closest: Nearest | undefined): string {
  if (!closest) return 'Nothing is recorded for it.'
  const [first, ...others] = closest.differences
  const nearestIs = `The nearest is ${closest.entry.file}`
  if (!first) return `${nearestIs}.`
  const { field, recorded, asked } = first
  const [recordedText, askedText] = sideBySide(recorded ?? '', asked ?? '', SHOWN_LENGTH)
  const otherFields =
    others.length === 0 ? '' : ` ${others.length} more ${others.length === 1 ? 'field differs' : 'fields differ'}.`
  return `${nearestIs}; there ${field} ${isText(recorded, recordedText)}, here it ${isText(asked, askedText)}.${otherFields}`
}

/** At most this much of each value is shown in one line. */
const SHOWN_LENGTH = 60

const isText = (json: string | undefined, shown: string) => (json === undefined ? 'is absent' : `is ${shown}`)
