/** Suggests what to do about a request that was refused or has no recording. */
import { ignoreAdvice } from '../check/finding.js'
import { nearest } from '../check/suggest.js'
import { defaultAccess, type Exchange, usesLive } from '../core/exchange.js'
import { AUTH, isAuth, unknownPathAdvice } from '../core/paths.js'
import { documentedEndpoints } from '../endpoints/index.js'

/** What the advice on an unknown path or a status depends on, beside these. */
interface Circumstances {
  readonly mode: Exchange['mode']
  readonly hint: string | undefined
}

/** Returns `undefined` if there is nothing to do, or if the error itself says what to do. */
export function adviceOn({ path, mode, outcome, caller, nearest: recording }: Exchange): string | undefined {
  if (outcome === undefined || outcome.status < 400) return undefined
  const { status, error, code, fault, answeredBy, hint } = outcome
  if (fault !== undefined) {
    return error === undefined
      ? undefined
      : 'This is a fault that was set up: by a rule, the option faults, a header, or /__standin/faults.'
  }
  const isLive = answeredBy?.kind === 'live'
  if (isLive && (status === 401 || status === 403)) return checkLiveCredential
  if (isLive && status === 429) return 'This is a rate limit of the live platform. Try again after its Retry-After.'
  if (code === 'no_recording' && recording?.ignore) return ignoreAdvice(recording.ignore)
  if (code === 'not_found') return adviceOnUnknownPath(path, { mode, hint })
  if (caller.kind === 'refused' && caller.tried.kind === 'apiKey' && liveKey.test(caller.tried.start))
    return `This is a key of a live platform. ${sendKnownKey(path)}`
  const advice = code === undefined ? undefined : adviceByCode.get(code)
  if (advice !== undefined) return typeof advice === 'string' ? advice : advice(path, error)
  return adviceByStatus(status, path, { mode, hint })
}

/** The beginnings of keys that live platforms give out. */
const liveKey = /^sk-(proj|svcacct|admin|ant|or)-/

const takesApiKeys = (path: string) => defaultAccess(`${path}/`).includes('apiKey')

const sendCredential = (path: string) =>
  `Send the header "Authorization: Bearer KEY" with the ${takesApiKeys(path) ? 'OPENAI_API_KEY' : 'SUPABASE_ANON_KEY'} that is printed at startup, or a token from standin token.`
/** At paths that accept no API key, advises to send another credential. */
const forApiKeys = (advice: string) => (path: string) => (takesApiKeys(path) ? advice : sendCredential(path))
const sendKnownKey = forApiKeys(
  'Send the OPENAI_API_KEY printed at startup, or create a key with standin key create or on the dashboard.',
)
const createKey = forApiKeys('Create a new key with standin key create or on the dashboard.')
// The error itself says which kinds are accepted, since the option `access` may have changed them.
const useOtherKind =
  'OPENAI_API_KEY (an API key) and SUPABASE_ANON_KEY (the anon key) are printed at startup. standin token prints a user token.'
const signInAgain = 'Sign in again, or get a token with standin token.'
const useTokenOfThisBackend = 'Use a token of this backend: sign in, or run standin token.'
const addProvider =
  'Name the provider in the option auth.external: { github: {} }. A test can do without: platform.signInWith(provider, { email }).'
const signInOtherwise =
  'Standin has no sign-in of this kind. Use a password, a magic link, a code or signInWithOAuth, or get a token with standin token.'
const changeLimit = (option: string) => `The option limits.${option} sets this limit; 0 means unlimited.`

/** Supabase's words for an ID token whose signature is unknown. */
const BAD_ID_TOKEN = 'Bad ID token'
const useOwnIdToken =
  'Standin knows only ID tokens that it has made: platform.idToken(provider, { email }) in a test, or POST /__standin/id-tokens.'

/** Supabase's words for a provider that is not among auth.external. */
const PROVIDER_OFF = 'Unsupported provider: provider is not enabled'

