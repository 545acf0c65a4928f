/**
 * All errors that clients get, with status, code and message, except for those of the auth backend (supabase/errors.ts).
 * cli/advice.ts has the log's advice on them.
 */
import type { CredentialKind, RefusedCredential } from './caller.js'

/** An error to send to the client. `code` identifies it in the log and in code; the client gets `message`. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError'

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Further response headers, as node's flat array of names and values. */
    readonly headers: readonly string[] = [],
    readonly more: {
      /** Only for the log, never for the client. */
      readonly hint?: string
      /** Further members of the body on the auth backend. */
      readonly details?: object
      /** A body in the form of the caller's protocol, sent instead with a 200. */
      readonly frame?: object
      /** The credential that was refused. */
      readonly tried?: RefusedCredential | undefined
    } = {},
  ) {
    super(message)
  }
}

/** An error without response headers of its own. */
export const refusal = (status: number, code: string, message: string, more: PlatformError['more'] = {}) =>
  new PlatformError(status, code, message, [], more)

/** RFC 9110 §15.5.2 requires the challenge with a 401. */
const challenge = ['www-authenticate', 'Bearer']

/** Returns a function that takes the refused credential, and a hint that replaces `usualHint`. */
const unauthorized =
  (code: string, message: string, usualHint?: string) =>
  (tried?: RefusedCredential, hint = usualHint) =>
    new PlatformError(401, code, message, challenge, { ...(hint !== undefined && { hint }), tried })

// Documented errors (platform-api.md, "Errors"): 404 with the path, and 401.

export const notFound = () => refusal(404, 'not_found', 'Not found.')

/** For a path that only rules answer, none of which matched. */
export const notFoundByRule = (nearest: string) => refusal(404, 'not_found', notFound().message, { hint: nearest })

/** For a path with dot segments, which could lead out of the live platform's prefix. The client gets the same message. */
export const notFoundWithDots = () =>
  refusal(404, 'not_found', notFound().message, {
    hint: 'Paths with a segment "." or "..", encoded or not, are never sent to the live platform.',
  })

/**
 * For a path that only the live platform may know, if the credential was refused with the given error. The client gets
 * the same message as for an unknown path.
 */
export const notFoundWithoutCredential = ({ message, more: { tried } }: PlatformError) =>
  refusal(404, 'not_found', notFound().message, {
    hint: `The request was not sent to the live platform: ${message}`,
    tried,
  })

export const missingCredential = unauthorized(
  'missing_credential',
  'No credential was sent. Add the header "Authorization: Bearer <credential>".',
)

export const emptyCredential = unauthorized(
  'empty_credential',
  'The Authorization header has no credential. Send "Bearer", a space and the key.',
)

export const wrongScheme = unauthorized(
  'wrong_scheme',
  'The Authorization header must use the Bearer scheme: "Bearer <credential>".',
)

export const malformedCredential = unauthorized(
  'malformed_credential',
  'The credential is malformed. Send "Bearer" and exactly one key or token.',
)

export const doubledCredential = unauthorized(
  'doubled_credential',
  'More than one credential was sent. Send exactly one Authorization header.',
)

const otherState = 'made by a Standin with another state, such as that of another folder'

/** Hints for a valid credential of which the state knows nothing. */
export const fromAnotherState = {
  key: `Its checksum is valid, but this state has no such key. It was probably ${otherState}. Create a key here with standin key create, or start Standin with that state.`,
  session: `This state has no such session: it has ended, or it was ${otherState}.`,
  user: `This state has no such user: the token was probably ${otherState}, or the user was deleted. Sign in here, or start Standin with that state.`,
} as const

const keyNotKnown = 'The API key is not known.'

export const unknownApiKey = unauthorized('unknown_api_key', keyNotKnown)

/** The client gets the same message as for an unknown key. The log says that the key was mistyped. */
export const mistypedApiKey = unauthorized(
  'mistyped_api_key',
  keyNotKnown,
  'Its checksum is wrong: part of the key was lost or mistyped.',
)

