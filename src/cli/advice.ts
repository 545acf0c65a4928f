/** Says in one sentence what to do about a request that was refused, or that nothing was recorded for. */
import { emailNotConfirmed, invalidCredentials, refreshTokenNotFound, refreshTokenUsed } from '../core/auth-errors.js'
import {
  doubledCredential,
  emptyCredential,
  endedSession,
  expiredApiKey,
  expiredToken,
  malformedCredential,
  malformedToken,
  missingCredential,
  mistypedClaim,
  ownerlessApiKey,
  refusedByLive,
  revokedApiKey,
  roleUnknown,
  tokenNotYetValid,
  tokenWithoutExpiry,
  unknownApiKey,
  unsignedToken,
  wronglySignedToken,
  wrongScheme,
} from '../core/errors.js'
import { asksLive } from '../core/exchange.js'
import { AUTH, isAuth } from '../core/reserved.js'
import { nearest } from '../core/suggest.js'
import type { Told } from './told.js'

/** Nothing where there is nothing to be done, or where the error says it itself. */
export function adviceFor(told: Told): string | undefined {
  const { status, mode, error, hint, source, request } = told
  if (source !== null && /(^|\+ )fault /.test(source)) {
    return status !== null && status >= 400 && error !== null
      ? 'This was asked for: by a rule, by the option faults, by a header, or with /__standin/faults.'
      : undefined
  }
  switch (status) {
    case 400:
      return ofBadRequests.get(error ?? '')
    case 401:
      return saidLive(told) ? liveCredential : unauthorized(told)
    case 403:
      if (saidLive(told)) return liveCredential
      // A foreign page, whose hint says all there is to do.
      return hint === null ? forbidden(request.path) : undefined
    case 404:
      return notFound(told)
    case 424:
      return missed(error ?? '')
    case 429:
      return saidLive(told)
        ? 'The live platform limits this: come again when its Retry-After says.'
        : limited(error ?? '')
    case 502:
    case 504:
      return mode !== null && asksLive(mode)
        ? 'Check upstream.baseUrl, and whether the live platform is up.'
        : undefined
    default:
      return undefined
  }
}

/** Whether the status is the live platform's own. */
const saidLive = ({ error, source }: Told) => error === null && (source ?? '').startsWith('live')

const liveCredential =
  'The live platform says so: check upstream.apiKey, or sign in with standin login; --verbose shows its answer.'

const another = 'Sign in again, or take one of standin token.'
const asPrinted = (path: string) =>
  `Send the header "Authorization: Bearer KEY" with the ${keyFor(path)} that the start prints, or a token of standin token.`

/** By what the client was told. */
const ofRefusals: ReadonlyMap<string, string | ((path: string) => string)> = new Map<
  string,
  string | ((path: string) => string)
>([
  ...[missingCredential(), emptyCredential(), wrongScheme(), malformedCredential(), doubledCredential()].map(
    ({ message }) => [message, asPrinted] as const,
  ),
  [
    unknownApiKey().message,
    'Send OPENAI_API_KEY as the start prints it, or make a key with standin key create or on the dashboard.',
  ],
  ...[ownerlessApiKey(), revokedApiKey(), expiredApiKey()].map(
    ({ message }) => [message, 'Make a new key with standin key create or on the dashboard.'] as const,
  ),
  [expiredToken().message, `${another} A clock that was moved makes tokens expire, too.`],
  [endedSession().message, another],
  [tokenNotYetValid().message, 'Look at its nbf, and at the clock: GET /__standin/clock.'],
  [
    wronglySignedToken().message,
    'It comes from elsewhere, or auth.jwtSecret was another one: sign in here, or take one of standin token.',
  ],
  ...[unsignedToken(), malformedToken(), tokenWithoutExpiry(), mistypedClaim(), roleUnknown()].map(
    ({ message }) => [message, 'Take a token of this backend: sign in, or standin token.'] as const,
  ),
  [refusedByLive('').message, 'Sign in at the live auth backend again: its tokens are the ones that count here.'],
])