/** Advice by the code of the error; it may depend on the path and the message. Errors with other codes say what to do themselves. */
const adviceByCode = new Map<string, string | ((path: string, error: string | undefined) => string | undefined)>([
  ['missing_credential', sendCredential],
  ['empty_credential', sendCredential],
  ['wrong_scheme', sendCredential],
  ['malformed_credential', sendCredential],
  ['doubled_credential', sendCredential],
  ['barred_user', sendCredential],
  ['wrong_kind', useOtherKind],
  ['unknown_api_key', sendKnownKey],
  ['mistyped_api_key', sendKnownKey],
  ['ownerless_api_key', createKey],
  ['revoked_api_key', createKey],
  ['expired_api_key', createKey],
  ['expired_token', `${signInAgain} Moving the clock forward also makes tokens expire.`],
  ['ended_session', signInAgain],
  ['refresh_token_not_found', signInAgain],
  ['refresh_token_already_used', signInAgain],
  ['refused_by_live', 'Sign in to the live auth backend again. Only its tokens are accepted here.'],
  ['token_not_yet_valid', 'Check its nbf claim and the clock (GET /__standin/settings).'],
  ['token_without_expiry', useTokenOfThisBackend],
  ['mistyped_claim', useTokenOfThisBackend],
  ['alg_not_allowed', useTokenOfThisBackend],
  ['malformed_token', useTokenOfThisBackend],
  ['unknown_role', useTokenOfThisBackend],
  [
    'wrong_signature',
    'It was issued elsewhere, or with another auth.jwtSecret. Sign in here, or get a token with standin token.',
  ],
  [
    'invalid_credentials',
    // Supabase has the same code for another kind of sign-in.
    (_path, error) =>
      error === 'unsupported_grant_type'
        ? undefined
        : 'Use a configured user (the banner prints the development user), sign up, or set a password with the service key.',
  ],
  [
    'email_not_confirmed',
    'Follow the link in the outbox (GET /__standin/outbox), or set auth.mailerAutoconfirm to do without it.',
  ],
  // Supabase's code for whatever is wrong with a request.
  ['validation_failed', (_path, error) => (error === PROVIDER_OFF ? addProvider : undefined)],
  ['provider_disabled', addProvider],
  ['oauth', (_path, error) => (error === BAD_ID_TOKEN ? useOwnIdToken : undefined)],
  ['phone_provider_disabled', 'Set auth.external: { phone: true }. It is off by default, as in Supabase Auth.'],
  ['web3_provider_disabled', signInOtherwise],
  ['saml_provider_disabled', signInOtherwise],
  [
    'unknown_model',
    'Add it to the option models, or accept all with models: any. GET /v1/models lists those there are.',
  ],
  ['foreign_row', 'Rows of this resource belong to users. Sign in, or use an API key that has an owner.'],
  [
    'no_rule_matches',
    'Add a matching rule to the reply files. standin replies try shows which rule would answer, and why.',
  ],
  ['no_recording', 'Record it once with standin record, or start with --on-miss emulate to get an emulated answer.'],
  ['no_fitting_value', 'Add an example to this answer in the OpenAPI document, or a rule for this path.'],
  ['too_many_requests', changeLimit('requestsPerMinute')],
  ['too_many_tokens', changeLimit('tokensPerMinute')],
  ['request_too_large', changeLimit('tokensPerMinute')],
])

/** Advice on an error that has no code of ours. */
function adviceByStatus(status: number, path: string, { mode, hint }: Circumstances): string | undefined {
  switch (status) {
    case 401:
      return isAuth(path)
        ? 'Send SUPABASE_ANON_KEY as the header apikey, and a user token if the endpoint requires one.'
        : undefined
    case 403:
      // Requests from a foreign origin: their hint already says what to do.
      return hint === undefined ? adviceOnForbidden(path) : undefined
    case 429:
      return 'Wait for as long as the header Retry-After says.'
    case 502:
    case 504:
      return mode !== undefined && usesLive(mode)
        ? 'Check upstream.baseUrl, and whether the live platform is up.'
        : undefined
    default:
      return undefined
  }
}

const checkLiveCredential =
  'This is the answer of the live platform. Check upstream.apiKey; --verbose shows the answer.'

const adviceOnForbidden = (path: string) =>
  path.startsWith(`${AUTH}/admin`) || path === `${AUTH}/invite`
    ? 'This requires the service key: SUPABASE_SERVICE_ROLE_KEY, as the banner prints it.'
    : 'The dashboard shows the caller and the bodies; so does --verbose.'

/** Paths that are suggested for misspelt ones. A test checks that each of them is served. */
export const knownPaths = [
  ...documentedEndpoints.map(({ path }) => path),
  ...['token', 'signup', 'user', 'logout', 'otp', 'magiclink', 'verify', 'recover', 'resend', 'settings', 'health'].map(
    name => `${AUTH}/${name}`,
  ),
]

function adviceOnUnknownPath(path: string, { mode, hint }: Circumstances): string | undefined {
  if (path === '/') return 'The dashboard is at /dashboard.'
  const known = unknownPathAdvice(path)
  if (known !== undefined) return known
  const near = nearest(path, knownPaths)
  if (near !== undefined) return `Did you mean ${near}? ${adviceOnBaseUrl(path, near)}`.trim()
  // A hint already says why.
  return mode === 'replay' && hint === undefined
    ? 'Nothing is recorded for this path. Request it once with standin record.'
    : undefined
}

/** Clients append their paths to the base URL that they are given. */
function adviceOnBaseUrl(path: string, near: string): string {
  if (path === `${AUTH}${near}`) return 'The URL of a Supabase client must not include /auth/v1: use SUPABASE_URL.'
  return ''
}
