/** Answers requests from recordings, or says why there is no answer: what differs from the most similar recording. */
import { isDeepStrictEqual } from 'node:util'
import { type ClosestRecording, type Difference, ignoreAdvice, sideBySide } from '../check/finding.js'
import { ProblemsError } from '../check/problem.js'
import type { Exchange } from '../core/exchange.js'
import { isObject, stringifyExact } from '../core/json.js'
import { asksForChat, type Ignore, ignoreFrom, variantsOf } from './canonical.js'
import type { Shelf } from './folder.js'
import { isQueryForm } from './form-body.js'
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
import { endpointFolder, type RecordingFile, slugOf } from './names.js'
import { type DelayedReply, delayedReplyOf, inFormatOf, withOpenEnd } from './play.js'
import type { Question, RecordedRequest, Recording } from './recording.js'
import type { Run } from './run.js'

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
    const { condition } = identified.request
    const count = run.count(
      exchange.scope,
      condition ? `${identified.key} ${JSON.stringify(condition)}` : identified.key,
    )
    await shelf.ready()
    const recordingsOf = (key: string) => shelf.of(key).filter(entry => !run.isSuperseded(entry))
    const found = await search(identified, count, parts, recordingsOf)
    if (found?.kind === 'found') return forClient(found, exchange)
    // The recording may still be on its way to disk, or may have been added since the folder was listed.
    await flush()
    await shelf.refresh()
    const refreshed = await search(identified, count, parts, recordingsOf)
    if (refreshed?.kind === 'found') return forClient(refreshed, exchange)
    if (opensServerStream(exchange)) return { kind: 'found', answer: { reply: noServerStream(), afterMs: 0 } }
    const candidates = refreshed ? [] : await candidatesFor(identified.request, shelf)
    const outcome = refreshed ?? (await search(identified, count, parts, byPresentKey(candidates, ignore)))
    if (outcome?.kind === 'found') return forClient(outcome, exchange)
    const closest = outcome ? undefined : nearest(identified.request, candidates, ignore)
    const toIgnore = closest && (await ignorableFor(identified, closest, parts))
    const nearestRecording = closest && {
      file: closest.candidate.entry.file,
      differences: closest.differences.slice(0, MOST_LISTED).map(shortenedDifference),
      ...(toIgnore && { ignore: toIgnore }),
    }
    const why = outcome ? outcome.why : whyNot(nearestRecording)
    const { method, path } = identified.request
    exchange.nearest = nearestRecording
    const at = new Date().toISOString()
    run.missed({ at, scope: exchange.scope, method, path, reason: why, nearest: nearestRecording }, exchange)
    const title = rpcCallOf(identified.request) ?? `${method} ${exchange.path}`
    return { kind: 'miss', title, why, isKnownPath: outcome !== undefined || closest?.isSamePath === true }
  }
}

/** Sessions belong to a client, not to a recording. A session's own stream stays open, because clients reopen one that ends. */
function forClient({ kind, answer }: Extract<ReplayResult, { kind: 'found' }>, exchange: Exchange): ReplayResult {
  const reply = withClientSession(answer.reply, exchange)
  return { kind, answer: { ...answer, reply: opensServerStream(exchange) ? withOpenEnd(reply) : reply } }
}

/** Finds a recording of the request, or one whose answer can be converted to the requested format. `filesOf` returns those of a key. */
async function search(
  { request, key }: RequestIdentity,
  count: number,
  parts: ReplayerParts,
  filesOf: Shelf['of'],
): Promise<ReplayResult | Unfit | undefined> {
  const { ignore } = parts
  const recordingsOf = (wanted: RecordedRequest, key: string) => {
    const same = filesOf(key)
    return same.length > 0 ? same : filesOf(formerKey(wanted, ignore))
  }
  const exact = await choose(recordingsOf(request, key), count, request, parts)
  if (exact?.kind === 'found') return exact
  let reason = exact
  for (const variant of variantsOf(request)) {
    const found = await choose(recordingsOf(variant, requestKey(variant, ignore)), count, request, parts)
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
  return { kind: 'found', answer: delayedReplyOf(response, parts.speed, file) }
}

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
  const trial = { ...parts, ignore, run: { ...parts.run, served() {} } }
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

interface Nearest {
  readonly candidate: Candidate
  readonly differences: readonly Difference[]
  readonly isSamePath: boolean
}

/** A different tool or path counts more than any difference in arguments. */
const ANOTHER_CALL = 1_000_000

/** At most this many files are read for a miss: those with the most similar names. */
const MOST_READ = 100
/** No more files are read once their requests have this many bytes, since each megabyte takes about 0.1 s. */
const ENOUGH_READ_BYTES = 4_000_000

/** A recording that was read because its name is similar to that of the request. */
interface Candidate extends Question {
  readonly entry: RecordingFile
}

/** Reads the recordings whose names are the most similar. */
async function candidatesFor(request: RecordedRequest, shelf: Shelf): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = []
  let readBytes = 0
  for (const entry of mostSimilarNames(request, [...shelf.all()])) {
    if (readBytes > ENOUGH_READ_BYTES) break
    // A file that is not a recording is left out.
    const question = await shelf.question(entry.file).catch(() => undefined)
    if (!question) continue
    candidates.push({ entry, ...question })
    const { body } = question.request
    readBytes += body.kind === 'bytes' ? body.bytes.length : stringifyExact(body).length
  }
  return candidates
}

