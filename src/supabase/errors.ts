/** The errors of the auth backend, with the messages, codes, statuses and bodies of Supabase Auth (supabase-auth.md, §2). */
import { randomUUID } from 'node:crypto'
import type { RefusedCredential } from '../core/caller.js'
import { PlatformError, refusal } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { TextReply } from '../core/reply.js'
import { fromAnotherState } from '../keys/errors.js'

// Requests.

export const badJson = (why: string) => refusal(400, 'bad_json', `Could not parse request body as JSON: ${why}`)
export const validationFailed = (message: string, status = 400) => refusal(status, 'validation_failed', message)

// Callers.

export const noAuthorization = (tried?: RefusedCredential) =>
  refusal(401, 'no_authorization', 'This endpoint requires a valid Bearer token', { tried })
export const badJwt = (why: string, tried?: RefusedCredential) =>
  refusal(403, 'bad_jwt', `invalid JWT: unable to parse or verify signature, ${why}`, { tried })
export const missingSub = () => refusal(403, 'bad_jwt', 'invalid claim: missing sub claim')
export const subNotUuid = () => refusal(400, 'bad_jwt', 'invalid claim: sub claim must be a UUID')
export const userOfTokenNotFound = (tried?: RefusedCredential) =>
  refusal(403, 'user_not_found', 'User from sub claim in JWT does not exist', { hint: fromAnotherState.user, tried })
export const sessionOfTokenNotFound = (tried?: RefusedCredential) =>
  refusal(403, 'session_not_found', 'Session from session_id claim in JWT does not exist', {
    hint: fromAnotherState.session,
    tried,
  })
export const notAdmin = (message = 'User not allowed', tried?: RefusedCredential) =>
  refusal(403, 'not_admin', message, { tried })

// Signing in and up.

/** `hint` is only for the log: the client must not learn which addresses have a user. */
export const invalidCredentials = (hint?: string) =>
  refusal(400, 'invalid_credentials', 'Invalid login credentials', hint === undefined ? {} : { hint })
export const unknownGrantType = () => refusal(400, 'invalid_credentials', 'unsupported_grant_type')
export const emailNotConfirmed = () => refusal(400, 'email_not_confirmed', 'Email not confirmed')
export const phoneNotConfirmed = () => refusal(400, 'phone_not_confirmed', 'Phone not confirmed')
export const emailToConfirm = () => refusal(422, 'email_not_confirmed', 'Please verify your email first.')
export const phoneToConfirm = () => refusal(422, 'phone_not_confirmed', 'Please verify your phone first.')
export const userBanned = (status = 400, message = 'User is banned', tried?: RefusedCredential) =>
  refusal(status, 'user_banned', message, { tried })
export const userAlreadyExists = () => refusal(422, 'user_already_exists', 'User already registered')
export const emailExists = (status = 422) =>
  refusal(status, 'email_exists', 'A user with this email address has already been registered')
export const phoneExists = (message = 'A user with this phone number has already been registered') =>
  refusal(422, 'phone_exists', message)
export const signupDisabled = () => refusal(422, 'signup_disabled', 'Signups not allowed for this instance')
export const anonymousProviderDisabled = () =>
  refusal(422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled')

export const weakPassword = (message: string, reasons: readonly string[]) =>
  refusal(422, 'weak_password', message, { details: { weak_password: { reasons } } })

/** The tables have refused the change of a user, for example because a trigger failed. `hint` is only for the log. */
export const databaseError = (doing: string, hint: string) =>
  refusal(500, 'unexpected_failure', `Database error ${doing}`, { hint })

// Sessions.

export const refreshTokenNotFound = () =>
  refusal(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found', {
    hint: fromAnotherState.session,
  })