/** On the auth backend, by what the client was told. */
const ofBadRequests: ReadonlyMap<string, string> = new Map([
  [
    invalidCredentials().message,
    'Take a user of the configuration (the start prints the development user), sign up, or set a password with the service key.',
  ],
  [
    emailNotConfirmed().message,
    'Follow the link in the outbox: GET /__standin/outbox; auth.mailerAutoconfirm does without it.',
  ],
  [refreshTokenNotFound().message, another],
  [refreshTokenUsed().message, another],
])

function unauthorized({ error, request: { path } }: Told): string {
  const advice = ofRefusals.get(error ?? '')
  if (advice !== undefined) return typeof advice === 'string' ? advice : advice(path)
  if (isAuth(path))
    return 'Send SUPABASE_ANON_KEY as the header apikey, and the token of a user where one is asked for.'
  return asPrinted(path)
}

const keyFor = (path: string) => (path.startsWith('/api/') ? 'SUPABASE_ANON_KEY' : 'OPENAI_API_KEY')

const forbidden = (path: string) =>
  path.startsWith(`${AUTH}/admin`) || path === `${AUTH}/invite`
    ? 'It takes the service key: SUPABASE_SERVICE_ROLE_KEY, as the start prints it.'
    : 'standin tail --last 1 --verbose shows who asked, and what was said.'

/** Those that apps ask for; a test holds them against what is answered. */
export const knownPaths = [
  ...['/health', '/api/v1', '/v1/models', '/v1/chat/completions'],
  ...['token', 'signup', 'user', 'logout', 'otp', 'magiclink', 'verify', 'recover', 'resend', 'settings', 'health'].map(
    name => `${AUTH}/${name}`,
  ),
]

/** OpenAI's endpoints that the platform's document does not have. */
const ofOpenai =
  /^(?:\/v1)?\/(responses|embeddings|completions|conversations|assistants|threads|files|uploads|batches|images|audio|moderations|fine_tuning|vector_stores|realtime)(?:\/|$)/

function openaiAlone(name: string): string {
  const has = `The platform's document has no /v1/${name}, so Standin has none.`
  const chat = 'It has /v1/chat/completions:'
  if (name === 'responses')
    return `${has} ${chat} use chat.completions of the openai client, openai.chat(model) or createOpenAICompatible of the AI SDK, or useResponsesApi: false of LangChain.`
  if (name === 'completions') return `${has} ${chat} use chat.completions of the openai client.`
  return `${has} In the modes proxy and record the live platform is asked, which may have it.`
}

function notFound({ mode, error, request: { path } }: Told): string | undefined {
  // What the live platform, or a user of the auth backend, did not find is no mistake in the path.
  if (error === null || knownPaths.includes(path)) return undefined
  const [, name] = ofOpenai.exec(path) ?? []
  if (name !== undefined) return openaiAlone(name)
  const near = nearest(path, knownPaths)
  if (near !== undefined) return `Did you mean ${near}? ${baseAdvice(path, near)}`.trim()
  return mode === 'replay' ? 'Nothing is recorded for this path: ask it once with standin record.' : undefined
}

/** Clients put the path behind the address that they are given. */
function baseAdvice(path: string, near: string): string {
  if (near === `/v1${path}`) return 'The base URL of an OpenAI client ends in /v1: OPENAI_BASE_URL.'
  if (path === `/v1${near}`) return 'The base URL has /v1 in it already, or twice.'
  if (path === `${AUTH}${near}`) return 'The URL of a Supabase client is without /auth/v1: SUPABASE_URL.'
  return ''
}

function missed(error: string): string {
  return error.startsWith('No recording')
    ? 'Ask it once with standin record, or start with --on-miss emulate to have it made up.'
    : 'Add a rule that fits to the reply files; standin replies try says which one would answer, and why.'
}

/** By what stands in what the client was told. */
function limited(error: string): string {
  const [, name] = [
    [/for requests/, 'limits.requestsPerMinute'],
    [/for tokens|too large/, 'limits.tokensPerMinute'],
    [/for streams/, 'limits.concurrentStreams'],
  ].find(([pattern]) => (pattern as RegExp).test(error)) ?? ['', undefined]
  return name === undefined
    ? 'Wait as long as the header Retry-After says.'
    : `The option ${name} says how much is allowed; 0 is any number.`
}
