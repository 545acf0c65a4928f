/** The limits of each credential. The only entry point of this part. */

import type { ChatRequest } from '../chat/request.js'
import { PlatformError, refusal } from '../core/errors.js'
import type { Caller, Endpoint } from '../core/exchange.js'
import { retryHeaders } from '../core/http.js'
import type { Reply } from '../core/reply.js'
import type { Counters, LimitWindow } from './counters.js'

export { type Counters, createCounters, type LimitUsage } from './counters.js'

/** The limits; 0 means no limit. */
export interface LimitSettings {
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
}

interface Parts {
  readonly settings: LimitSettings
  /** The limits of prompts, by model id. */
  readonly maxPromptTokensOf: ReadonlyMap<string, number>
  readonly counters: Counters
  readonly promptTokens: (request: ChatRequest) => number
}

type LimitedEndpoint = Partial<Pick<Endpoint, 'name' | 'callsModel' | 'isUnlimited' | 'isConfigured'>>

export interface Limits {
  /** The quota of a request to `path`; `undefined` if nothing is limited. */
  quotaFor(caller: Caller, path: string, endpoint?: LimitedEndpoint): Quota | undefined
}

/** The quota of one request. */
export interface Quota {
  /** Counts the request. Throws a 429 above the limit. */
  request(): void
  /** Whether `chat` must be called for a chat request. */
  readonly countsChat: boolean
  /** Counts the prompt. Throws a 400 for one that is too long and a 429 over the limit; it is not counted then. */
  chat(request: ChatRequest): void
  /** Counts the tokens of the answer, and the prompt's as reported by the answer. */
  settle(tokens: NonNullable<Reply['tokens']>): void
  /** Headers with the remaining limits, for any answer, as node's flat array of names and values. */
  readonly headers: () => readonly string[]
}

/** Creates the limits; `undefined` if there are none. */
export function createLimits(parts: Parts): Limits | undefined {
  const { settings, maxPromptTokensOf } = parts
  const limitsPrompts = maxPromptTokensOf.size > 0
  const limitsCredentials = settings.requestsPerMinute > 0 || settings.tokensPerMinute > 0
  if (!limitsPrompts && !limitsCredentials) return undefined
  const anonymous = anonymousQuota(parts)
  return {
    quotaFor(caller, path, endpoint = {}) {
      const { callsModel = false } = endpoint
      if (!isLimited(path, endpoint)) return undefined
      const key = credentialKey(caller)
      if (key !== undefined) return quotaOf(key, callsModel, parts)
      return callsModel && limitsPrompts ? anonymous : undefined
    },
  }
}

/** Without a credential nothing is counted, but the prompt may still be too long. */
const anonymousQuota = (parts: Parts): Quota => ({
  request() {},
  countsChat: true,
  chat: request => requireShortPrompt(parts, request, parts.promptTokens(request)),
  settle() {},
  headers: () => [],
})

function quotaOf(key: string, isChat: boolean, parts: Parts): Quota {
  const { counters, promptTokens, maxPromptTokensOf } = parts
  const { requestsPerMinute, tokensPerMinute } = parts.settings
  const countsPrompts = maxPromptTokensOf.size > 0 || tokensPerMinute > 0
  /** The window in which the prompt was counted. The answer is counted there too, however late it is. */
  let window: LimitWindow | undefined
  let countedPrompt = 0
  return {
    countsChat: isChat && countsPrompts,
    request: () => countRequest(parts, key),
    chat(request) {
      const prompt = promptTokens(request)
      requireShortPrompt(parts, request, prompt)
      requireTokensLeft(parts, key, prompt)
      if (tokensPerMinute > 0) {
        window = counters.windowOf(key)
        window.tokens += prompt
        countedPrompt = prompt
      }
    },
    settle({ prompt, completion }) {
      if (window) window.tokens += prompt + completion - countedPrompt
    },
    headers() {
      const { requests, tokens, resetMs } = counters.usedBy(key)
      return [
        ...rateLimitHeaders('requests', requestsPerMinute, requests, resetMs),
        ...rateLimitHeaders('tokens', tokensPerMinute, tokens, resetMs),
      ]
    },
  }
}

