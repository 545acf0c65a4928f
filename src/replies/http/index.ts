/** The dialect of rules for paths. */
import { methodNotAllowed, notFound, notFoundByRule, type PlatformError } from '../../core/errors.js'
import {
  type Access,
  anonymous,
  type Caller,
  combinedAccess,
  defaultAccess,
  type OwnPath,
} from '../../core/exchange.js'
import { isJson, stringifyExact } from '../../core/json.js'
import type { Condition } from '../conditions/value-tests.js'
import type { Dialect, ReadyReply, ReadyRule } from '../dialect.js'
import { createEngine, isActive, type RuleSources } from '../engine.js'
import { type Explanation, explanationOf, nearestSentence } from '../explain.js'
import { compileHttpWhen, type HttpReplyForm, type HttpRule } from './form.js'
import { type HttpInput, type HttpRequest, inputOf } from './input.js'
import { type HttpGeneration, httpReplyOf, linesOfHttpReply } from './reply.js'
import {
  bySpecificity,
  isDocumented,
  matchesSteps,
  pathOf,
  type Route,
  routeOf,
  stepsOfPath,
  type TriedRequest,
} from './route.js'

type ReadyHttpReply = ReadyReply<HttpGeneration>
type HttpReadyRule = ReadyRule<ReadyHttpReply>

export const http: Dialect<HttpInput, ReadyHttpReply> = {
  conditions: rule => [onAccess(rule as HttpRule), ...compileHttpWhen(rule as HttpRule)],
  compileReply: (form, path, owner, texts) => httpReplyOf(form as HttpReplyForm, path, owner, texts),
}

/** The rules for paths. */
function createPathRules(parts: RuleSources) {
  const { memory } = parts
  const { rulesFor, take, mayFail, answersOwn } = createEngine(http, parts)
  /** The rules for a path, with any method, in one scope or in all: by priority first, then by how specific the pattern is. */
  function at(path: string, scope?: string): readonly HttpReadyRule[] {
    const steps = stepsOfPath(path)
    const matching = rulesFor(scope).filter(rule => isActive(rule) && matchesSteps(rulePath(rule).route, steps))
    const mostSpecific = (a: HttpReadyRule, b: HttpReadyRule) =>
      b.priority - a.priority || bySpecificity(rulePath(a).route, rulePath(b).route)
    return matching.length > 1 ? matching.toSorted(mostSpecific) : matching
  }

  const candidatesFor = ({ request, method, scope }: HttpInput) =>
    at(request.path, scope).filter(rule => rulePath(rule).route.method === method)

  /** The error for a request that no rule matches. It names the nearest rule. */
  function refusalOf(input: HttpInput): PlatformError {
    const { method, path } = input.request
    const methods = pathsOf(at(path, input.scope)).map(({ method }) => method)
    if (methods.length === 0) return notFound(path)
    if (!methods.includes(input.method)) return methodNotAllowed(method, methods)
    return notFoundByRule(path, nearestSentence(input, { rules: candidatesFor(input), memory }))
  }

  return {
    rulesFor,
    take: (input: HttpInput) => take(input, candidatesFor(input)),
    mayFail,
    answersOwn: (input: HttpInput) => answersOwn(input, candidatesFor(input)),
    at,
    refusalOf,
    explanation: (input: HttpInput): Explanation<HttpGeneration> =>
      explanationOf(input, {
        rules: candidatesFor(input),
        memory,
        otherwise: () => Promise.reject(refusalOf(input)),
      }),
  }
}

export type HttpReplies = ReturnType<typeof createHttpReplies>

