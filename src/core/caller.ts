/** The caller, as data and in words; what may be shown of a refused credential; and filters on these facts. */
import { glob } from './paths.js'

/** The kinds of credential that the platform knows (platform-api.md, "Authentication", rules 1, 4 and 5). */
export const credentialKinds = ['anon', 'service', 'user', 'apiKey'] as const
export type CredentialKind = (typeof credentialKinds)[number]

/** The caller. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'anon' }
  | { readonly kind: 'service' }
  | { readonly kind: 'user'; readonly id: string; readonly email?: string }
  /** `email` is the owner's. */
  | { readonly kind: 'apiKey'; readonly name: string; readonly id: string; readonly email?: string }
  /** A caller whose credential only the live platform can check. */
  | { readonly kind: 'stranger'; readonly id: string }
  /** A caller whose credential was refused. Without any credential, a caller is anonymous. */
  | { readonly kind: 'refused'; readonly tried: TriedCredential }

/** All kinds of caller, in the order in which they are listed. */
export const callerKinds = [
  'anonymous',
  'refused',
  'stranger',
  ...credentialKinds,
] as const satisfies readonly Caller['kind'][]

export const anonymous: Caller = { kind: 'anonymous' }

/** A signed-in user. `email` comes from a token or a backend, and may be missing. */
export const userCaller = (id: string, email: unknown): Caller =>
  typeof email === 'string' && email !== '' ? { kind: 'user', id, email } : { kind: 'user', id }

/** Why an API key is refused. */
export const keyFaults = ['unknown', 'mistyped', 'revoked', 'expired', 'ownerless'] as const

/** Why a token is refused: because of its form and signature, its times, or its session and user. */
export const tokenFaults = [
  ...(['malformed', 'unreadable', 'algorithm', 'unknown-key', 'signature', 'expired', 'not-yet', 'times'] as const),
  'claims',
  ...(['role', 'session', 'user', 'live'] as const),
] as const

/** Why an Authorization header is refused before its credential is checked. */
export const headerFaults = ['empty', 'scheme', 'malformed', 'doubled'] as const

export type KeyFault = (typeof keyFaults)[number]

export type TriedCredential =
  /** `start` contains the first characters that were sent, `name` is the name of a known key. */
  | { readonly kind: 'apiKey'; readonly reason: KeyFault; readonly start: string; readonly name?: string }
  /** `email` is only present if the signature is valid. */
  | { readonly kind: 'token'; readonly reason: (typeof tokenFaults)[number]; readonly email?: string }
  | { readonly kind: 'header'; readonly reason: (typeof headerFaults)[number] }

const tokenWords: Readonly<Record<(typeof tokenFaults)[number], string>> = {
  malformed: 'malformed token',
  unreadable: 'malformed token',
  algorithm: 'token with another algorithm',
  'unknown-key': 'token signed elsewhere',
  signature: 'token signed elsewhere',
  expired: 'expired token',
  'not-yet': 'token that is not valid yet',
  times: 'token without an expiry time',
  claims: 'token with a claim of the wrong type',
  role: 'token without the role',
  session: 'token of an ended session',
  user: 'token of a disabled user',
  live: 'token that the live backend refuses',
}

const headerWords: Readonly<Record<(typeof headerFaults)[number], string>> = {
  empty: 'empty credential',
  scheme: 'no Bearer credential',
  malformed: 'malformed credential',
  doubled: 'two credentials',
}

/** The same text wherever people read it; empty for callers that need no credential. */
export function callerInWords(caller: Caller): string {
  switch (caller.kind) {
    case 'anonymous':
      return ''
    case 'anon':
    case 'service':
      return `${caller.kind} key`
    case 'user':
      return caller.email ?? caller.id
    case 'apiKey':
      return `key ${caller.name}`
    case 'stranger':
      return `credential ${caller.id}`
    case 'refused':
      return triedInWords(caller.tried)
  }
}