export const ownerlessApiKey = unauthorized('ownerless_api_key', 'The owner of this API key can no longer sign in.')

export const revokedApiKey = unauthorized('revoked_api_key', 'The API key has been revoked.')

export const expiredApiKey = unauthorized('expired_api_key', 'The API key has expired.')

export const expiredToken = unauthorized('expired_token', 'The token has expired. Sign in again for a fresh one.')

/** If the state has no such user any more, there is another hint. */
export const endedSession = unauthorized(
  'ended_session',
  'The session of this token has ended. Sign in again for a fresh one.',
  fromAnotherState.session,
)

/** The hint contains the answer of the live backend. */
export const refusedByLive = unauthorized('refused_by_live', 'The live auth backend refuses the token.')

export const barredUser = unauthorized('barred_user', 'The user of this token can no longer sign in.')

export const tokenNotYetValid = unauthorized('token_not_yet_valid', 'The token is not valid yet.')

export const tokenWithoutExpiry = unauthorized('token_without_expiry', 'The token has no readable expiry time (exp).')

export const mistypedClaim = unauthorized('mistyped_claim', 'A claim of the token has the wrong type.')

export const unsignedToken = unauthorized(
  'alg_not_allowed',
  'The token is not signed with an algorithm that is accepted here.',
)

export const wronglySignedToken = unauthorized(
  'wrong_signature',
  "The token was not signed by this platform's auth backend.",
)

export const malformedToken = unauthorized('malformed_token', 'The token is not a readable JWT.')

export const roleUnknown = unauthorized(
  'unknown_role',
  'The token has no role that grants access here. Sign in to get a user token.',
)

const credentialNames: Record<CredentialKind, string> = {
  anon: 'the anon key',
  service: 'the service key',
  user: 'a user token',
  apiKey: 'an API key',
}

export const wrongKind = (kind: CredentialKind, accepted: readonly CredentialKind[], endpoint: string) =>
  new PlatformError(
    401,
    'wrong_kind',
    `${capitalized(credentialNames[kind])} is not accepted by ${endpoint}. Send ${alternatives(accepted.map(k => credentialNames[k]))}.`,
    challenge,
  )

/** For a row that a resource does not have, or that belongs to another user. */
export const noSuchRow = (id: string) => refusal(404, 'not_found', `There is no ${JSON.stringify(shortened(id))} here.`)

/** Shortens what a client sent, so that a sentence can quote it. */
export const shortened = (text: string, most = 100) => (text.length > most ? `${text.slice(0, most)}…` : text)

/** The beginning of what a client sent, in quotes. */
const quoted = (text: string, most = 100) => JSON.stringify(text.slice(0, most))

// Not documented. Our choice (design §2): the usual status, and always `{ error }`.

export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  new PlatformError(405, 'method_not_allowed', `${method} is not allowed here. Use ${alternatives(allowed)}.`, [
    'allow',
    allowed.join(', '),
  ])

export const bodyTooLarge = (limitBytes: number) =>
  refusal(413, 'body_too_large', `The request body is larger than ${limitBytes} bytes.`)

export const notJsonContent = (contentType: string) =>
  refusal(
    415,
    'unsupported_media_type',
    `The Content-Type is ${quoted(contentType)}. Send the header "Content-Type: application/json".`,
  )

/** For a body of a type that an OpenAPI document does not describe. */
export const bodyNotDescribed = (contentType: string, types: readonly string[]) =>
  refusal(415, 'unsupported_media_type', `The Content-Type is ${quoted(contentType)}. Send ${alternatives(types)}.`)

export const encodedContent = (encoding: string) =>
  new PlatformError(
    415,
    'unsupported_encoding',
    `The request body must not be encoded; its Content-Encoding is ${quoted(encoding)}.`,
    ['accept-encoding', 'identity'],
  )

export const emptyBody = () => refusal(400, 'invalid_json', 'The request body is empty. It must be a JSON object.')

