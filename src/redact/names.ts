/** Headers, parameters and fields that are secret by their names, and the credentials in them, which are secret wherever they recur. */
import { unescape as decoded } from 'node:querystring'
import { AUTH, isAuth } from '../core/paths.js'
import { memoized } from '../core/work.js'
import { isPlaceholder, isSecretValue, isSignIn, looksRandom } from './values.js'

const kindsOfKey =
  'api|access|secret|private|signing|encryption|master|admin|account|service|role|subscription|license|webhook|ssh|stream|session|functions'
const kindsOfToken =
  'access|refresh|auth(?:entication)?|bearer|session|provider|api|bot|oauth2?|security|secret|deploy|csrf|xsrf|user|login|reset|confirmation|recovery|invite|verification|device|app|admin|service|client|hashed|account|github|gitlab|slack|npm|vault|private|personal'

/**
 * The ends of names that are secret everywhere: in JSON, forms, queries and headers. Words are joined by dashes. A
 * `page_token` or a `public_key` is not secret, and it makes requests different.
 */
export const secretName = [
  'pass-?(?:word|wd|phrase|code)s?(?:-?(?:hash|digest|confirm(?:ation)?|again|\\d))?|pwd|mnemonic|seed-phrase',
  `secrets?|authorization|(?:${kindsOfKey})-?keys?|(?:${kindsOfToken})-?tokens?|(?:^|-)id-?token`,
  '(?:^|-)(?:token-hash|client-assertion|code-verifier|t?otp|(?:one-time|mfa|recovery|backup)-?codes?)',
].join('|')

const secretEnd = new RegExp(`(?:${secretName})$`)

/** `accessToken`, `access_token` and `ACCESS-TOKEN` are one name: `access-token`. */
export const dashedName = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')

/** Whether the value of a header, a parameter or a field of this name is secret; case and separators do not matter. */
export type IsSecretName = (name: string) => boolean

/** Longer names are texts. */
const LONGEST_NAME = 100
const REMEMBERED = 2048

/** Secret names, those of one place, and those of the configuration. */
function namesWith(here: RegExp, further: readonly string[]): IsSecretName {
  const configured = new Set(further.map(dashedName))
  // The same few names come with each request.
  const isSecret = memoized((name: string) => {
    const dashed = dashedName(name)
    return secretEnd.test(dashed) || here.test(dashed) || configured.has(dashed)
  }, REMEMBERED)
  return name => name.length <= LONGEST_NAME && isSecret(name)
}

export const secretHeaders = (further: readonly string[]): IsSecretName =>
  namesWith(/(?:^|-)cookie2?$|^mcp-session-id$|.-(?:token|credential|signature(?:-256)?)$/, further)

/** A `token` and a `credential` are secret if they look like one, and a cookie if it has a value; JSON has these names for other things. */
export const secretFields = (further: readonly string[]): IsSecretName =>
  namesWith(/^(?:token|credentials?|(?:set-)?cookie)$/, further)

/** On the auth backend, also the fields that sign a user in. */
const authField = /^(?:nonce|token|(?:email-)?otp|(?:auth-)?code|action-link)$/

/** The secrets among the fields of bodies at a path. */
export interface SecretFields {
  readonly isSecret: IsSecretName
  /** Whether the value of a field whose name may be that of a secret is one. */
  readonly isSecretValue: (name: string, value: string) => boolean
}

export function fieldsAt(path: string, isUsual: IsSecretName): SecretFields {
  const isAuthPath = isAuth(path.toLowerCase()) || path.includes(AUTH)
  const isAuthField = (name: string) => isAuthPath && authField.test(dashedName(name.slice(0, 20)))
  return {
    isSecret: name => isAuthField(name) || isUsual(name),
    isSecretValue(name, value) {
      if (isPlaceholder.test(value)) return false
      const dashed = dashedName(name)
      return isAuthField(name) ? isSignIn(dashed, value) : isSecretValue(dashed, value, dashedName(value.slice(0, 100)))
    },
  }
}

export const secretParametersWith = (further: readonly string[]): IsSecretName =>
  namesWith(/^(?:key|token|signature|sig|code|x-(?:amz|goog)-(?:signature|credential))$/, further)

/** How sure a name in a text is that of a secret: `maybe` needs a value that looks like one. */
export type KindOfName = (name: string) => 'secret' | 'maybe' | 'cookie' | undefined

