/** Everything that can go wrong with a request, worded here and nowhere else. */
import type { CredentialKind } from './exchange.js'

/** A failure on its way to the client. `code` names it for the log and for code; the client is told `message`. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError'

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Further response headers, as node's flat array of names and values. */
    readonly headers: readonly string[] = [],
    readonly more: {
      /** Said in the log alone, never to the client. */
      readonly hint?: string
      /** Further members of the body on the auth backend. */
      readonly details?: object
    } = {},
  ) {
    super(message)
  }
}

// The document's own (platform-api.md, "Errors"): 404 with the path, 401.

export const notFound = () => new PlatformError(404, 'not_found', 'Not found.')

/** A 401; RFC 9110 §15.5.2 asks for the challenge beside it. */
const unauthorized = (code: string, message: string, hint?: string) =>
  new PlatformError(401, code, message, ['www-authenticate', 'Bearer'], hint === undefined ? {} : { hint })

export const missingCredential = () =>
  unauthorized('missing_credential', 'No credential was sent. Add the header "Authorization: Bearer <credential>".')

export const emptyCredential = () =>
  unauthorized('empty_credential', 'The Authorization header has no credential. Send "Bearer", a space and the key.')

export const wrongScheme = () =>
  unauthorized('wrong_scheme', 'The Authorization header must use the Bearer scheme: "Bearer <credential>".')

export const malformedCredential = () =>
  unauthorized('malformed_credential', 'The credential is malformed. Send "Bearer" and exactly one key or token.')

export const doubledCredential = () =>
  unauthorized('doubled_credential', 'More than one credential was sent. Send exactly one Authorization header.')

export const unknownApiKey = () => unauthorized('unknown_api_key', 'The API key is not known.')

/** To the client the same as a key that is not known; whoever reads the log is told that it was mistyped. */
export const mistypedApiKey = () =>
  unauthorized(
    'mistyped_api_key',
    unknownApiKey().message,
    'Its checksum does not fit: part of it was lost or mistyped.',
  )

export const ownerlessApiKey = () =>
  unauthorized('ownerless_api_key', 'The user whose API key this is may not sign in any more.')

export const revokedApiKey = () => unauthorized('revoked_api_key', 'The API key has been revoked.')

export const expiredApiKey = () => unauthorized('expired_api_key', 'The API key has expired.')

export const expiredToken = () => unauthorized('expired_token', 'The token has expired. Sign in again for a fresh one.')

export const endedSession = () =>
  unauthorized('ended_session', 'The session of this token has ended. Sign in again for a fresh one.')

export const refusedByLive = (code: string) =>
  unauthorized('refused_by_live', 'The live auth backend refuses the token.', `It says ${code}.`)

export const barredUser = () => unauthorized('barred_user', 'The user of this token may not sign in any more.')

export const tokenNotYetValid = () => unauthorized('token_not_yet_valid', 'The token is not valid yet.')

export const tokenWithoutExpiry = () =>
  unauthorized('token_without_expiry', 'The token has no readable expiry time (exp).')

export const unsignedToken = () =>
  unauthorized('alg_not_allowed', 'The token is not signed with an algorithm that is accepted here.')

export const wronglySignedToken = () =>
  unauthorized('wrong_signature', "The token was not signed by this platform's auth backend.")

export const malformedToken = () => unauthorized('malformed_token', 'The token is not a readable JWT.')

export const roleUnknown = () =>
  unauthorized('unknown_role', 'The token has no role that opens anything here. Sign in to get a user token.')

const nameOfKind: Record<CredentialKind, string> = {
  anon: 'the anon key',
  service: 'the service key',
  user: 'a user token',
  apiKey: 'an API key',
}

export const wrongKind = (kind: CredentialKind, accepted: readonly CredentialKind[], endpoint: string) =>
  unauthorized(
    'wrong_kind',
    `${capitalized(nameOfKind[kind])} does not open ${endpoint}. It takes ${alternatives(accepted.map(k => nameOfKind[k]))}.`,
  )

