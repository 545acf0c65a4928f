/** Answers requests from recordings, or says why there is no answer: what differs from the most similar recording. */
import { isDeepStrictEqual } from 'node:util'
import type { Tokenizer } from '../chat/tokens/index.js'
import { type ClosestRecording, type Difference, ignoreAdvice, sideBySide } from '../check/finding.js'
import { ProblemsError } from '../check/problem.js'
import type { Exchange } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { byPresentKey, type Candidate, candidatesFor } from './candidates.js'
import { asksForChat, type Ignore, ignoreFrom, variantsOf } from './canonical.js'
import { differing, distance, leavesOf } from './differences.js'
import type { DriftNote } from './drift-note.js'
import type { Shelf } from './folder.js'
import { ignorableIn } from './ignorable.js'
import { ignoredNames } from './ignored-names.js'
import {
  carriesAnswer,
  noServerStream,
  opensServerStream,
  replyWithoutRecording,
  rpcCallOf,
  withClientSession,
} from './json-rpc.js'
import { comparedForm, formerKey, type RequestIdentity, requestKey } from './key.js'
import type { RecordingFile } from './names.js'
import { type DelayedReply, delayedReplyOf, inFormatOf, withOpenEnd } from './play.js'
import { promptDifferences, shownChange } from './prompt-change.js'
import type { RecordedRequest, Recording } from './recording.js'
import type { Run } from './run.js'

export interface ReplayerParts {
  readonly shelf: Shelf
  readonly run: Run
  readonly identify: (exchange: Exchange) => RequestIdentity
  readonly ignore: Ignore
  /** The recording that somebody chose for requests with a key. */
  readonly repairs: { fileFor(key: string): string | undefined }
  readonly speed: number
  readonly tokenizer: Tokenizer
  /** If there is one, a request without a recording is answered from one of the same conversation, which is noted there. */
  readonly note: DriftNote | undefined
  /** Resolves when everything recorded so far is on disk. */
  readonly flush: () => Promise<void>
}

type ReplayResult =
  | { readonly kind: 'found'; readonly answer: DelayedReply }
  /** `title` is the request in words, `why` a sentence. `isKnownPath` says whether anything is recorded for the path. */
  | { readonly kind: 'miss'; readonly title: string; readonly why: string; readonly isKnownPath: boolean }

/** Creates the function that finds the answer to an exchange. It rejects only if the folder cannot be listed. */
export function createFind(parts: ReplayerParts): (exchange: Exchange) => Promise<ReplayResult> {
  const { shelf, run, identify, ignore, repairs, flush } = parts
  return async exchange => {
    const identified = identify(exchange)
    const reply = replyWithoutRecording(exchange, identified.request)
    if (reply) return { kind: 'found', answer: { reply, afterMs: 0 } }
    // Counted before the first await, so that answers follow the order of the requests.
    const { condition } = identified.request
    const count = run.count(
      exchange.scope,
      condition ? `${identified.key} ${JSON.stringify(condition)}` : identified.key,
    )
    await shelf.ready()
    // An error of this run is not what the client wants that tries again.
    const isMeant = (entry: RecordingFile) => !run.isSuperseded(entry) && !run.isFailed(entry)
    const repaired = repairs.fileFor(identified.key)
    const chosen = repaired === undefined ? undefined : [...shelf.all()].find(({ file }) => file === repaired)
    const recordingsOf = (key: string) => (chosen ? [chosen] : shelf.of(key).filter(isMeant))
    const found = await search(identified, count, parts, recordingsOf)
    if (found?.kind === 'found') return forClient(found, exchange)
    // The recording may still be on its way to disk, or may have been added since the folder was listed.
    await flush()
    await shelf.refresh()
    const refreshed = await search(identified, count, parts, recordingsOf)
    if (refreshed?.kind === 'found') return forClient(refreshed, exchange)
    if (opensServerStream(exchange)) return { kind: 'found', answer: { reply: noServerStream(), afterMs: 0 } }
    const candidates = refreshed ? [] : await candidatesFor(identified.request, shelf, [...shelf.all()].filter(isMeant))
    const outcome = refreshed ?? (await search(identified, count, parts, byPresentKey(candidates, ignore)))
    if (outcome?.kind === 'found') return forClient(outcome, exchange)
    return missed(exchange, identified, { count, unfit: outcome, candidates }, parts)
  }
}

/** What was found out about a request without a recording. `unfit` says why a recording of it cannot be replayed. */
interface Search {
  readonly count: number
  readonly unfit: Unfit | undefined
  readonly candidates: readonly Candidate[]
}

