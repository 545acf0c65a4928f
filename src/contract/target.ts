/** The platform that is checked. Calls are cached, and limited by a budget. */
import { setTimeout as pause } from 'node:timers/promises'
import { fetch, type Response } from 'undici'
import { PlatformError } from '../core/errors.js'
import { retryWaitMs } from '../core/http.js'
import { isLoopback } from '../core/origins.js'
import { memoized, withDeadline } from '../core/work.js'
import { createDispatcher } from '../outgoing/dispatcher.js'
import { createRedact } from '../redact/index.js'

/** The credentials for a target. Clauses that need a missing one are not checked. */
export interface TargetCredentials {
  readonly apiKey?: string | undefined
  readonly anonKey?: string | undefined
  readonly email?: string | undefined
  readonly password?: string | undefined
}

export interface Call {
  readonly to: 'platform' | 'auth'
  readonly method: string
  /** With the query, relative to the base URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The Authorization header as it is shown in reports, without the credential. */
  readonly authorization?: string
  readonly body?: string
  /** Whether its body and that of its answer are left out of reports. */
  readonly isPrivate?: true
}

export interface ReceivedAnswer {
  readonly kind: 'answered'
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** An answer, or the reason why there is none. */
export type CallResult = ReceivedAnswer | { readonly kind: 'unanswered'; readonly why: string }

/** Sends a call. Rejects with an Error that says why there was no answer. */
export type Send = (call: Call, signal: AbortSignal) => Promise<ReceivedAnswer>

/** Thrown if a call cannot be made, with the reason. The clause is skipped then, not broken. */
export class CallNotMade extends Error {
  override readonly name = 'CallNotMade'
}

/** A request and its answer without secrets, for display. */
export interface ShownCall {
  readonly asked: string
  readonly answered: string
}

export interface TargetOptions extends TargetCredentials {
  /** The `base_url` of the platform, without `/v1`. */
  readonly url: string
  /** The URL that an app passes to `createClient`, without `/auth/v1`. Defaults to `url`. */
  readonly authUrl?: string | undefined
  /** The model to request. Defaults to the first one in the listing. */
  readonly model?: string | undefined
  /** The maximum number of calls (80). */
  readonly maxCalls?: number | undefined
  /** The timeout for a complete answer (30 seconds). */
  readonly timeoutMs?: number | undefined
  /** Sends the calls, instead of undici's fetch. */
  readonly send?: Send | undefined
  /** Aborts calls that are under way and prevents further ones. */
  readonly signal?: AbortSignal | undefined
}

export interface Target {
  readonly url: string
  readonly credentials: TargetCredentials
  readonly model: string | undefined
  /** Whether it is on this machine, where large requests cost nothing. */
  readonly isNear: boolean
  calls(): number
  /** Why it cannot be reached, if it has not answered a single call. */
  unreachable(): string | undefined
  /** Makes a call once and caches the result. Rejects with a CallNotMade when the budget is used up. */
  ask(call: Call): Promise<CallResult>
  shown(call: Call, result: CallResult): ShownCall
  /** Returns a text from the target without secrets and without terminal control characters. */
  clean(text: string): string
}

export const USUAL_MAX_CALLS = 80
const USUAL_TIMEOUT_MS = 30_000

/** A target that answers none of its first calls, this many, counts as down. */
const MOST_UNANSWERED = 3

export function createTarget(options: TargetOptions): Target {
  const url = withoutSlash(options.url)
  const { apiKey, anonKey, email, password, model } = options
  const credentials = { apiKey, anonKey, email, password }
  const { send, ...state } = createSending({ ...options, url })
  const remembered = new Map<string, Promise<CallResult>>()
  return {
    url,
    credentials,
    model,
    ...state,
    isNear: isLocal(url),
    ask(call) {
      const name = JSON.stringify(call)
      const result = remembered.get(name) ?? send(call)
      remembered.set(name, result)
      return result
    },
    ...createShow(credentials),
  }
}

/** Sends calls within the budget, and repeats them after a 429. */
function createSending({
  url,
  maxCalls = USUAL_MAX_CALLS,
  timeoutMs = USUAL_TIMEOUT_MS,
  signal,
  authUrl,
  send = sendOverHttp({ url, authUrl }),
}: TargetOptions) {
  let calls = 0
  let answered = 0
  let lastWhy: string | undefined

  async function once(call: Call): Promise<CallResult> {
    if (signal?.aborted) throw new CallNotMade('it was stopped')
    if (answered === 0 && calls >= MOST_UNANSWERED) throw new CallNotMade(`it does not answer (${lastWhy})`)
    if (calls >= maxCalls) throw new CallNotMade(`the budget of ${maxCalls} calls is used up`)
    calls++
    try {
      const result = await withDeadline(timeoutMs, deadline => send(call, deadline), signal)
      answered++
      return result
    } catch (error) {
      if (signal?.aborted) throw new CallNotMade('it was stopped')
      const { name, message } = error as Error
      lastWhy = name === 'TimeoutError' ? `none within ${timeoutMs / 1000} s` : message
      return { kind: 'unanswered', why: lastWhy }
    }
  }

  return {
    calls: () => calls,
    unreachable: () => (answered === 0 ? lastWhy : undefined),
    send: (call: Call) => repeated(() => once(call), signal),
  }
}

/** Repeats a call after each 429, for as long as that is worth waiting for. */
async function repeated(send: () => Promise<CallResult>, signal: AbortSignal | undefined): Promise<CallResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await send()
    if (result.kind !== 'answered') return result
    const waitMs = retryWaitMs(result.status, result.headers.get('retry-after') ?? undefined, attempt)
    if (waitMs === undefined) return result
    await pause(waitMs, undefined, { signal }).catch(() => {})
  }
}