export const refreshTokenUsed = () => refusal(400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used')

// Users.

export const userNotFound = (message = 'User not found') => refusal(404, 'user_not_found', message)
export const idNotUuid = () => validationFailed('user_id must be an UUID', 404)
/** Supabase answers with a 500 here, because its database refuses the row. */
export const idExists = () => refusal(422, 'user_already_exists', 'A user with this ID has already been registered')
export const samePassword = () =>
  refusal(422, 'same_password', 'New password should be different from the old password.')
export const anonymousWithoutAddress = () =>
  refusal(422, 'validation_failed', 'Updating password of an anonymous user without an email or phone is not allowed')

// Accounts at other providers.

export const providerNotEnabled = (why = 'provider is not enabled') => validationFailed(`Unsupported provider: ${why}`)
export const identityExists = (isOwn: boolean) =>
  refusal(422, 'identity_already_exists', `Identity is already linked${isOwn ? '' : ' to another user'}`)
export const identityNotFound = () => refusal(422, 'identity_not_found', "Identity doesn't exist")
export const onlyIdentity = () =>
  refusal(422, 'single_identity_not_deletable', 'User must have at least 1 identity after unlinking')
export const emailConflictOnUnlinking = () =>
  refusal(422, 'email_conflict_identity_not_deletable', 'Unable to unlink identity due to email conflict')
export const linkingUserNotFound = () => refusal(422, 'user_not_found', 'Linking target user not found')
export const multipleAccounts = () =>
  refusal(
    500,
    'unexpected_failure',
    'Multiple accounts with the same email address in the same linking domain detected: default',
  )
/** `code` is another one for a sign-in than for linking. */
export const unverifiedEmail = (code: string, provider: string, isSent: boolean) =>
  refusal(
    422,
    code,
    isSent
      ? `Unverified email with ${provider}. A confirmation email has been sent to your ${provider} email`
      : `Unverified email with ${provider}. Verify the email with ${provider} in order to sign in`,
  )
export const badState = (why: string) => refusal(400, 'bad_oauth_state', `OAuth state ${why}`)
export const badCallback = (message: string) => refusal(400, 'bad_oauth_callback', message)
export const flowStateUsed = () => refusal(400, 'flow_state_already_used', 'State has already been used')
export const noExchange = (code: string) =>
  refusal(500, 'unexpected_failure', `Unable to exchange external code: ${code.slice(0, 4)}`)

/** An error of OAuth, which has its own form (RFC 6749 §5.2). */
export const badIdToken = (description: string, error = 'invalid request') =>
  refusal(400, OAUTH, description, { details: { error } })

// Codes, links and flows.

export const otpExpired = (message = 'Token has expired or is invalid') => refusal(403, 'otp_expired', message)
export const otpDisabled = () => refusal(422, 'otp_disabled', 'Signups not allowed for otp')
export const flowStateNotFound = () =>
  refusal(404, 'flow_state_not_found', 'invalid flow state, no valid flow state found')
export const noFlowForLink = () =>
  refusal(400, 'flow_state_not_found', 'No associated flow state found. 404: No valid flow state found for user.')
export const flowStateExpired = () => refusal(422, 'flow_state_expired', 'invalid flow state, flow state has expired')
export const badCodeVerifier = () =>
  refusal(400, 'bad_code_verifier', 'code challenge does not match previously saved code verifier')

// Ways of signing in that are switched off here, as at a backend that was set up without them.

/** Each endpoint has its own words. */
export const phoneProviderDisabled = (message: string, status = 400) =>
  refusal(status, 'phone_provider_disabled', message)
/** Without phone numbers, there is nobody who could send a text message. */
export const noSmsProvider = () => refusal(500, 'unexpected_failure', 'Unable to get SMS provider')

export const providerDisabled = (message: string) => refusal(400, 'provider_disabled', message)
export const web3Disabled = () => refusal(422, 'web3_provider_disabled', 'Web3 provider is disabled')

const codesByStatus: Readonly<Record<number, string>> = {
  401: 'no_authorization',
  403: 'bad_jwt',
  408: 'request_timeout',
  409: 'conflict',
  429: 'over_request_rate_limit',
  504: 'request_timeout',
}

/** Supabase's code for an error of this status that has no code of its own. */
export const codeOfStatus = (status: number): string =>
  codesByStatus[status] ?? (status < 500 ? 'validation_failed' : 'unexpected_failure')

/** An error of the gateway in front of the auth backend. Its body has a single member. */
export const gatewayRefusal = (message: string, tried: RefusedCredential) =>
  new PlatformError(401, GATEWAY, message, [], { tried })

/** The only response in which Kong names its authentication scheme. */
export const gatewayKeyMissing = () =>
  new PlatformError(401, GATEWAY, 'No API key found in request', ['www-authenticate', 'Key realm="kong"'])

/** The code of errors of the gateway. */
const GATEWAY = 'gateway'

export const isOfGateway = ({ code }: PlatformError) => code === GATEWAY

/** The code of errors in the form of OAuth. */
const OAUTH = 'oauth'

/** From this version on, a request states which error format it understands (supabase-auth.md, §2.1). */
const VERSION = '2024-01-01'

/** Returns the error in the auth backend's format. */
export function authErrorReply(error: PlatformError, request: Pick<Exchange, 'headers'>): TextReply {
  const { status, headers } = error
  switch (error.code) {
    // Errors without a code of Supabase Auth: those of its router and of the gateway.
    case 'not_found':
      return { kind: 'reply', status, contentType: 'text/plain; charset=utf-8', body: '404 page not found\n', headers }
    case 'method_not_allowed':
      return { kind: 'reply', status, contentType: '', body: '', headers }
    case GATEWAY: {
      const body = `{\n  "message":${JSON.stringify(error.message)}\n}`
      return { kind: 'reply', status, contentType: 'application/json; charset=utf-8', body, headers }
    }
    case OAUTH: {
      const body = JSON.stringify({ ...error.more.details, error_description: error.message })
      const version = echoedVersion(request.headers['x-supabase-api-version'])
      return { kind: 'reply', status, contentType: 'application/json', body, headers: [...headers, ...version] }
    }
    default:
      return replyWithCode(error, request.headers['x-supabase-api-version'])
  }
}

/** Supabase's names for errors of our own. */
const supabaseNames: Readonly<Record<string, { readonly code: string; readonly message?: string }>> = {
  state_unavailable: { code: 'unexpected_failure' },
  template_failed: { code: 'unexpected_failure' },
  internal_error: {
    code: 'unexpected_failure',
    message: 'Unexpected failure, please check server logs for more information',
  },
  invalid_json: { code: 'bad_json' },
  unmet_expectation: { code: 'validation_failed' },
  not_one_host: { code: 'validation_failed' },
  body_too_large: {
    code: 'request_entity_too_large',
    message: 'Request body too large (max 1048576 bytes)',
  },
}

const echoedVersion = (asked: string | string[] | undefined) =>
  typeof asked === 'string' && asked >= VERSION ? ['x-supabase-api-version', VERSION] : []

function replyWithCode(error: PlatformError, version: string | string[] | undefined): TextReply {
  const { status, headers, more } = error
  const { code, message = error.message } = supabaseNames[error.code] ?? error
  const echoed = echoedVersion(version)
  const isNew = echoed.length > 0
  const body = isNew
    ? { code, message, ...more.details }
    : {
        code: status,
        error_code: code,
        msg: message,
        ...(status >= 500 && { error_id: randomUUID() }),
        ...more.details,
      }
  return {
    kind: 'reply',
    status,
    contentType: 'application/json',
    body: JSON.stringify(body),
    headers: [...headers, ...echoed, ...(isNew && code === 'weak_password' ? [] : ['x-sb-error-code', code])],
  }
}