const variable = /^[A-Z][A-Z\d_]+$/
/** Names of variables that are secret if the value looks like it. */
const secretVariable = /-(?:keys?|tokens?|pass|pw|auth|credentials?|salt|pepper|dsn|jwt)$/
const publicName =
  /(?:^|-)(?:public|publishable|primary|foreign|unique|cache|sort|partition|page|next|continuation|cancel|sync|state|idempotency|storage|index|hash|range|eos|bos|pad|unk)-(?:keys?|tokens?)$/

/** The last letters of all names with a kind, and of those that come between such a name and its value. */
export const endsOfNames =
  'ord|rds|swd|pwd|pw|ass|ase|ode|des|nic|ret|ets|ion|key|eys|ken|ens|ash|est|irm|ain|ier|otp|uth|ial|als|alt|per|dsn|jwt|kie|ure|256|-id|val|lue|str|ing'

export function kindsOfNames(further: readonly string[]): KindOfName {
  const isSecret = namesWith(/(?:^|-)secret-key-base$/, further)
  const kindOf = memoized((name: string): ReturnType<KindOfName> => {
    const dashed = dashedName(name)
    if (/^(?:set-)?cookie$/.test(dashed)) return 'cookie'
    // The working directory.
    if (name === 'PWD' || name === 'OLDPWD' || publicName.test(dashed)) return undefined
    if (isSecret(name)) return 'secret'
    const isLikely =
      /^(?:token|credentials?|-?auth|mcp-session-id)$|(?:^|-|store|key|db)pass$/.test(dashed) ||
      (variable.test(name) && secretVariable.test(dashed)) ||
      (name.includes('-') && /^x-.*-(?:token|credential|signature(?:-256)?)$/.test(dashed))
    return isLikely ? 'maybe' : undefined
  }, REMEMBERED)
  return name => (name.length <= LONGEST_NAME ? kindOf(name) : undefined)
}

/** What is secret in addition to values with a known form. */
export interface RedactionRules {
  /** Names of other headers and parameters of the query whose values are secret; case does not matter. */
  readonly names: readonly string[]
  readonly emails: boolean
  /** Expressions, with the names of their placeholders. */
  readonly patterns: readonly { readonly name: string; readonly pattern: RegExp }[]
  /** Values that are known to be secret, with the names of their placeholders: the live keys, for example. */
  readonly known: readonly { readonly name: string; readonly value: string }[]
}

export interface CredentialFields {
  readonly headers: Iterable<readonly [name: string, value: string]>
  readonly query?: string
}

/** Returns the values that are worth looking for elsewhere. */
export function createSecretsIn(isHeader: IsSecretName, isParameter: IsSecretName) {
  return ({ headers, query = '' }: CredentialFields): readonly string[] => {
    const found: string[] = []
    for (const [name, value] of headers) if (isHeader(name)) found.push(...credentialsIn(name.toLowerCase(), value))
    if (query !== '') for (const [name, value] of new URLSearchParams(query)) if (isParameter(name)) found.push(value)
    return found.filter(isDistinctive)
  }
}

function credentialsIn(name: string, value: string): readonly string[] {
  if (name.startsWith('set-cookie')) return cookieValue(value.split(';', 1)[0] ?? '')
  if (name.startsWith('cookie')) return value.split(';').flatMap(cookieValue)
  // The part after a scheme such as Bearer.
  return [value.replace(/^[A-Za-z][\w-]* +/, '').trim()]
}

function cookieValue(cookie: string): readonly string[] {
  const value = cookie
    .slice(cookie.indexOf('=') + 1)
    .trim()
    .replace(/^"(.*)"$/, '$1')
  return value.includes('%') ? [value, decoded(value)] : [value]
}

const isAddress = /^(?:[a-z]+:\/)?\//

const LONG = 12
const SHORTEST = 8

/** `?key=default` must not cause words to be replaced, and a cookie with a path must not cause paths to be replaced. */
export function isDistinctive(value: string): boolean {
  if (value.length < SHORTEST || isPlaceholder.test(value)) return false
  if (value.length < LONG) return /\d/.test(value) && /[A-Za-z]/.test(value) && looksRandom(value)
  return !isAddress.test(value) || looksRandom(value)
}
