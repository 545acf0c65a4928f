/** Sends recorded requests to the live platform again and reports what has changed. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Finding } from '../check/finding.js'
import { type Problem, ProblemsError } from '../check/problem.js'
import { headerIn } from '../core/http.js'
import { stringifyExact } from '../core/json.js'
import { asksModel } from '../core/paths.js'
import { remembered } from '../core/work.js'
import type { Redact } from '../redact/index.js'
import type { Folder } from './folder.js'
import { callOf, messagesOf } from './json-rpc.js'
import type { RecordingFile } from './names.js'
import {
  bodyOf,
  type Capture,
  isStream,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  responseOf,
} from './recording.js'
import { redactedResponse } from './redacted.js'

export interface DriftParts {
  readonly folder: Folder
  readonly kept: readonly RecordingFile[]
  readonly ask: SendToLive
  /** The option that holds the credential for a path, such as `upstream.apiKey`; `undefined` if it needs none. */
  readonly credentialFor: (path: string) => string | undefined
  readonly concurrency: number
  readonly redact: Redact
  readonly compare: (recorded: ComparableAnswer, live: ComparableAnswer) => readonly Finding[]
  /** Matches the placeholders of secrets. */
  readonly placeholder: RegExp
  /** Whether live answers replace the recorded ones. */
  readonly update: boolean
  /** Ends the check early, with the results so far. */
  readonly signal: AbortSignal
  readonly begun: (file: string) => void
  readonly ended: (finding: DriftResult) => void
}

/** The part of an answer that is compared. */
interface ComparableAnswer extends Pick<RecordedResponse, 'status' | 'headers'> {
  readonly body: Buffer
}

/** The result for one recording. */
export type DriftResult =
  | {
      readonly kind: 'compared'
      readonly file: string
      readonly drifts: readonly Finding[]
      /** Whether the live answer was saved. */
      readonly updated: boolean
    }
  /** Its request cannot or must not be sent again. */
  | { readonly kind: 'skipped'; readonly file: string; readonly reason: string }
  /** It could have been sent, but there was no answer to compare. */
  | { readonly kind: 'notAsked'; readonly file: string; readonly reason: string }
  /** The live platform refuses its credential for every request. */
  | { readonly kind: 'refused'; readonly file: string; readonly credential: string; readonly status: number }
  | { readonly kind: 'unreadable'; readonly file: string; readonly problems: readonly Problem[] }

/** After this many requests without an answer, and none with one, the platform counts as down. */
const GIVE_UP_AFTER = 5

type Refused = Extract<DriftResult, { kind: 'refused' }>

/** The results of all requests with one credential. */
interface CredentialResults {
  accepted: number
  refused: number
  /** The status of the last refusal. */
  status: number
}

/** Returns results in the order of the recordings. Those not checked before the signal are left out. */
export async function findDrift(parts: DriftParts): Promise<readonly DriftResult[]> {
  const { kept, signal } = parts
  const ask = unlessDown(parts.ask)
  const standingOf = remembered((_credential: string): CredentialResults => ({ accepted: 0, refused: 0, status: 0 }))
  const asks = { ask, askPatiently: patientAsk(ask), standingOf }
  const found: (DriftResult | undefined)[] = kept.map(() => undefined)
  const refusals: { readonly at: number; readonly refused: Refused }[] = []
  const queue = kept.entries()
  async function work(): Promise<void> {
    for (const [i, one] of queue) {
      if (signal.aborted) return
      parts.begun(one.file)
      const { finding, refused } = await look(one, { ...parts, ...asks })
      // A request that the signal cut off says nothing about the platform.
      if (signal.aborted && finding.kind === 'notAsked') return
      found[i] = finding
      if (refused) refusals.push({ at: i, refused })
      parts.ended(finding)
    }
  }
  await Promise.all(Array.from({ length: parts.concurrency }, work))
  // If a credential was accepted at least once, it is valid, and each refusal is a change of the platform.
  for (const { at, refused } of refusals) {
    if (standingOf(refused.credential).accepted === 0) found[at] = refused
  }
  return found.filter(finding => finding !== undefined)
}

/** Stops sending requests to a platform that is down. */
function unlessDown(ask: SendToLive): SendToLive {
  let answers = 0
  let failures = 0
  let last: unknown
  return async (request, signal) => {
    if (answers === 0 && failures >= GIVE_UP_AFTER) throw last
    try {
      const capture = await ask(request, signal)
      answers++
      return capture
    } catch (error) {
      failures++
      last = error
      throw error
    }
  }
}

/** The state of a running check. */
interface Looking extends DriftParts {
  readonly askPatiently: SendToLive
  readonly standingOf: (credential: string) => CredentialResults
}

interface Looked {
  readonly finding: DriftResult
  /** The result to use instead if the credential turns out to be refused everywhere. */
  readonly refused?: Refused
}

