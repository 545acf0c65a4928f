/** Sends recorded requests to the live platform again and reports what has changed. */
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import type { Finding } from '../check/finding.js'
import type { Problem } from '../check/problem.js'
import { headerIn, isBusy, retryWaitMs } from '../core/http.js'
import { stringifyExact } from '../core/json.js'
import { asksAnyModel } from '../core/paths.js'
import { memoized } from '../core/work.js'
import type { Redact } from '../redact/index.js'
import { recordingText } from './file-text.js'
import { type Folder, isProblem } from './folder.js'
import { rpcCallOf } from './json-rpc.js'
import type { Lookup } from './lookup.js'
import {
  type Capture,
  isStream,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  recordedBody,
  responseOf,
} from './recording.js'
import { redactedResponse } from './redacted.js'
import { saysTheSame } from './same-answer.js'

interface DriftParts {
  readonly folder: Folder
  /** In their order. */
  readonly files: readonly string[]
  readonly lookup: Pick<Lookup, 'known'>
  readonly send: SendToLive
  /** The option that holds the credential for a path, such as `upstream.apiKey`; `undefined` if it needs none. */
  readonly credentialFor: (path: string) => string | undefined
  readonly concurrency: number
  readonly redact: Redact
  readonly compare: (recorded: ComparableAnswer, live: ComparableAnswer) => readonly Finding[]
  readonly placeholder: RegExp
  /** Whether live answers replace the recorded ones that mean something else. */
  readonly update: boolean
  readonly maxCalls: number
  /** Ends the check early, with the results so far. */
  readonly signal: AbortSignal
  readonly onStart: (file: string) => void
  readonly onResult: (result: DriftResult) => void
}

interface ComparableAnswer extends Pick<RecordedResponse, 'status' | 'headers'> {
  readonly body: Buffer
}

export type DriftResult =
  | {
      readonly kind: 'compared'
      readonly file: string
      readonly drifts: readonly Finding[]
      readonly updated: boolean
    }
  /** Its request cannot or must not be sent again. */
  | { readonly kind: 'skipped'; readonly file: string; readonly reason: string }
  /** It got no answer that could be compared. */
  | { readonly kind: 'notAsked'; readonly file: string; readonly reason: string }
  /** The live platform refuses its credential for every request. */
  | { readonly kind: 'refused'; readonly file: string; readonly credential: string; readonly status: number }
  | { readonly kind: 'unreadable'; readonly file: string; readonly problems: readonly Problem[] }

/** If the first requests with a credential, this many, all fail, no more of them are sent. */
const GIVE_UP_AFTER = 5

/** The requests with one credential, or those that need none. */
interface Attempts {
  /** Whether the live platform has accepted one. Each refusal is then a change of the platform. */
  isAccepted: boolean
  /** Those that got no answer, or were refused. */
  readonly failed: DriftResult[]
}

/** Returns results in the order of the recordings. Those not checked before the signal or the last call are left out. */
export async function findDrift(parts: DriftParts): Promise<readonly DriftResult[]> {
  const { files, signal, lookup } = parts
  const allAttempts: Attempts[] = []
  const attemptsWith = memoized((_credential: string | undefined): Attempts => {
    const attempts: Attempts = { isAccepted: false, failed: [] }
    allAttempts.push(attempts)
    return attempts
  })
  let calls = 0
  const mayCall = () => calls < parts.maxCalls && ++calls > 0
  const check: RunningCheck = { ...parts, sendPatiently: patientSend(parts.send), attemptsWith, mayCall }
  const results = new Map<string, DriftResult>()
  // The recordings of one request share its answer.
  const queue = Map.groupBy(files, file => lookup.known(file)?.key ?? file).values()
  async function work(): Promise<void> {
    for (const same of queue) {
      // The connection of the last answer is free in the next turn of the event loop.
      await setImmediate()
      if (signal.aborted) return
      parts.onStart(same[0] ?? '')
      for (const result of await checkRequest(same, check)) {
        // A request that the signal aborted says nothing about the platform.
        if (signal.aborted && result.kind === 'notAsked') return
        results.set(result.file, result)
        parts.onResult(result)
      }
    }
  }
  await Promise.all(Array.from({ length: parts.concurrency }, work))
  const failed = allAttempts.flatMap(attempts => (attempts.isAccepted ? [] : attempts.failed))
  for (const result of failed) if (results.has(result.file)) results.set(result.file, result)
  return files.flatMap(file => results.get(file) ?? [])
}

interface RunningCheck extends DriftParts {
  readonly sendPatiently: SendToLive
  readonly attemptsWith: (credential: string | undefined) => Attempts
  /** Whether another request may be sent, which then counts. */
  readonly mayCall: () => boolean
}

/** A recording that was read, and whose request can be sent again. */
interface Repeatable extends Recording {
  readonly file: string
}

async function checkRequest(same: readonly string[], check: RunningCheck): Promise<readonly DriftResult[]> {
  const found = same.map(file => repeatable(file, check))
  const results = found.flatMap(one => ('kind' in one ? [one] : []))
  const [first, ...others] = found.flatMap(one => ('kind' in one ? [] : [one]))
  return first ? [...results, ...(await checkAnswers([first, ...others], check))] : results
}