/** Notes a miss. If it may be, it is answered from a recording of the same conversation. */
async function missed(
  exchange: Exchange,
  identified: RequestIdentity,
  { count, unfit, candidates }: Search,
  parts: ReplayerParts,
): Promise<ReplayResult> {
  const { request } = identified
  const closest = unfit ? undefined : nearest(request, candidates, parts.ignore)
  const drifted = closest?.isChat ? await driftedAnswer(identified, closest, { count, candidates }, parts) : undefined
  // What cannot be replayed is what there is to mend.
  const isUnfit = drifted?.kind === 'unfit'
  exchange.nearest = closest && !isUnfit ? await shownNearest(identified, closest, parts) : undefined
  if (exchange.nearest && drifted?.kind === 'found') exchange.nearest = { ...exchange.nearest, file: drifted.file }
  const reason = (unfit ?? (isUnfit ? drifted : undefined))?.why ?? whyNot(exchange.nearest)
  const { method, path } = request
  const { nearest: nearestRecording, scope } = exchange
  const miss = { at: new Date().toISOString(), scope, method, path, reason, nearest: nearestRecording }
  parts.run.missed(drifted?.kind === 'found' ? { ...miss, drifted: true } : miss, exchange)
  if (drifted?.kind === 'found') return forClient(drifted, exchange)
  const title = rpcCallOf(request) ?? `${method} ${exchange.path}`
  return { kind: 'miss', title, why: reason, isKnownPath: unfit !== undefined || closest?.isSamePath === true }
}

/** Answers from the recordings of another prompt, and notes it, if the configuration allows that. */
async function driftedAnswer(
  { request, key: asked }: RequestIdentity,
  closest: Nearest,
  { count, candidates }: Pick<Search, 'count' | 'candidates'>,
  parts: ReplayerParts,
): Promise<Found | Unfit | undefined> {
  const { note, shelf, ignore } = parts
  if (!note) return undefined
  const key = requestKey(closest.candidate.request, ignore)
  const named = shelf.of(key)
  const same = named.length > 0 ? named : byPresentKey(candidates, ignore)(key)
  const found = await choose(same, count, request, parts)
  if (found?.kind !== 'found') return found
  note.drifted(asked, { files: same.map(({ file }) => file), key, request })
  const { reply } = found.answer
  const answeredBy = { kind: 'recording', file: found.file, drifted: true } as const
  return { ...found, answer: { ...found.answer, reply: { ...reply, answeredBy } } }
}

/** The nearest recording as it is shown. */
async function shownNearest(identified: RequestIdentity, closest: Nearest, parts: ReplayerParts) {
  const { candidate, isChat } = closest
  const toIgnore = await ignorableFor(identified, closest, parts)
  return {
    file: candidate.entry.file,
    differences: closest.differences
      .slice(0, MOST_LISTED)
      .map(one => shownChange(one, isChat ? parts.tokenizer : undefined)),
    ...(toIgnore && { ignore: toIgnore }),
    ...(isChat && { sameConversation: true }),
  }
}

/** Sessions belong to a client, not to a recording. A session's own stream stays open, because clients reopen one that ends. */
function forClient({ kind, answer }: Pick<Found, 'kind' | 'answer'>, exchange: Exchange): ReplayResult {
  const reply = withClientSession(answer.reply, exchange)
  return { kind, answer: { ...answer, reply: opensServerStream(exchange) ? withOpenEnd(reply) : reply } }
}