export const notJson = (why: string) => refusal(400, 'invalid_json', `The request body is not valid JSON: ${why}.`)

export const tooDeep = (most: number) =>
  refusal(400, 'invalid_json', `The request body has more than ${most} levels of objects and arrays.`)

export const tooManyValues = (most: number) =>
  refusal(400, 'invalid_json', `The request body has more than ${most} strings, commas and brackets.`)

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MB`

export const answerTooLarge = (bytes: number, most: number) =>
  invalidRequest(
    `The answer would be about ${megabytes(bytes)}, and the limit is ${megabytes(most)}. Ask for fewer choices (n) or fewer tokens (max_tokens).`,
  )

export const invalidRequest = (sentence: string) => refusal(400, 'invalid_request', sentence)

export const rowExists = (id: string) =>
  refusal(409, 'row_exists', `There is a row with the id ${JSON.stringify(shortened(id))} already. Choose another id.`)

export const rowChanged = () =>
  refusal(412, 'row_changed', 'The row has changed since: its ETag is not the one in If-Match. Read it again.')

export const foreignRow = (sentence: string) => refusal(403, 'foreign_row', sentence)

/** For `requests: strict`, with OpenAI's code and message. */
export const refusedAsByOpenai = ({ code, message }: { readonly code: string; readonly message: string }) =>
  refusal(400, code, message, {
    hint: 'OpenAI refuses this request, and the option requests is strict. With warn, it is answered and reported here.',
  })

/** A 424, because clients do not retry it, and a retry would give the same result. */
export const noRuleMatches = (nearest: string) =>
  refusal(424, 'no_rule_matches', `No rule matches this request, and strict is on. ${nearest}`)

/** For an app that uses the platform as a handler and has already read the body. */
export const bodyIsGone = () =>
  refusal(
    500,
    'body_is_gone',
    'The body was already read when the request reached platform.handler. Mount it before the middleware that reads bodies.',
  )

/** A mounted platform cannot know which other machines can reach its server. */
export const loopbackOnly = () =>
  refusal(
    403,
    'loopback_only',
    'The control API of a mounted platform answers on loopback addresses only, such as 127.0.0.1.',
  )

/** For handlers that outlive their platform. */
export const hasStopped = () => refusal(503, 'has_stopped', 'The platform has been stopped.')

/** A 424 as well. `title` describes the request; `why` is a sentence that names the closest recording, if there is any. */
export const noRecording = (title: string, why: string) =>
  refusal(424, 'no_recording', `No recording matches ${title}. ${why}`)

/** `why` is the reason why no value can be generated for the schema in `field`. */
export const unfitSchema = (field: string, why: string) =>
  refusal(400, 'unfit_schema', `${field} cannot be answered: ${why}.`)

// Answers from OpenAPI documents.

/** For a request whose `Prefer` header asks for a response or an example that its operation does not have. */
export const notInDocument = (what: string, operation: string, known: readonly string[]) =>
  refusal(
    404,
    'not_in_document',
    `${operation} does not have ${what}. ${known.length === 0 ? 'It has none.' : `It has ${listOf(known)}.`}`,
  )

export const notAcceptable = (operation: string, types: readonly string[]) =>
  refusal(406, 'not_acceptable', `${operation} answers with ${alternatives(types)}. Accept one of them.`)

export const noFittingValue = (operation: string, why: string) =>
  refusal(500, 'no_fitting_value', `${operation} cannot be answered: ${why}.`)

// Limits of one credential. The headers say when to try again.

export const tooManyRequests = (headers: readonly string[], limit: number, wait: string) =>
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

export const tooManyTokens = (headers: readonly string[], { limit, used, requested }: TokenCounts, wait: string) =>
  new PlatformError(
    429,
    'too_many_tokens',
    `Rate limit reached for tokens: ${limit} per minute, ${used} used, ${requested} requested. Try again in ${wait}.`,
    headers,
  )

export const requestTooLarge = (headers: readonly string[], limit: number, requested: number) =>
  new PlatformError(
    429,
    'request_too_large',
    `Request too large: the limit is ${limit} tokens per minute, and the prompt alone has ${requested}. Make it shorter; waiting does not help.`,
    headers,
  )

export const tooManyStreams = (headers: readonly string[], limit: number) =>
  new PlatformError(
    429,
    'too_many_streams',
    `Rate limit reached for streams: ${limit} at the same time, and all are open. Wait until one has ended.`,
    headers,
  )

export const promptTooLong = (limit: number, tokens: number) =>
  refusal(
    400,
    'prompt_too_long',
    `This model's maximum prompt is ${limit} tokens; yours has ${tokens}. Make it shorter.`,
  )