function countRequest({ settings: { requestsPerMinute: limit }, counters }: Parts, key: string): void {
  if (limit === 0) return
  const { requests, resetMs } = counters.usedBy(key)
  if (requests >= limit) {
    counters.windowOf(key).refused++
    throw tooManyRequests(retryHeaders(resetMs), limit, duration(resetMs))
  }
  counters.windowOf(key).requests++
}

function requireShortPrompt({ maxPromptTokensOf }: Parts, { model }: ChatRequest, prompt: number): void {
  // "*" is the entry for models without one of their own.
  const limit = maxPromptTokensOf.get(model) ?? maxPromptTokensOf.get('*')
  if (limit !== undefined && prompt > limit) throw promptTooLong(limit, prompt)
}

function requireTokensLeft({ settings: { tokensPerMinute: limit }, counters }: Parts, key: string, requested: number) {
  if (limit === 0) return
  const { tokens: used, resetMs } = counters.usedBy(key)
  if (used + requested <= limit) return
  counters.windowOf(key).refused++
  if (requested > limit) throw requestTooLarge(neverRetry, limit, requested)
  throw tooManyTokens(retryHeaders(resetMs), { limit, used, requested }, duration(resetMs))
}

/** Documented and configured endpoints, and what the live platform may have beside its models. */
const isLimited = (path: string, { name, isUnlimited, isConfigured }: LimitedEndpoint) =>
  isConfigured === true || (name === undefined ? path.startsWith('/v1/') : !isUnlimited)

function credentialKey(caller: Caller): string | undefined {
  if (caller.kind === 'anonymous' || caller.kind === 'refused') return undefined
  return 'id' in caller ? `${caller.kind} ${caller.id}` : caller.kind
}

/** As node's flat array of names and values; empty if there is no limit. After `resetMs` the whole limit is available again. */
function rateLimitHeaders(
  name: 'requests' | 'tokens',
  limit: number,
  used: number,
  resetMs: number,
): readonly string[] {
  if (limit === 0) return []
  return [
    `x-ratelimit-limit-${name}`,
    String(limit),
    `x-ratelimit-remaining-${name}`,
    String(Math.max(0, limit - used)),
    `x-ratelimit-reset-${name}`,
    duration(resetMs),
  ]
}

/** OpenAI's clients do not retry a request after this answer. */
const neverRetry: readonly string[] = ['x-should-retry', 'false']

/** A time as OpenAI writes it, which is Go's way: `6ms`, `1.2s`, `1m0s`. */
export function duration(exactMs: number): string {
  const ms = Math.max(0, Math.ceil(exactMs))
  if (ms > 0 && ms < 1000) return `${ms}ms`
  const minutes = Math.floor(ms / 60_000)
  const seconds = `${(ms % 60_000) / 1000}s`
  return minutes === 0 ? seconds : `${minutes}m${seconds}`
}

const tooManyRequests = (headers: readonly string[], limit: number, wait: string) =>
  new PlatformError(
    429,
    'too_many_requests',
    `Rate limit reached for requests: ${limit} per minute, and all are used. Try again in ${wait}.`,
    headers,
  )

interface TokenCounts {
  readonly limit: number
  readonly used: number
  readonly requested: number
}

const tooManyTokens = (headers: readonly string[], { limit, used, requested }: TokenCounts, wait: string) =>
  new PlatformError(
    429,
    'too_many_tokens',
    `Rate limit reached for tokens: ${limit} per minute, ${used} used, ${requested} requested. Try again in ${wait}.`,
    headers,
  )

const requestTooLarge = (headers: readonly string[], limit: number, requested: number) =>
  new PlatformError(
    429,
    'request_too_large',
    `Request too large: the limit is ${limit} tokens per minute, and the prompt alone has ${requested}. Make it shorter; waiting does not help.`,
    headers,
  )

const promptTooLong = (limit: number, tokens: number) =>
  refusal(
    400,
    'prompt_too_long',
    `This model's maximum prompt is ${limit} tokens; yours has ${tokens}. Make it shorter.`,
  )