/** Finds a recording of the request, or one whose answer can be converted to the requested format. `filesOf` returns those of a key. */
async function search(
  { request, key }: RequestIdentity,
  count: number,
  parts: ReplayerParts,
  filesOf: Shelf['of'],
): Promise<Found | Unfit | undefined> {
  const { ignore, note } = parts
  const recordingsOf = (wanted: RecordedRequest, key: string) => {
    const same = filesOf(key)
    return same.length > 0 ? same : filesOf(formerKey(wanted, ignore))
  }
  let reason: Unfit | undefined
  for (const variant of [request, ...variantsOf(request)]) {
    const itsKey = variant === request ? key : requestKey(variant, ignore)
    const found = await choose(recordingsOf(variant, itsKey), count, request, parts)
    if (found?.kind === 'found') {
      note?.exact(found.file)
      return found
    }
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
): Promise<Found | Unfit | undefined> {
  if (same.length === 0) return undefined
  const results = await Promise.all(same.map(entry => playable(entry, parts)))
  const fit = results.filter(one => one.kind === 'fit')
  const [first] = results
  if (fit.length === 0 && first?.kind === 'unfit') return first
  const suitable = suitableFor(request, fit)
  // After the last recording of a request, the last one repeats.
  const chosen = suitable[Math.min(count, suitable.length - 1)]
  if (!chosen) return unfit(`${fit[0]?.file} answers only a request with the condition, range or event id that got it.`)
  const { file, recording } = chosen
  const response = inFormatOf(request, recording)
  if (!response) return unfit(`${file} cannot be converted to the requested format.`)
  parts.run.served(file)
  return { kind: 'found', answer: delayedReplyOf(response, parts.speed, file), file }
}

/** The answer in a recording. */
type Found = Extract<ReplayResult, { kind: 'found' }> & { readonly file: string }

/** The recordings with the request's own condition, if there are any; else those that answer without one. */
function suitableFor<T extends { recording: Recording }>({ condition }: RecordedRequest, all: readonly T[]) {
  const own = all.filter(one => condition && isDeepStrictEqual(one.recording.request.condition, condition))
  return own.length > 0 ? own : all.filter(({ recording }) => !isPartial(recording))
}

/** Whether an answer is wrong for a client that did not ask for this part of it, or does not have the rest. */
function isPartial({ request: { method, condition }, response }: Recording): boolean {
  if ([206, 304].includes(response.status) || condition?.['last-event-id'] !== undefined) return true
  const isRefusal = condition !== undefined && [412, 416].includes(response.status)
  return isRefusal || (method === 'GET' && carriesAnswer(response))
}

/** Returns a recording, or why it cannot be replayed. */
async function playable({ file }: RecordingFile, { shelf }: ReplayerParts) {
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

/** What to ignore so that the nearest recording answers the request, if that really is so. */
async function ignorableFor({ request, redaction }: RequestIdentity, closest: Nearest, parts: ReplayerParts) {
  const toIgnore = ignorableIn(closest.differences)
  if (!toIgnore) return undefined
  const ignore = parts.ignore.and(toIgnore)
  const trial = { ...parts, ignore, run: { ...parts.run, served() {} }, note: undefined }
  const identified = { request, redaction, key: requestKey(request, ignore) }
  const found = await search(identified, 0, trial, byPresentKey([closest.candidate], ignore))
  return found?.kind === 'found' ? toIgnore : undefined
}

function whyNot(closest: ClosestRecording | undefined): string {
  if (!closest) return 'Nothing is recorded for it.'
  const [first, ...others] = closest.differences
  const nearestIs = `The nearest is ${closest.file}`
  if (!first) return `${nearestIs}.`
  const { field, recorded, asked } = first
  const [recordedText, askedText] = sideBySide(recorded ?? '', asked ?? '', SHOWN_LENGTH)
  const otherFields =
    others.length === 0 ? '' : ` ${others.length} more ${others.length === 1 ? 'field differs' : 'fields differ'}.`
  const advice = closest.ignore ? ` ${ignoreAdvice(closest.ignore)}` : ''
  return `${nearestIs}; there ${field} ${isText(recorded, recordedText)}, here it ${isText(asked, askedText)}.${otherFields}${advice}`
}

/** At most this much of each value is shown in one line. */
const SHOWN_LENGTH = 60

const isText = (json: string | undefined, shown: string) => (json === undefined ? 'is absent' : `is ${shown}`)

/** The most similar recording. */
interface Nearest {
  readonly candidate: Candidate
  readonly differences: readonly Difference[]
  readonly isSamePath: boolean
  /** Whether it is a chat with the same conversation. */
  readonly isChat: boolean
}

/** A different tool or path counts more than any difference in arguments. */
const ANOTHER_CALL = 1_000_000

/** At most this many differences are listed. */
const MOST_LISTED = 50

/**
 * Prefers a recording of the same conversation with the fewest differences. Returns `undefined` if no candidate has the
 * request's method and path, whatever dates and ids are in the path.
 */
function nearest(asked: RecordedRequest, candidates: readonly Candidate[], ignore: Ignore): Nearest | undefined {
  const form = withoutResponseFormat(asked, ignore)
  const fields = leavesOf(form)
  const all = candidates.flatMap(candidate => {
    const { request } = candidate
    const recorded = withoutResponseFormat(request, ignore)
    const isSamePath = recorded.path === form.path
    const isSimilarPath = isSamePath || anyName.inText(recorded.path) === anyName.inText(form.path)
    if (recorded.method !== form.method || !isSimilarPath) return []
    const changes = promptDifferences(recorded, form)
    const differences = changes ?? differing(fields, leavesOf(recorded))
    const apart = distance(differences) + (isSamePath && rpcCallOf(request) === rpcCallOf(asked) ? 0 : ANOTHER_CALL)
    // A request for a stream is rather answered from a stream.
    const isOtherFormat = isStreamed(request) !== isStreamed(asked)
    const rank = [changes?.length ?? Number.POSITIVE_INFINITY, apart, Number(isOtherFormat)]
    return [{ candidate, differences, isSamePath, isChat: changes !== undefined, rank }]
  })
  return all.sort((one, other) => compareRanks(one.rank, other.rank))[0]
}

const anyName = ignoreFrom(ignoredNames)

const isStreamed = ({ body }: RecordedRequest) =>
  body.kind === 'json' && isObject(body.value) && body.value.stream === true

/** Compares the first numbers that differ. */
const compareRanks = (one: readonly number[], other: readonly number[]) =>
  one.map((rank, i) => (rank === other[i] ? 0 : rank - (other[i] ?? 0))).find(order => order !== 0) ?? 0

/** Leaves out `stream` and its options, since answers can be converted. */
function withoutResponseFormat(request: RecordedRequest, ignore: Ignore): RecordedRequest {
  const form = comparedForm(request, ignore)
  if (!asksForChat(form.path) || form.body.kind !== 'json' || !isObject(form.body.value)) return form
  const { stream: _stream, stream_options: _options, ...value } = form.body.value
  return { ...form, body: { kind: 'json', value } }
}