export const notOneHost = () => refusal(400, 'not_one_host', 'An HTTP/1.1 request needs exactly one Host header.')

export const unmetExpectation = () =>
  refusal(417, 'unmet_expectation', 'The only supported expectation is 100-continue.')

export const unreadableRequest = () => refusal(400, 'unreadable_request', 'The request is not valid HTTP.')

export const headersTooLarge = () => refusal(431, 'headers_too_large', 'The request headers are too large.')

export const requestTooSlow = () => refusal(408, 'request_too_slow', 'The request took too long to arrive.')

/** For a word such as `standin:slwo` in a prompt. `near` is a sentence that suggests the intended word. */
export const unknownMagic = (written: string, near: string, words: readonly string[]) =>
  refusal(
    400,
    'unknown_magic',
    `The prompt says ${quoted(written)}, which is not a magic word.${near} After "standin:" use ${alternatives(words)}.`,
  )

export const noToolOffered = (written: string) =>
  refusal(400, 'no_tool_offered', `The prompt says "${written}", but the request offers no tool to call.`)

export const toolNotOffered = (name: string, near: string, offered: readonly string[]) =>
  refusal(
    400,
    'tool_not_offered',
    `The prompt asks for the tool ${quoted(name)}, which the request does not offer.${near} It offers ${alternatives(offered)}.`,
  )

export const templateFailed = (rule: string, sentence: string) =>
  refusal(500, 'template_failed', `A template of ${rule} failed. ${sentence}`)

export const foreignHost = () =>
  refusal(
    403,
    'foreign_host',
    'This address must be called by its own name, such as 127.0.0.1. Under any other name, the control API only answers requests with the control token, and no pages.',
  )

export const foreignOrigin = () => refusal(403, 'foreign_origin', 'Pages of another origin may not read this.')

/** Why a request counts as foreign: the page's origin, or the host name that it used. */
export interface ForeignSource {
  readonly kind: 'origin' | 'host'
  readonly name: string
}

/** Only for the log: a page must not learn how to get access. */
function howToAllow({ kind, name }: ForeignSource): string {
  const shown = JSON.stringify(kind === 'host' ? `http://${name.slice(0, 100)}` : name.slice(0, 100))
  if (name === 'null')
    return 'Sandboxed frames, local files and links without a referrer have no origin. Only cors.origins: ["*"] allows them, along with every other page.'
  return kind === 'origin'
    ? `If ${shown} is your own page, add it to the option cors.origins.`
    : `If that is a name of this machine, add ${shown} to the option cors.origins, or set the option host to it.`
}

const foreign = (source: ForeignSource, message: string) =>
  refusal(403, source.kind === 'origin' ? 'foreign_origin' : 'foreign_host', message, { hint: howToAllow(source) })

export const foreignToLive = (source: ForeignSource) =>
  foreign(
    source,
    source.kind === 'origin'
      ? 'Pages of this origin may not use the live platform through this address.'
      : 'The live platform cannot be used through this address under this host name.',
  )

/** Only for pages: an MCP server may be called under any host name. */
export const foreignToTools = (source: ForeignSource) =>
  foreign(source, 'Pages of this origin may not call MCP servers here.')

