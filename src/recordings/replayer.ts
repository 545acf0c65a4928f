/** Answers requests from recordings, or says why there is no answer. */
import { sideBySide } from '../check/miss-text.js'
import { ProblemsError } from '../check/problem.js'
import type { Exchange } from '../core/exchange.js'
import { variantsOf } from './canonical.js'
import type { Ignore } from './ignore.js'
import { callOf, noServerStream, opensServerStream, replyWithoutRecording } from './json-rpc.js'
import { inOwnSession } from './json-rpc-answer.js'
import { keyOf, type RequestIdentity } from './key.js'
import type { RecordingFile } from './names.js'
import { byPresentKey, candidatesFor, type Nearest, nearest } from './nearest.js'
import { type DelayedReply, inForm, keptOpen, played } from './play.js'
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
  readonly written: () => Promise<void>
  /** Called once for each recording that is too old. */
  readonly warn: (sentence: string) => void
}

export type ReplayResult =
  | { readonly kind: 'found'; readonly played: DelayedReply }
  /** `title` is the request in words, `why` a sentence. `isKnownPath` says whether anything is recorded for the path. */
  | { readonly kind: 'miss'; readonly title: string; readonly why: string; readonly isKnownPath: boolean }

/** Creates the function that finds the answer to an exchange. It rejects only if the folder cannot be listed. */
export function createFind(parts: ReplayerParts): (exchange: Exchange) => Promise<ReplayResult> {
  const { shelf, run, identify, ignore, written } = parts
  const choosing: Choosing = { ...parts, warned: new Set() }
  return async exchange => {
    const identified = identify(exchange)
    const reply = replyWithoutRecording(exchange, identified.request)
    if (reply) return { kind: 'found', played: { reply, afterMs: 0 } }
    // Counted before the first await, so that answers follow the order of the requests.
    const count = run.count(exchange.scope, identified.key)
    await shelf.ready()
    const found = await search(identified, count, choosing, shelf.of)
    if (found?.kind === 'found') return forClient(found, exchange)
    // The recording may still be on its way to disk, or may have been added since the folder was listed.
    await written()
    await shelf.refresh()
    const again = await search(identified, count, choosing, shelf.of)
    if (again?.kind === 'found') return forClient(again, exchange)
    if (opensServerStream(exchange)) return { kind: 'found', played: { reply: noServerStream(), afterMs: 0 } }
    const candidates = again ? [] : await candidatesFor(identified.request, shelf)
    const ofPresentKey = byPresentKey(candidates, ignore)
    const renamed = again ?? (await search(identified, count, choosing, ofPresentKey))
    if (renamed?.kind === 'found') return forClient(renamed, exchange)
    const near = renamed ? undefined : nearest(identified.request, candidates, ignore)
    exchange.nearest = near && { file: near.kept.file, differences: near.differences }
    const why = renamed ? `${renamed.why}${adviceOn(ofPresentKey(identified.key))}` : whyNot(near)
    const { method, path } = identified.request
    const { scope, nearest: closest } = exchange
    run.missed({ at: new Date().toISOString(), scope, method, path, reason: why, nearest: closest }, exchange)
    const title = callOf(identified.request) ?? `${method} ${exchange.path}`
    return { kind: 'miss', title, why, isKnownPath: (renamed ?? near) !== undefined }
  }
}

/** Sessions belong to a client, not to a recording. A session's own stream stays open, because clients reopen one that ends. */
function forClient({ kind, played }: Extract<ReplayResult, { kind: 'found' }>, exchange: Exchange): ReplayResult {
  const reply = inOwnSession(played.reply, exchange)
  return { kind, played: { ...played, reply: opensServerStream(exchange) ? keptOpen(reply) : reply } }
}

interface Choosing extends ReplayerParts {
  /** The files for which the age warning was already given. */
  readonly warned: Set<string>
}

/** Finds the same request among those `of` a key, or one whose answer can be converted to the requested format. */
async function search(
  { request, key }: RequestIdentity,
  count: number,
  parts: Choosing,
  of: Shelf['of'],
): Promise<ReplayResult | Unfit | undefined> {
  const own = await choose(of(key), count, request, parts)
  if (own?.kind === 'found') return own
  let reason = own
  for (const variant of variantsOf(request)) {
    const found = await choose(of(keyOf(variant, parts.ignore)), count, request, parts)
    if (found?.kind === 'found') return found
    reason ??= found
  }
  return reason
}

/** Chooses among recordings of the same request after `count` others were replayed. */
async function choose(
  same: readonly RecordingFile[],
  count: number,
  request: RecordedRequest,
  parts: Choosing,
): Promise<Extract<ReplayResult, { kind: 'found' }> | Unfit | undefined> {
  if (same.length === 0) return undefined
  const looked = await Promise.all(same.map(kept => look(kept, parts)))
  const fit = looked.filter(one => one.kind === 'fit')
  const [first] = looked
  if (fit.length === 0 && first?.kind === 'unfit') return first
  const turn = turnOf(count, fit.length, parts.afterLast)
  if (turn === undefined) return unfit(`All ${fit.length} recordings of this request have already been replayed.`)
  const { file, recording } = fit[turn] as (typeof fit)[number]
  const response = inForm(request, recording)
  if (!response) return unfit(`${file} cannot be converted to the requested format.`)
  parts.run.served(file)
  return { kind: 'found', played: played(response, parts.speed, file) }
}

/** Which of several recordings is next. */
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
async function look({ file }: RecordingFile, { shelf, incomplete, maxAgeMs, stale, warn, warned }: Choosing) {
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
  const old = `${file} is ${inDays(ageMs)} old, more than recordings.maxAge. Record it again.`
  if (stale === 'fail') return unfit(old)
  if (!warned.has(file)) warn(old)
  warned.add(file)
  return { kind: 'fit', file, recording } as const
}

/** A recording under the present key hides those under an outdated one (byPresentKey). */
function adviceOn([first, ...others]: readonly RecordingFile[]): string {
  if (!first) return ''
  const files = others.length === 0 ? first.file : `${first.file} and ${others.length} more`
  return ` The name of ${files} is outdated: run "standin recordings rename", or what is recorded next is played instead.`
}

/** A recording exists but cannot be replayed. The reason is a sentence. */
const unfit = (why: string) => ({ kind: 'unfit', why }) as const
type Unfit = ReturnType<typeof unfit>

const DAY_MS = 86_400_000

function inDays(ms: number): string {
  const days = Math.floor(ms / DAY_MS)
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} minutes`
  if (days < 1) return `${Math.floor(ms / 3_600_000)} hours`
  return days === 1 ? 'a day' : `${days} days`
}

function whyNot(near: Nearest | undefined): string {
  if (!near) return 'Nothing is recorded for it.'
  const [first, ...others] = near.differences
  const nearestIs = `The nearest is ${near.kept.file}`
  if (!first) return `${nearestIs}.`
  const { field, recorded, asked } = first
  const [there, here] = sideBySide(recorded ?? '', asked ?? '', SHOWN)
  const more =
    others.length === 0 ? '' : ` ${others.length} more ${others.length === 1 ? 'field differs' : 'fields differ'}.`
  return `${nearestIs}; there ${field} ${is(recorded, there)}, here it ${is(asked, here)}.${more}`
}

/** At most this much of each value is shown in one line. */
const SHOWN = 60

const is = (json: string | undefined, shown: string) => (json === undefined ? 'is absent' : `is ${shown}`)