/** Finds candidates by their present key, in the order in which they were recorded. Their names have an outdated key if they were edited or `ignore` has changed. */
function byPresentKey(candidates: readonly Candidate[], ignore: Ignore) {
  const inOrder = candidates.toSorted((a, b) => Date.parse(a.recordedAt) - Date.parse(b.recordedAt))
  const keyed = inOrder.map(({ entry, request }) => ({ entry, key: requestKey(request, ignore) }))
  return (key: string) => keyed.filter(one => one.key === key).map(({ entry }) => entry)
}

/** Returns `undefined` if no candidate has the request's method and path, whatever dates and ids are in the path. */
function nearest(request: RecordedRequest, candidates: readonly Candidate[], ignore: Ignore): Nearest | undefined {
  const asked = withoutResponseFormat(request, ignore)
  const requestFields = leavesOf(asked)
  let best: (Nearest & { readonly apart: number }) | undefined
  for (const candidate of candidates) {
    const { request: recorded } = candidate
    const form = withoutResponseFormat(recorded, ignore)
    const isSamePath = form.path === asked.path
    const isSimilarPath = isSamePath || anyName.inText(form.path) === anyName.inText(asked.path)
    if (form.method !== asked.method || !isSimilarPath) continue
    const differences = differing(requestFields, leavesOf(form))
    const apart = distance(differences) + (isSamePath && rpcCallOf(recorded) === rpcCallOf(request) ? 0 : ANOTHER_CALL)
    if (!best || apart < best.apart) best = { candidate, differences, isSamePath, apart }
  }
  return best
}

const anyName = ignoreFrom(ignoredNames)

/** Leaves out `stream` and its options, since answers can be converted. */
function withoutResponseFormat(request: RecordedRequest, ignore: Ignore): RecordedRequest {
  const form = comparedForm(request, ignore)
  if (!asksForChat(form.path) || form.body.kind !== 'json' || !isObject(form.body.value)) return form
  const { stream: _stream, stream_options: _options, ...value } = form.body.value
  return { ...form, body: { kind: 'json', value } }
}

/**
 * The recordings whose names share the most words with the name that this request would get, those of its own endpoint
 * first.
 */
function mostSimilarNames(request: RecordedRequest, all: readonly RecordingFile[]): readonly RecordingFile[] {
  const folder = `${endpointFolder(request.path)}/`
  const words = new Set(slugOf(request).split('-'))
  const likeness = ({ file }: RecordingFile) => {
    const name = file.slice(file.lastIndexOf('/') + 1)
    const common = name.split('-').filter(word => words.has(word)).length
    return (file.startsWith(folder) ? 1000 : 0) + common
  }
  return all
    .map(entry => ({ entry, likeness: likeness(entry) }))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, MOST_READ)
    .map(({ entry }) => entry)
}

/** How much of a field is shown. */
const LISTED_LENGTH = 200
/** At most this many differences are listed. */
const MOST_LISTED = 50

function shortenedDifference({ field, recorded, asked }: Difference): Difference {
  const [recordedText, askedText] = sideBySide(recorded ?? '', asked ?? '', LISTED_LENGTH)
  return { field, recorded: recorded && recordedText, asked: asked && askedText }
}

type Fields = ReadonlyMap<string, string>

/** The fields that differ, in the order of the incoming request. */
function differing(requestFields: Fields, recordedFields: Fields): readonly Difference[] {
  const names = new Set([...requestFields.keys(), ...recordedFields.keys()])
  const all = [...names].map(field => ({ field, recorded: recordedFields.get(field), asked: requestFields.get(field) }))
  return all.filter(({ recorded, asked }) => recorded !== asked)
}

/** Each differing field counts at most 1, and less the more both values have in common. */
const distance = (differences: readonly Difference[]): number =>
  differences
    .map(({ asked, recorded }) => (asked === undefined || recorded === undefined ? 1 : unlikeness(asked, recorded)))
    .reduce((sum, one) => sum + one, 0)

/** From just above 0 for nearly equal texts to 1. Only common beginnings and ends count. */
function unlikeness(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  let front = 0
  while (front < shorter && one[front] === other[front]) front++
  let back = 0
  while (back < shorter - front && one.at(-1 - back) === other.at(-1 - back)) back++
  return 0.1 + 0.9 * (1 - (front + back) / Math.max(one.length, other.length))
}

/** All leaves of a request by path, as JSON. */
function leavesOf({ method, path, query, body }: RecordedRequest): Fields {
  const fields = new Map<string, string>()
  fields.set('method', method)
  fields.set('path', path)
  addParameters(query, fields, 'query.')
  if (body.kind === 'json') addLeaves(body.value, fields)
  if (body.kind === 'text' && isQueryForm(body.text)) addParameters(body.text, fields)
  else if (body.kind === 'text') fields.set('body', JSON.stringify(body.text))
  if (body.kind === 'bytes') fields.set('body', `${body.bytes.length} bytes: ${body.bytes.toString('base64')}`)
  return fields
}

function addParameters(query: string, fields: Map<string, string>, prefix = ''): void {
  const parameters = Map.groupBy(new URLSearchParams(query), ([name]) => name)
  for (const [name, all] of parameters) {
    const values = all.map(([, value]) => value)
    fields.set(prefix + name, JSON.stringify(values.length === 1 ? values[0] : values))
  }
}

function addLeaves(value: unknown, fields: Map<string, string>, name = ''): void {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (inside.length === 0) fields.set(name === '' ? 'body' : name, JSON.stringify(value))
  for (const [key, inner] of inside) addLeaves(inner, fields, under(name, key, Array.isArray(value)))
}

function under(name: string, key: string, isList: boolean): string {
  if (isList) return `${name}[${key}]`
  return name === '' ? key : `${name}.${key}`
}
