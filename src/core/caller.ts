/** Who made a request, as data and in words; what may be shown of a refused credential; and filters on exchanges. */
import { glob } from './paths.js'

/** The kinds of credential that the platform knows (platform-api.md, "Authentication", rules 1, 4 and 5). */
export const credentialKinds = ['anon', 'service', 'user', 'apiKey'] as const
export type CredentialKind = (typeof credentialKinds)[number]

/** Who made a request. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'anon' }
  | { readonly kind: 'service' }
  | { readonly kind: 'user'; readonly id: string; readonly email?: string }
  /** `owner` is the id of the user that it belongs to, if any, and `email` their address. */
  | {
      readonly kind: 'apiKey'
      readonly name: string
      readonly id: string
      readonly owner?: string
      readonly email?: string
    }
  /** A caller whose credential only the live platform can check. */
  | { readonly kind: 'stranger'; readonly id: string }
  /** A caller whose credential was refused. Without any credential, a caller is anonymous. */
  | { readonly kind: 'refused'; readonly tried: RefusedCredential }

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

export type RefusedCredential =
  /** `start` contains the first characters that were sent, `name` is the name of a known key. */
  | { readonly kind: 'apiKey'; readonly reason: KeyFault; readonly start: string; readonly name?: string }
  /** `email` is only present if the signature is valid. */
  | { readonly kind: 'token'; readonly reason: (typeof tokenFaults)[number]; readonly email?: string }
  | { readonly kind: 'header'; readonly reason: (typeof headerFaults)[number] }

const tokenReasons: Readonly<Record<(typeof tokenFaults)[number], string>> = {
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

const headerReasons: Readonly<Record<(typeof headerFaults)[number], string>> = {
  empty: 'empty credential',
  scheme: 'no Bearer credential',
  malformed: 'malformed credential',
  doubled: 'two credentials',
}

/** Describes a caller wherever people read it; empty for a caller without a credential. */
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
      return credentialInWords(caller.tried)
  }
}

/** For example `revoked key my laptop (sk-local-TXEo…)` or `expired token (ada@example.com)`. */
function credentialInWords(tried: RefusedCredential): string {
  switch (tried.kind) {
    case 'apiKey': {
      const { reason, start, name } = tried
      const key = [reason === 'ownerless' ? 'key of a disabled user' : `${reason} key`, name].filter(Boolean).join(' ')
      return start === '' ? key : `${key} (${start}…)`
    }
    case 'token':
      return tokenReasons[tried.reason] + (tried.email === undefined ? '' : ` (${tried.email})`)
    case 'header':
      return headerReasons[tried.reason]
  }
}

/** The query parameters by which exchanges can be filtered. journal/filter.ts describes each. */
export const factFilterKeys = [
  ...(['method', 'path', 'endpoint', 'status', 'mode', 'model', 'call', 'caller', 'credential', 'source'] as const),
  ...(['scope', 'search', 'complete', 'problems'] as const),
] as const

/** A filter on exchanges: the same for the journal, tests and the dashboard. */
interface FactFilter extends Partial<Readonly<Record<Exclude<(typeof factFilterKeys)[number], Flag>, unknown>>> {
  readonly complete?: boolean | undefined
  readonly problems?: boolean | undefined
}

type Flag = 'complete' | 'problems'

/** What filters know of an exchange. */
export interface Facts {
  readonly method: string
  readonly path: string
  readonly endpoint: string | null
  readonly status: number | null
  readonly mode: string | null
  readonly model: string | null
  /** The beginning of the prompt. */
  readonly prompt: string | null
  /** The JSON-RPC method of an MCP call, and what it calls. */
  readonly call: string | null
  readonly caller: Caller
  readonly source: string | null
  readonly scope: string
  readonly error: string | null
  readonly complete: boolean
  readonly missed: boolean
  /** How many findings there are about the answer. */
  readonly findings: number
}

/** Returns a function that tests exchanges. Parts of the filter that are missing or undefined match everything. */
export function factTest(filter: FactFilter): (facts: Facts) => boolean {
  const { complete, problems } = filter
  const tests: ((facts: Facts) => boolean)[] = Object.entries(conditions).flatMap(([key, condition]) => {
    const value = filter[key as keyof typeof conditions]
    return value === undefined ? [] : [condition(String(value))]
  })
  if (complete !== undefined) tests.push(facts => facts.complete === complete)
  if (problems !== undefined) tests.push(facts => isProblem(facts) === problems)
  return facts => tests.every(test => test(facts))
}

const conditions = {
  method: equals(({ method }) => method),
  path: matchesGlob(({ path }) => path),
  endpoint: matchesGlob(({ endpoint }) => endpoint),
  status: (value: string) => (facts: Facts) => hasStatus(facts.status, value.toLowerCase()),
  mode: equals(({ mode }) => mode),
  model: matchesGlob(({ model }) => model),
  call: matchesGlob(({ call }) => call),
  caller: equals(({ caller }) => caller.kind),
  credential: contains(({ caller }) => callerWithOwner(caller) || 'none'),
  source: contains(({ source }) => source),
  scope: (value: string) => (facts: Facts) => facts.scope === value,
  search: contains(searchText),
} as const satisfies Record<Exclude<(typeof factFilterKeys)[number], Flag>, unknown>

type Fact = (facts: Facts) => string | null

function equals(fact: Fact) {
  return (value: string) => (facts: Facts) => fact(facts)?.toLowerCase() === value.toLowerCase()
}

function matchesGlob(fact: Fact) {
  return (value: string) => {
    const pattern = glob(value)
    return (facts: Facts) => pattern.test(fact(facts) ?? '')
  }
}

function contains(fact: Fact) {
  return (value: string) => {
    const lowerCase = value.toLowerCase()
    return (facts: Facts) => (fact(facts) ?? '').toLowerCase().includes(lowerCase)
  }
}

/** A user is also found by requests with their API keys. */
const callerWithOwner = (caller: Caller) =>
  caller.kind === 'apiKey' && caller.email ? `${callerInWords(caller)} of ${caller.email}` : callerInWords(caller)

/** The texts in which the filter `search` looks. */
function searchText({ method, path, status, source, model, prompt, call, error, caller }: Facts): string {
  return [`${method} ${path}`, status, source, model, prompt, call, error, callerWithOwner(caller)].join('\n')
}

/** `value` is a status, a class such as `4xx`, or `none` for no answer. */
function hasStatus(status: number | null, value: string): boolean {
  if (status === null) return value === 'none'
  return value.endsWith('xx') ? String(status).startsWith(value.charAt(0)) : String(status) === value
}

/** Whether no rule or recording matched, or the answer is an error or incomplete. */
const isProblem = ({ status, complete, findings }: Facts) =>
  status === null || status >= 400 || !complete || findings > 0
