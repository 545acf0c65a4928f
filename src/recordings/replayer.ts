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
  readonly speed: number
  /** Resolves when everything recorded so far is on disk. */
  readonly flush: () => Promise<void>
}

type ReplayResult =
  | { readonly kind: 'found'; readonly answer: DelayedReply }
  /** `title` is the request in words, `why` a sentence. `isKnownPath` says whether anything is recorded for the path. */
  | { readonly kind: 'miss'; readonly title: string; readonly why: string; readonly isKnownPath: boolean }

/** Creates the function that finds the answer to an exchange. It rejects only if the folder cannot be listed. */
export function createFind(parts: ReplayerParts): (exchange: Exchange) => Promise<ReplayResult> {
  const { shelf, run, identify, ignore, flush } = parts
  return async exchange => {
    const identified = identify(exchange)
    const reply = replyWithoutRecording(exchange, identified.request)
    if (reply) return { kind: 'found', answer: { reply, afterMs: 0 } }
    // Counted before the first await, so that answers follow the order of the requests.
    const count = run.count(exchange.scope, identified.key)
    await shelf.ready()
    const found = await search(identified, count, parts, shelf.of)
    if (found?.kind === 'found') return forClient(found, exchange)
    // The recording may still be on its way to disk, or may have been added since the folder was listed.
    await flush()
    await shelf.refresh()
    const refreshed = await search(identified, count, parts, shelf.of)
    if (refreshed?.kind === 'found') return forClient(refreshed, exchange)
    if (opensServerStream(exchange)) return { kind: 'found', answer: { reply: noServerStream(), afterMs: 0 } }
    const candidates = refreshed ? [] : await candidatesFor(identified.request, shelf)
    const outcome = refreshed ?? (await search(identified, count, parts, byPresentKey(candidates, ignore)))
    if (outcome?.kind === 'found') return forClient(outcome, exchange)
    const closest = outcome ? undefined : nearest(identified.request, candidates, ignore)
    const nearestRecording = closest && { file: closest.entry.file, differences: closest.differences }
    const why = outcome ? outcome.why : whyNot(closest)
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

/** Finds a recording of the request, or one whose answer can be converted to the requested format. `recordingsOf` returns those of a key. */
async function search(
  { request, key }: RequestIdentity,
  count: number,
  parts: ReplayerParts,
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
  return reason
}

/** Chooses one of several recordings of the same request, which was sent `count` times before. */
async function choose(
  same: readonly RecordingFile[],
  count: number,
  request: RecordedRequest,
  parts: ReplayerParts,
): Promise<Extract<ReplayResult, { kind: 'found' }> | Unfit | undefined> {
  if (same.length === 0) return undefined
  const results = await Promise.all(same.map(entry => load(entry, parts)))
  const fit = results.filter(one => one.kind === 'fit')
  const [first] = results
  if (fit.length === 0 && first?.kind === 'unfit') return first
  // After the last recording of a request, the last one repeats.
  const { file, recording } = fit[Math.min(count, fit.length - 1)] as (typeof fit)[number]
  const response = inFormatOf(request, recording)
  if (!response) return unfit(`${file} cannot be converted to the requested format.`)
  parts.run.served(file)
  return { kind: 'found', answer: delayedReplyOf(response, parts.speed, file) }
}

/** Returns a recording, or why it cannot be replayed. */
async function load({ file }: RecordingFile, { shelf }: ReplayerParts) {
  let recording: Recording
  try {
    recording = await shelf.read(file)
  } catch (error) {
    if (error instanceof ProblemsError) return unfit(`A recording cannot be read: ${error.message.split('\n', 1)[0]}`)
    throw error
  }
  if (!recording.response.complete) return unfit(`The answer in ${file} broke off. Record it again.`)
  return { kind: 'fit', file, recording } as const
}

/** A recording exists but cannot be replayed. The reason is a sentence. */
const unfit = (why: string) => ({ kind: 'unfit', why }) as const
type Unfit = ReturnType<typeof unfit>

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