// Not in the document; our choice is design §2: the usual status, and always `{ error }`.

export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  new PlatformError(405, 'method_not_allowed', `${method} is not allowed here. Use ${alternatives(allowed)}.`, [
    'allow',
    allowed.join(', '),
  ])

export const bodyTooLarge = (limitBytes: number) =>
  new PlatformError(413, 'body_too_large', `The request body is larger than ${limitBytes} bytes.`)

export const notJsonContent = (contentType: string) =>
  new PlatformError(
    415,
    'unsupported_media_type',
    `The Content-Type is ${JSON.stringify(contentType.slice(0, 100))}. Send the header "Content-Type: application/json".`,
  )

export const encodedContent = (encoding: string) =>
  new PlatformError(
    415,
    'unsupported_encoding',
    `The request body must not be encoded; its Content-Encoding is ${JSON.stringify(encoding.slice(0, 100))}.`,
    ['accept-encoding', 'identity'],
  )

export const emptyBody = () =>
  new PlatformError(400, 'invalid_json', 'The request body is empty. It must be a JSON object.')

export const notJson = (why: string) =>
  new PlatformError(400, 'invalid_json', `The request body is not valid JSON: ${why}.`)

export const invalidRequest = (sentence: string) => new PlatformError(400, 'invalid_request', sentence)

export const notOneHost = () =>
  new PlatformError(400, 'not_one_host', 'An HTTP/1.1 request needs exactly one Host header.')

export const unmetExpectation = () =>
  new PlatformError(417, 'unmet_expectation', 'The only expectation that can be met is 100-continue.')

export const unreadableRequest = () => new PlatformError(400, 'unreadable_request', 'The request is not valid HTTP.')

export const headersTooLarge = () => new PlatformError(431, 'headers_too_large', 'The request headers are too large.')

export const requestTooSlow = () => new PlatformError(408, 'request_too_slow', 'The request took too long to arrive.')

export const foreignHost = () =>
  new PlatformError(
    403,
    'foreign_host',
    'This address answers only when it is asked by its own name, such as 127.0.0.1.',
  )

export const foreignOrigin = () =>
  new PlatformError(403, 'foreign_origin', 'Pages of another origin may not read this.')

export const noSuchApiKey = () => new PlatformError(404, 'no_such_api_key', 'There is no such API key among yours.')

export const alreadyRevokedApiKey = () =>
  new PlatformError(409, 'already_revoked', 'The API key has been revoked or rolled already. Create a new one.')

export const onlyFromHere = () =>
  new PlatformError(
    403,
    'only_from_here',
    'Users and messages are shown on this machine only, or to whoever sends the service key.',
  )

export const pageNotBuilt = () =>
  new PlatformError(503, 'page_not_built', 'The page of the dashboard is not built yet. Run "npm run build" once.')

/** In auth.mode proxy; the live backend has admins of its own. */
export const adminStaysHere = () =>
  new PlatformError(
    403,
    'admin_stays_here',
    'The service and the secret key of this stand-in open nothing at the live auth backend. Send the live one.',
  )

export const upstreamUnreachable = (why: string) =>
  new PlatformError(502, 'upstream_unreachable', `The live platform could not be reached (${why}).`)

export const upstreamUnreadable = (why: string) =>
  new PlatformError(
    502,
    'upstream_unreadable',
    `The live platform answered with something that is not valid HTTP (${why}).`,
  )

export const upstreamTimeout = (afterMs: number) =>
  new PlatformError(504, 'upstream_timeout', `The live platform did not answer within ${afterMs} ms.`)

export const internalError = () =>
  new PlatformError(500, 'internal_error', 'Something went wrong inside Standin. Its own output says more.')

/** `a`, `a or b`, `a, b or c`. */
export function alternatives(names: readonly string[]): string {
  const last = names.at(-1) ?? 'nothing'
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