export const foreignAdmin = (source: ForeignSource) => {
  const where = source.kind === 'origin' ? 'from pages of this origin' : 'under this host name'
  return foreign(source, `Admin keys are not accepted ${where}.`)
}

export const refusedByRule = unauthorized('refused_by_rule', 'The credential was refused, because a rule says so.')

export const insufficientScope = () =>
  new PlatformError(
    403,
    'insufficient_scope',
    'The scope of the credential is not sufficient, because a rule says so.',
    ['www-authenticate', 'Bearer error="insufficient_scope", scope="mcp:tools"'],
  )

export const noSuchApiKey = () => refusal(404, 'no_such_api_key', 'You have no such API key.')

export const alreadyRevokedApiKey = () =>
  refusal(409, 'already_revoked', 'The API key has already been revoked or rolled. Create a new one.')

export const usersAreLive = () =>
  refusal(409, 'users_are_live', 'auth.mode is proxy: users and their tokens are those of the live backend.')

// The control API at an address that other machines can reach.

const howToControl =
  'Add the header "Authorization: Bearer <control token>": the option controlToken, or the token printed at startup. With your own auth.jwtSecret, the service key works too.'

export const missingControlToken = unauthorized(
  'missing_control_token',
  `The control API needs a credential here, because other machines can reach this address. ${howToControl}`,
)

export const unknownControlToken = unauthorized(
  'unknown_control_token',
  `This is neither the control token nor the service key. ${howToControl}`,
)

export const notForControl = () =>
  refusal(403, 'not_for_control', `This credential does not give access to the control API. ${howToControl}`)

export const publicServiceKey = () =>
  refusal(
    403,
    'public_service_key',
    `The service key is not accepted here: it is signed with the public default of auth.jwtSecret, so anyone can create it. ${howToControl}`,
  )

export const noSuchExchange = (id: string, lastId?: string) =>
  refusal(
    404,
    'no_such_exchange',
    Number(id) > 0 && Number(id) <= Number(lastId ?? 0)
      ? `Exchange ${id} is no longer kept. It was cleared, or is not among the latest ones: the journal keeps only those, and under heavy load only some.`
      : `There is no exchange ${quoted(id, 40)} in the journal. Ids start over when Standin restarts.`,
  )

export const notRepeatable = () =>
  refusal(
    409,
    'not_repeatable',
    'This request cannot be sent again: the journal has only the beginning of its body, or none of it.',
  )

export const noSuchSession = (id: string) =>
  refusal(404, 'no_such_session', `There is no session ${quoted(id, 60)}, or it has ended.`)

export const noSuchUser = (id: string) =>
  refusal(404, 'no_such_user', `There is no user with the id ${quoted(id, 60)}.`)

export const noSuchRecording = (file: string) =>
  refusal(404, 'no_such_recording', `There is no recording ${quoted(file, 200)}.`)

export const recordingsUnreadable = (sentence: string) => refusal(409, 'recordings_unreadable', sentence)

export const modeNotPossible = (sentences: readonly string[]) => refusal(409, 'mode_not_possible', sentences.join(' '))

export const noSuchResource = (path: string, nearest: string) =>
  refusal(404, 'no_such_resource', `There is no resource ${JSON.stringify(shortened(path))}.${nearest}`)

export const noSuchMcpItem = (what: string, name: string, nearest: string) =>
  refusal(404, 'no_such_mcp_item', `There is no ${what} ${JSON.stringify(shortened(name))}.${nearest}`)

export const noSuchRule = (id: string) =>
  refusal(404, 'no_such_rule', `There is no rule with the id ${quoted(id, 200)}.`)

export const tooManyFaults = (most: number) =>
  refusal(409, 'too_many_faults', `At most ${most} faults can be waiting. Remove some: DELETE /__standin/faults.`)

export const tooManyRules = (most: number) =>
  refusal(
    409,
    'too_many_rules',
    `At most ${most} rules can be added while Standin runs. Remove some: DELETE /__standin/replies.`,
  )