function repeatable(file: string, parts: RunningCheck): Repeatable | DriftResult {
  const recording = parts.folder.read(file)
  if (isProblem(recording)) return { kind: 'unreadable', file, problems: [recording] }
  const reason = reasonNotToRepeat(recording, parts.placeholder)
  return reason === undefined ? { ...recording, file } : { kind: 'skipped', file, reason }
}

/** Sends the request once, and compares its answer with all that were recorded. */
async function checkAnswers(
  all: readonly [Repeatable, ...Repeatable[]],
  parts: RunningCheck,
): Promise<readonly DriftResult[]> {
  const [{ request }] = all
  const credential = parts.credentialFor(request.path)
  const attempts = parts.attemptsWith(credential)
  const lastFailed = attempts.failed.at(-1)
  if (lastFailed && !attempts.isAccepted && attempts.failed.length >= GIVE_UP_AFTER)
    return all.map(({ file }) => ({ ...lastFailed, file }))
  if (!parts.mayCall()) return []
  const recordedAt = new Date().toISOString()
  const live = await answerTo(all, parts)
  if (typeof live === 'string') {
    const results = all.map(({ file }): DriftResult => ({ kind: 'notAsked', file, reason: live }))
    attempts.failed.push(...results)
    return results
  }
  if (!isRefusal(live.status)) attempts.isAccepted = true
  return all.map(recording => {
    const { file, response } = recording
    // A bad key must not replace recorded errors, such as a 404.
    const isNewlyRefused = isRefusal(live.status) && !isRefusal(response.status)
    if (isNewlyRefused && credential !== undefined)
      attempts.failed.push({ kind: 'refused', file, credential, status: live.status })
    const drifts = parts.compare(comparable(response), comparable(live))
    const isReplaced = parts.update && !isNewlyRefused && classOf(response) === classOf(live)
    const updated = isReplaced && (drifts.length > 0 || !saysTheSame(response, live))
    if (updated) parts.folder.replace(file, recordingText({ ...recording, recordedAt, response: live }))
    return { kind: 'compared', file, drifts, updated }
  })
}

const isRefusal = (status: number) => status === 401 || status === 403

const comparable = (response: RecordedResponse): ComparableAnswer => ({ ...response, body: recordedBody(response) })

/** Returns the answer without its secrets, or the reason why there is none to compare. */
async function answerTo(
  all: readonly [Recording, ...Recording[]],
  parts: RunningCheck,
): Promise<RecordedResponse | string> {
  const [{ request }] = all
  // If only such answers were recorded, one is expected.
  const isExpected = all.every(({ response }) => isBusy(response.status))
  let capture: Capture
  try {
    capture = await (isExpected ? parts.send : parts.sendPatiently)(request, parts.signal)
  } catch (error) {
    return (error as Error).message
  }
  if (isBusy(capture.status) && !isExpected)
    return `The live platform is ${capture.status === 429 ? 'rate limiting' : 'overloaded'} (${capture.status}).`
  const live = await responseOf(capture, request).catch(
    ({ message }: Error) => `The live answer cannot be read: ${message}.`,
  )
  if (typeof live === 'string') return live
  return live.complete ? redactedResponse(live, parts.redact(), request.path) : 'The live answer broke off.'
}

const classOf = ({ status }: RecordedResponse) => Math.floor(status / 100)

/** Sends a request to the live platform. Rejects with an Error that says why no answer came. `signal` aborts it. */
export type SendToLive = (request: RecordedRequest, signal: AbortSignal) => Promise<Capture>

/**
 * Sends requests through `send`. After a 429 or 503, all requests wait for as long as it says. The last attempt's answer is
 * returned, whatever it is.
 */
function patientSend(send: SendToLive): SendToLive {
  let notBeforeMs = 0

  return async (request, signal) => {
    for (let attempt = 1; ; attempt++) {
      const waitMs = notBeforeMs - Date.now()
      if (waitMs > 0) await pause(waitMs, undefined, { signal })
      const capture = await send(request, signal)
      const retryMs = retryWaitMs(capture.status, headerIn(capture.headers, 'retry-after'), attempt)
      if (retryMs === undefined) return capture
      notBeforeMs = Math.max(notBeforeMs, Date.now() + retryMs)
    }
  }
}

const safeMethods = new Set(['GET', 'HEAD'])

/**
 * Returns a sentence that says why the request cannot be sent; `undefined` if it can. `placeholder` matches
 * placeholders of secrets.
 */
function reasonNotToRepeat({ request, response }: Recording, placeholder: RegExp): string | undefined {
  const { method, path, body } = request
  if (rpcCallOf(request) !== undefined) return 'Calls of MCP servers are not compared.'
  if (!safeMethods.has(method) && !asksAnyModel(method, path))
    return `${method} ${path} may change something on the live platform.`
  if (method === 'GET' && isStream(response)) return 'It is a stream that may not end.'
  if (body.kind === 'bytes') return 'Its body is not text, and its content type was not recorded.'
  if (!response.complete) return 'The recorded answer broke off.'
  const [found] = placeholder.exec(`${path} ${bodyText(request)}`) ?? queryPlaceholder.exec(request.query) ?? []
  return found === undefined ? undefined : `${found} stands for a secret, which was not recorded.`
}

function bodyText({ body }: RecordedRequest): string {
  if (body.kind === 'json') return stringifyExact(body.value)
  return body.kind === 'text' ? body.text : ''
}

/** In queries, only placeholders have unescaped brackets. They are named after parameters. */
const queryPlaceholder = /\[[a-z][a-z0-9-]*\]/