const withoutSlash = (url: string) => url.replace(/(?<!\/)\/+$/, '')

const isLocal = (url: string) => URL.canParse(url) && isLoopback(new URL(url).hostname)

/** Answers that the contract checks are far smaller. */
const MOST_BYTES = 4_000_000

/** Sends over kept connections, to this machine directly. */
export function sendOverHttp({ url, authUrl }: Pick<TargetOptions, 'url' | 'authUrl'>): Send {
  const dispatcherFor = memoized((base: string) => createDispatcher(base, { isDirect: isLocal(base) }))
  return async ({ to, method, path, headers, body }, signal) => {
    const base = withoutSlash((to === 'auth' && authUrl) || url)
    const response = await fetch(base + path, {
      method,
      headers,
      signal,
      redirect: 'manual',
      dispatcher: dispatcherFor(base),
      ...(body !== undefined && { body }),
    }).catch(error => {
      throw new Error(reasonOf(error))
    })
    return {
      kind: 'answered',
      status: response.status,
      headers: new Headers([...response.headers]),
      text: await bodyText(response),
    }
  }
}

async function bodyText({ body }: Response): Promise<ReceivedAnswer['text']> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const piece of body ?? []) {
      bytes += piece.length
      if (bytes > MOST_BYTES) throw new Error(`the answer is larger than ${MOST_BYTES} bytes`)
      text += decoder.decode(piece, { stream: true })
    }
  } catch (error) {
    throw new Error(`the answer broke off after ${bytes} bytes: ${reasonOf(error)}`)
  }
  return text + decoder.decode()
}

/** The real reason for a failed fetch is the cause of its error. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return 'it took too long'
  // The proxy's.
  if (cause instanceof PlatformError) return cause.message.replace(/^The/, 'the').replace(/\.$/, '')
  return cause?.code ?? cause?.message ?? message
}

const MOST_SHOWN = 400

/** `clean` removes secrets and terminal control characters from a text. */
function createShow({ apiKey, anonKey, password }: TargetCredentials) {
  const known = Object.entries({ 'api-key': apiKey, 'anon-key': anonKey, password }).flatMap(([name, value]) =>
    value ? [{ name, value }] : [],
  )
  const redact = createRedact({ names: [], emails: true, patterns: [], known })

  const clean = (text: string) => redact().text(text).replace(control, asEscape)

  return {
    clean,
    shown(call: Call, result: CallResult): ShownCall {
      const { method, path, authorization, body, isPrivate } = call
      const credential = authorization === undefined ? 'no credential' : `Authorization: ${authorization}`
      const lines = [
        `${method} ${path} (${credential})`,
        ...(body !== undefined && !isPrivate ? [cut(clean(body))] : []),
      ]
      return { asked: clean(lines.join('\n')), answered: clean(answerText(result, isPrivate ? undefined : clean)) }
    },
  }
}

/** Control characters other than line ends and tabs, which could manipulate the terminal in which a report is read. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this regex looks for them
const control = /(?!\r?\n|\t)[\u0000-\u001f\u007f-\u009f]/g

const asEscape = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** Without `clean`, the body is not shown. It is cleaned before it is cut, since half a secret would not be recognized. */
function answerText(result: CallResult, clean: ((text: string) => string) | undefined): string {
  if (result.kind === 'unanswered') return `no answer: ${result.why}`
  const { status, headers, text } = result
  const facts = ['content-type', 'allow', 'location', 'retry-after'].flatMap(name => {
    const value = headers.get(name)
    return value === null ? [] : [`${name}: ${value}`]
  })
  const body = clean ? cut(clean(text)) : '(not shown: it may hold tokens)'
  return [[String(status), ...facts].join(', '), ...(body === '' ? [] : [body])].join('\n')
}

const cut = (text: string) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text)