async function look({ file, key }: RecordingFile, parts: Looking): Promise<Looked> {
  const recording = await parts.folder.read(file).catch(problemsIn)
  if (recording instanceof ProblemsError) return { finding: { kind: 'unreadable', file, problems: recording.problems } }
  const skipped = reasonNotToRepeat(recording, parts.placeholder)
  if (skipped !== undefined) return { finding: { kind: 'skipped', file, reason: skipped } }
  const credential = parts.credentialFor(recording.request.path)
  const standing = credential === undefined ? undefined : parts.standingOf(credential)
  // As with a platform that is down, a bad key is not sent ten thousand times.
  if (credential !== undefined && standing && standing.accepted === 0 && standing.refused >= GIVE_UP_AFTER) {
    return { finding: { kind: 'refused', file, credential, status: standing.status } }
  }
  const recordedAt = new Date().toISOString()
  const live = await answerTo(recording, parts)
  if (typeof live === 'string') return { finding: { kind: 'notAsked', file, reason: live } }
  const drifts = parts.compare(comparable(recording.response), comparable(live))
  const updated = parts.update && classOf(recording.response) === classOf(live)
  if (updated) await parts.folder.write(file, { recordedAt, request: recording.request, response: live }, key)
  const finding: DriftResult = { kind: 'compared', file, drifts, updated }
  if (credential === undefined || !standing || isRefusal(recording.response.status)) return { finding }
  if (!isRefusal(live.status)) {
    standing.accepted++
    return { finding }
  }
  standing.refused++
  standing.status = live.status
  return { finding, refused: { kind: 'refused', file, credential, status: live.status } }
}

function problemsIn(error: unknown): ProblemsError {
  if (error instanceof ProblemsError) return error
  throw error
}

const isRefusal = (status: number) => status === 401 || status === 403

const comparable = (response: RecordedResponse): ComparableAnswer => ({ ...response, body: bodyOf(response) })

/** Returns the answer without its secrets, or the reason why there is none to compare. */
async function answerTo({ request, response }: Recording, parts: Looking): Promise<RecordedResponse | string> {
  // If a 429 was recorded, a 429 is the expected answer.
  const isWelcome = response.status === 429
  let capture: Capture
  try {
    capture = await (isWelcome ? parts.ask : parts.askPatiently)(request, parts.signal)
  } catch (error) {
    return (error as Error).message
  }
  if (capture.status === 429 && !isWelcome) return 'The live platform is rate limiting (429).'
  const live = await responseOf(capture).catch(({ message }: Error) => `The live answer cannot be read: ${message}.`)
  if (typeof live === 'string') return live
  return live.complete ? redactedResponse(live, parts.redact()) : 'The live answer broke off.'
}

const classOf = ({ status }: RecordedResponse) => Math.floor(status / 100)

/** Sends a request to the live platform. Rejects with an Error that says why no answer came. `signal` aborts it. */
export type SendToLive = (request: RecordedRequest, signal: AbortSignal) => Promise<Capture>

/** The maximum number of attempts for one request. */
const MOST_TRIES = 3
/** We do not wait for a longer Retry-After. */
const LONGEST_WAIT_MS = 30_000
/** For a 429 without Retry-After. */
const USUAL_WAIT_MS = 1000

/**
 * Sends requests through `ask`. After a 429 all requests wait for as long as it asks. A request that still gets a 429
 * at the end returns that.
 */
function patientAsk(ask: SendToLive): SendToLive {
  let notBeforeMs = 0

  return async (request, signal) => {
    for (let attempt = 1; ; attempt++) {
      const waitMs = notBeforeMs - Date.now()
      if (waitMs > 0) await pause(waitMs, undefined, { signal })
      const capture = await ask(request, signal)
      if (capture.status !== 429 || attempt === MOST_TRIES) return capture
      const wantedMs = waitWanted(headerIn(capture.headers, 'retry-after'))
      if (wantedMs > LONGEST_WAIT_MS) return capture
      notBeforeMs = Math.max(notBeforeMs, Date.now() + wantedMs)
    }
  }
}

/** Retry-After is a number of seconds or a date (RFC 9110 §10.2.3). */
function waitWanted(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return USUAL_WAIT_MS
  const wantedMs = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  return Number.isNaN(wantedMs) ? USUAL_WAIT_MS : Math.max(0, wantedMs)
}

/** The MCP calls that only list or describe what a server has. */
const lookups = new Set(
  'initialize server/discover tools/list resources/list resources/templates/list prompts/list'.split(' '),
)

const isLookup = ({ body }: RecordedRequest): boolean => {
  const messages = messagesOf(body)
  return messages.length === 1 && lookups.has(String(messages[0]?.method))
}

const safeMethods = new Set(['GET', 'HEAD'])

/**
 * Returns a sentence that says why the request cannot be sent; `undefined` if it can. `placeholder` matches
 * placeholders of secrets.
 */
function reasonNotToRepeat({ request, response }: Recording, placeholder: RegExp): string | undefined {
  const { method, path, body } = request
  if (!safeMethods.has(method) && !asksModel(method, path) && !isLookup(request)) {
    return `${callOf(request) ?? `${method} ${path}`} may change something on the live platform.`
  }
  if (method === 'GET' && isStream(response)) return 'It is a stream that may not end.'
  if (body.kind === 'bytes') return 'Its body is not text, and its content type was not recorded.'
  if (!response.complete) return 'The recorded answer broke off.'
  const [found] = placeholder.exec(`${path} ${bodyText(request)}`) ?? inQuery.exec(request.query) ?? []
  return found === undefined ? undefined : `${found} stands for a secret, which was not recorded.`
}

function bodyText({ body }: RecordedRequest): string {
  if (body.kind === 'json') return stringifyExact(body.value)
  return body.kind === 'text' ? body.text : ''
}

/** In queries, brackets are escaped, except those of placeholders, which are named after parameters. */
const inQuery = /\[[a-z][a-z0-9-]*\]/