export const noSuchFault = (id: string) =>
  refusal(404, 'no_such_fault', `There is no waiting fault with the id ${quoted(id, 40)}.`)

/** `why` continues the sentence. */
export const notForARule = (why: string) =>
  refusal(409, 'not_for_a_rule', `No rule can be created from this exchange, because ${why}.`)

export const pageNotBuilt = () =>
  refusal(503, 'page_not_built', 'The dashboard is not built yet. Run "npm run build" once.')

/** For auth.mode proxy. The live backend has its own admins. */
export const adminStaysHere = () =>
  refusal(
    403,
    'admin_stays_here',
    'The live auth backend does not accept the service key or secret key of this stand-in. Send the live one.',
  )

export const upstreamUnreachable = (why: string) =>
  refusal(502, 'upstream_unreachable', `The live platform could not be reached (${why}).`)

export const upstreamUntrusted = (why: string) =>
  refusal(502, 'upstream_untrusted', upstreamUnreachable(why).message, {
    hint: 'Its certificate is not signed by a known authority. To accept it, start Standin with NODE_EXTRA_CA_CERTS=FILE, the certificate as PEM.',
  })

export const upstreamUnreadable = (why: string) =>
  refusal(502, 'upstream_unreadable', `The live platform answered with something that is not valid HTTP (${why}).`)

export const upstreamTimeout = (afterMs: number) =>
  refusal(504, 'upstream_timeout', `The live platform did not answer within ${afterMs} ms.`)

// Faults.

/** The default message for each status. */
const faultMessages: Readonly<Record<number, string>> = {
  400: 'The request cannot be understood.',
  401: 'The credential is not accepted.',
  402: 'The account has no credit left.',
  403: 'This is not allowed.',
  404: 'Not found.',
  408: 'The request took too long to arrive.',
  409: 'The request conflicts with another one.',
  413: 'The request body is too large.',
  422: 'The request cannot be processed.',
  429: 'Too many requests. Slow down and try again.',
  500: 'Something went wrong on the server.',
  502: 'The server behind this one gave no valid answer.',
  503: 'The service is not available at the moment. Try again later.',
  504: 'The server behind this one did not answer in time.',
  529: 'The service is overloaded. Try again later.',
}

interface ErrorFault {
  readonly status: number
  readonly message?: string | undefined
  /** In seconds. */
  readonly retryAfter?: number | undefined
}

/** The error for a fault with a status. `code` is the auth backend's code. */
export const faultError = ({ status, message, retryAfter }: ErrorFault, code: string, hint: string) =>
  new PlatformError(
    status,
    code,
    message ?? faultMessages[status] ?? `The answer is an error with status ${status}.`,
    [
      ...(status === 401 ? ['www-authenticate', 'Bearer'] : []),
      ...(retryAfter === undefined ? [] : ['retry-after', String(retryAfter)]),
    ],
    { hint },
  )

/** The error event at the end of a stream. */
export const brokenStream = 'Something went wrong on the server while the answer was being sent.'

/**
 * An error as an event of a stream, in OpenAI's format: the platform's document covers HTTP errors only, and the AI SDK
 * shows no other format.
 */
export const errorEvent = (message: string) => ({ error: { message, type: 'server_error', param: null, code: null } })

/** For state storage that is unavailable, full or damaged. `sentence` names it, without credentials. */
export const stateUnavailable = (sentence: string) => refusal(503, 'state_unavailable', sentence)

export const isStateUnavailable = (error: unknown) =>
  error instanceof PlatformError && error.code === stateUnavailable('').code

export const internalError = () =>
  refusal(500, 'internal_error', 'Something went wrong inside Standin. See its output for details.')

/** Joins names: `a`, `a or b`, `a, b or c`. */
export function alternatives(names: readonly string[]): string {
  const last = names.at(-1) ?? 'nothing'
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
}

/** Joins names: `a`, `a and b`, `a, b and c`. */
const listOf = (names: readonly string[]) => alternatives(names).replace(/ or (?=[^,]*$)/, ' and ')

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