export function createHttpReplies(parts: RuleSources) {
  const { rulesFor, take, mayFail, answersOwn, at, refusalOf, explanation } = createPathRules(parts)

  function replyTo(input: HttpInput): HttpGeneration | undefined | Promise<HttpGeneration> {
    const chosen = take(input)
    return chosen?.reply.generate(input, chosen.count)
  }
  const isOwn = async (request: HttpRequest) => answersOwn(await inputOf(request))

  return {
    /** The methods that rules answer on a path, in one scope or in all. */
    at: (path: string, scope?: string) => pathsOf(at(path, scope)),
    /** All methods and paths that rules answer. */
    paths: () => pathsOf(rulesFor().filter(isActive), ({ method, path }) => `${method} ${path}`),
    /** Returns `undefined` if no rule matches. Throws, or rejects with, a 400 for a body that is not what its Content-Type says. */
    answer(request: HttpRequest): HttpGeneration | undefined | Promise<HttpGeneration | undefined> {
      const input = inputOf(request)
      return input instanceof Promise ? input.then(replyTo) : replyTo(input)
    },
    /** Whether a rule of the test's own answers. Does not count as an answer. A body that cannot be read is for others to judge. */
    answersOwn: (request: HttpRequest): Promise<boolean> => isOwn(request).catch(() => false),
    /** The 404 for a request that no rule matches; it names the nearest rule. `undefined` if there are no rules on its path. */
    async refusal(request: HttpRequest) {
      return at(request.path, request.scope).length === 0 ? undefined : refusalOf(await inputOf(request))
    },
    /** The fault that a rule sets for the answer to a request, wherever the answer comes from. */
    async faultFor(request: HttpRequest) {
      if (!mayFail(request.scope)) return undefined
      return take(await inputOf(request))?.reply.fault
    },
    /** Formats an answer as lines of text. */
    linesOf: linesOfHttpReply,
    /** Says which rule would answer. It does not count as an answer. */
    explain: async (tried: TriedRequest): Promise<Explanation<HttpGeneration>> =>
      explanation(await inputOf(requestOf(tried, at(pathIn(tried))))),
  }
}

const pathIn = ({ path }: TriedRequest) => path.split('?', 1)[0] ?? ''

function requestOf(tried: TriedRequest, rules: readonly HttpReadyRule[]): HttpRequest {
  const {
    method,
    path,
    headers = {},
    body,
    scope = '',
    caller = callerWith(rules.map(rule => rulePath(rule).own)),
  } = tried
  const text = typeof body === 'string' || body === undefined ? body : stringifyExact(body)
  const type = body !== undefined && (text !== body || isJson(text)) && { 'content-type': 'application/json' }
  return {
    method,
    path: pathIn(tried),
    query: tried.query ?? path.slice(pathIn(tried).length + 1),
    caller,
    scope,
    headers: { ...type, ...headers },
    body: text === undefined ? undefined : Buffer.from(text),
  }
}

function callerWith([first]: readonly OwnPath[]): Caller {
  const { access = 'anyone' } = first ?? {}
  const [kind] = access === 'anyone' ? [] : access
  if (kind === 'apiKey') return { kind, name: '', id: '' }
  return kind === 'user' ? { kind, id: '' } : kind ? { kind } : anonymous
}

/** One entry for each key. A caller has access if any of the rules allows it. */
function pathsOf(rules: readonly HttpReadyRule[], keyOf = ({ method }: OwnPath) => method): readonly OwnPath[] {
  const paths = new Map<string, OwnPath>()
  for (const rule of rules) {
    const path = rulePath(rule).own
    const existing = paths.get(keyOf(path))
    if (!existing) paths.set(keyOf(path), path)
    else if (String(existing.access) !== String(path.access))
      paths.set(keyOf(path), { ...existing, access: combinedAccess(existing.access, path.access) })
  }
  return [...paths.values()]
}

interface RulePath {
  readonly route: Route
  readonly own: OwnPath
}

const pathsOfRules = new WeakMap<HttpReadyRule, RulePath>()

/** Returns the same object each time. */
function rulePath(rule: HttpReadyRule): RulePath {
  const cached = pathsOfRules.get(rule)
  if (cached) return cached
  const written = rule.written as HttpRule
  const route = routeOf(written.on)
  const own = { method: route.method, path: pathOf(route), access: accessOf(written) }
  const path = { route, own }
  pathsOfRules.set(rule, path)
  return path
}

/** Documented endpoints check the caller themselves. */
export const accessOf = ({ on, access }: HttpRule): Access =>
  access ?? (isDocumented(on) ? 'anyone' : defaultAccess(on.slice(on.indexOf(' ') + 1)))

/** Access is a condition too, since the rules of one path can differ in it. */
function onAccess(rule: HttpRule): Condition<HttpInput> {
  const access = accessOf(rule)
  return {
    holds: ({ caller }) => access === 'anyone' || access.some(kind => kind === caller.kind),
    mismatch: () => `access is limited to ${[access].flat().join(', ')}`,
  }
}