/** For example `revoked key my laptop (sk-local-TXEo…)` or `expired token (ada@example.com)`. */
function triedInWords(tried: TriedCredential): string {
  switch (tried.kind) {
    case 'apiKey': {
      const { reason, start, name } = tried
      const key = [reason === 'ownerless' ? 'key of a disabled user' : `${reason} key`, name].filter(Boolean).join(' ')
      return start === '' ? key : `${key} (${start}…)`
    }
    case 'token':
      return tokenWords[tried.reason] + (tried.email === undefined ? '' : ` (${tried.email})`)
    case 'header':
      return headerWords[tried.reason]
  }
}

/** The query parameters that can be checked on the short form of an exchange. journal/filter.ts describes each. */
export const factWords = [
  ...(['method', 'path', 'endpoint', 'status', 'mode', 'model', 'call', 'caller', 'credential', 'source'] as const),
  ...(['scope', 'search', 'complete', 'problems'] as const),
] as const

/** A filter on the short form of an exchange: the same for the journal, tests, `standin tail` and the dashboard. */
export interface FactFilter extends Partial<Readonly<Record<Exclude<(typeof factWords)[number], Flag>, unknown>>> {
  readonly complete?: boolean | undefined
  readonly problems?: boolean | undefined
}

type Flag = 'complete' | 'problems'

export interface Facts {
  readonly method: string
  readonly path: string
  readonly endpoint: string | null
  readonly status: number | null
  readonly mode: string | null
  readonly model: string | null
  /** The beginning of the prompt. */
  readonly prompt: string | null
  /** The call of an MCP server. */
  readonly call: string | null
  readonly caller: Caller
  readonly source: string | null
  readonly scope: string
  readonly error: string | null
  readonly complete: boolean
  readonly missed: boolean
}

/** Creates a test for exchanges. Parts that are missing or undefined match everything. */
export function factTest(filter: FactFilter): (facts: Facts) => boolean {
  const { complete, problems } = filter
  const tests: ((facts: Facts) => boolean)[] = Object.entries(fitting).flatMap(([word, test]) => {
    const wanted = filter[word as keyof typeof fitting]
    return wanted === undefined ? [] : [test(String(wanted))]
  })
  if (complete !== undefined) tests.push(facts => facts.complete === complete)
  if (problems !== undefined) tests.push(facts => isProblem(facts) === problems)
  return facts => tests.every(test => test(facts))
}

const fitting = {
  method: same(({ method }) => method),
  path: like(({ path }) => path),
  endpoint: like(({ endpoint }) => endpoint),
  status: (wanted: string) => (facts: Facts) => isOf(wanted.toLowerCase(), facts.status),
  mode: same(({ mode }) => mode),
  model: like(({ model }) => model),
  call: like(({ call }) => call),
  caller: same(({ caller }) => caller.kind),
  credential: part(({ caller }) => withOwner(caller) || 'none'),
  source: part(({ source }) => source),
  scope: (wanted: string) => (facts: Facts) => facts.scope === wanted,
  search: part(inShort),
} as const satisfies Record<Exclude<(typeof factWords)[number], Flag>, unknown>

type Fact = (facts: Facts) => string | null

function same(fact: Fact) {
  return (wanted: string) => (facts: Facts) => fact(facts)?.toLowerCase() === wanted.toLowerCase()
}

function like(fact: Fact) {
  return (wanted: string) => {
    const pattern = glob(wanted)
    return (facts: Facts) => pattern.test(fact(facts) ?? '')
  }
}

function part(fact: Fact) {
  return (wanted: string) => {
    const small = wanted.toLowerCase()
    return (facts: Facts) => (fact(facts) ?? '').toLowerCase().includes(small)
  }
}

/** A user is also found by requests with their API keys. */
const withOwner = (caller: Caller) =>
  caller.kind === 'apiKey' && caller.email ? `${callerInWords(caller)} of ${caller.email}` : callerInWords(caller)

/** The texts that a general search looks at. */
function inShort({ method, path, status, source, model, prompt, call, error, caller }: Facts): string {
  return [`${method} ${path}`, status, source, model, prompt, call, error, withOwner(caller)].join('\n')
}

function isOf(wanted: string, status: number | null): boolean {
  if (status === null) return wanted === 'none'
  return wanted.endsWith('xx') ? String(status).startsWith(wanted.charAt(0)) : String(status) === wanted
}

/** Missed, refused, failed or cut. */
const isProblem = ({ missed, status, complete }: Facts) => missed || status === null || status >= 400 || !complete
