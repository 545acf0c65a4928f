/** Everything that can go wrong with a request, worded here and nowhere else. */

import type { Tried } from './caller.js'
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
      /** The credential that it refuses. */
      readonly tried?: Tried | undefined
    } = {},
  ) {
    super(message)
  }
}

// The document's own (platform-api.md, "Errors"): 404 with the path, 401.

export const notFound = () => new PlatformError(404, 'not_found', 'Not found.')

/** For a path that perhaps the live platform knows; to the client the same. The argument is the refusal of the credential. */
export const notFoundUnasked = ({ message, more: { tried } }: PlatformError) =>
  new PlatformError(404, 'not_found', notFound().message, [], {
    hint: `The live platform was not asked: ${message}`,
    tried,
  })

/** A 401; RFC 9110 §15.5.2 asks for the challenge beside it. */
const unauthorized = (code: string, message: string, more: PlatformError['more'] = {}) =>
  new PlatformError(401, code, message, ['www-authenticate', 'Bearer'], more)

export const missingCredential = () =>
  unauthorized('missing_credential', 'No credential was sent. Add the header "Authorization: Bearer <credential>".')

export const emptyCredential = (tried?: Tried) =>
  unauthorized('empty_credential', 'The Authorization header has no credential. Send "Bearer", a space and the key.', {
    tried,
  })

export const wrongScheme = (tried?: Tried) =>
  unauthorized('wrong_scheme', 'The Authorization header must use the Bearer scheme: "Bearer <credential>".', { tried })

export const malformedCredential = (tried?: Tried) =>
  unauthorized('malformed_credential', 'The credential is malformed. Send "Bearer" and exactly one key or token.', {
    tried,
  })

export const doubledCredential = (tried?: Tried) =>
  unauthorized('doubled_credential', 'More than one credential was sent. Send exactly one Authorization header.', {
    tried,
  })

const byAnother = 'made by a Standin with another state, such as that of another folder'

/** What the log says of a good credential where the state has nothing that belongs to it, and what to do. */
export const fromAnotherState = {
  key: `Its checksum is right, but this state has no such key: it was probably ${byAnother}. Make a key here with standin key create, or start Standin with that state.`,
  session: `This state has no such session: it has ended, or it was ${byAnother}.`,
  user: `This state has no such user: the token was probably ${byAnother}, or the user was deleted. Sign in here, or start Standin with that state.`,
} as const

export const unknownApiKey = (tried?: Tried, hint?: string) =>
  unauthorized('unknown_api_key', 'The API key is not known.', { ...(hint !== undefined && { hint }), tried })

/** To the client the same as a key that is not known; whoever reads the log is told that it was mistyped. */
export const mistypedApiKey = (tried?: Tried) =>
  unauthorized('mistyped_api_key', unknownApiKey().message, {
    hint: 'Its checksum does not fit: part of it was lost or mistyped.',
    tried,
  })

export const ownerlessApiKey = (tried?: Tried) =>
  unauthorized('ownerless_api_key', 'The user whose API key this is may not sign in any more.', { tried })

export const revokedApiKey = (tried?: Tried) =>
  unauthorized('revoked_api_key', 'The API key has been revoked.', { tried })

export const expiredApiKey = (tried?: Tried) => unauthorized('expired_api_key', 'The API key has expired.', { tried })

export const expiredToken = (tried?: Tried) =>
  unauthorized('expired_token', 'The token has expired. Sign in again for a fresh one.', { tried })

/** `missing` is what the state does not have. */
export const endedSession = (tried?: Tried, missing: 'session' | 'user' = 'session') =>
  unauthorized('ended_session', 'The session of this token has ended. Sign in again for a fresh one.', {
    hint: fromAnotherState[missing],
    tried,
  })

export const refusedByLive = (code: string) =>
  unauthorized('refused_by_live', 'The live auth backend refuses the token.', {
    hint: `It says ${code}.`,
    tried: { kind: 'token', reason: 'live' },
  })

export const barredUser = (tried?: Tried) =>
  unauthorized('barred_user', 'The user of this token may not sign in any more.', { tried })

export const tokenNotYetValid = (tried?: Tried) =>
  unauthorized('token_not_yet_valid', 'The token is not valid yet.', { tried })

export const tokenWithoutExpiry = (tried?: Tried) =>
  unauthorized('token_without_expiry', 'The token has no readable expiry time (exp).', { tried })

export const mistypedClaim = (tried?: Tried) =>
  unauthorized('mistyped_claim', 'A claim of the token has the wrong type.', { tried })

export const unsignedToken = (tried?: Tried) =>
  unauthorized('alg_not_allowed', 'The token is not signed with an algorithm that is accepted here.', { tried })

export const wronglySignedToken = (tried?: Tried) =>
  unauthorized('wrong_signature', "The token was not signed by this platform's auth backend.", { tried })

export const malformedToken = (tried?: Tried) =>
  unauthorized('malformed_token', 'The token is not a readable JWT.', { tried })

export const roleUnknown = (tried?: Tried) =>
  unauthorized('unknown_role', 'The token has no role that opens anything here. Sign in to get a user token.', {
    tried,
  })

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

export const tooDeep = (most: number) =>
  new PlatformError(400, 'invalid_json', `The request body has more than ${most} levels of objects and arrays.`)

export const tooManyValues = (most: number) =>
  new PlatformError(400, 'invalid_json', `The request body has more than ${most} texts, values and brackets.`)

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MB`

export const answerTooLarge = (bytes: number, most: number) =>
  invalidRequest(
    `The answer would be about ${megabytes(bytes)}, and the limit is ${megabytes(most)}. Ask for fewer choices (n), fewer top_logprobs, or fewer tokens (max_tokens).`,
  )

export const answerTakesTooLong = (why: string) =>
  invalidRequest(`The answer cannot be made. ${why} Send a shorter prompt, or ask for a shorter answer.`)

export const rulesTakeTooLong = (why: string) => invalidRequest(`The rules cannot be read. ${why} Send fewer at once.`)

export const invalidRequest = (sentence: string) => new PlatformError(400, 'invalid_request', sentence)

/** In OpenAI's words, where the option requests is strict. */
export const refusedAsByOpenai = ({ code, message }: { readonly code: string; readonly message: string }) =>
  new PlatformError(400, code, message, [], {
    hint: 'OpenAI refuses this, and requests is strict; with warn it is answered and reported here.',
  })

/** A 424, which clients do not try again: trying again would change nothing. */
export const noRuleMatches = (nearest: string) =>
  new PlatformError(424, 'no_rule_matches', `No rule matches this request, and strict is on. ${nearest}`)

/** An app that has the platform as one of its handlers has read the body by itself. */
export const bodyIsGone = () =>
  new PlatformError(
    500,
    'body_is_gone',
    'The body was read before the request came to platform.handler. Mount it before whatever reads bodies.',
  )

/** A mounted platform cannot know who else reaches the server that it is mounted in. */
export const loopbackOnly = () =>
  new PlatformError(
    403,
    'loopback_only',
    'A mounted platform is steered on loopback addresses only, such as 127.0.0.1.',
  )

/** For handlers that outlive their platform. */
export const noFileDescriptors = () =>
  new PlatformError(503, 'no_file_descriptors', 'Standin cannot open another file. Try again later.', [], {
    hint: 'Too many files and connections are open. Close some connections, or allow more with "ulimit -n".',
  })

export const hasStopped = () => new PlatformError(503, 'has_stopped', 'The platform has been stopped.')

/** A 424 as well. `why` is a sentence that names the nearest recording, or says that there is none. */
export const noRecording = ({ method, path }: { readonly method: string; readonly path: string }, why: string) =>
  new PlatformError(424, 'no_recording', `No recording matches ${method} ${path}. ${why}`)

/** `why` is what the maker of values says of the schema in `field`. */
export const unfitSchema = (field: string, why: string) =>
  new PlatformError(400, 'unfit_schema', `${field} cannot be answered: ${why}.`)

// What is too much of one credential; the headers say when to come again.

type Headers = readonly string[]

export const tooManyRequests = (limit: number, wait: string, headers: Headers) =>
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

export const tooManyTokens = ({ limit, used, requested }: TokenCounts, wait: string, headers: Headers) =>
  new PlatformError(
    429,
    'too_many_tokens',
    `Rate limit reached for tokens: ${limit} per minute, ${used} used, ${requested} requested. Try again in ${wait}.`,
    headers,
  )

export const requestTooLarge = (limit: number, requested: number, headers: Headers) =>
  new PlatformError(
    429,
    'request_too_large',
    `Request too large: the limit is ${limit} tokens per minute, and the prompt alone has ${requested}. Make it shorter; waiting does not help.`,
    headers,
  )

export const tooManyStreams = (limit: number, headers: Headers) =>
  new PlatformError(
    429,
    'too_many_streams',
    `Rate limit reached for streams: ${limit} at the same time, and all are open. Wait until one has ended.`,
    headers,
  )

export const promptTooLong = (limit: number, tokens: number) =>
  new PlatformError(
    400,
    'prompt_too_long',
    `This model's maximum prompt is ${limit} tokens; yours has ${tokens}. Make it shorter.`,
  )

export const notOneHost = () =>
  new PlatformError(400, 'not_one_host', 'An HTTP/1.1 request needs exactly one Host header.')

export const unmetExpectation = () =>
  new PlatformError(417, 'unmet_expectation', 'The only expectation that can be met is 100-continue.')

export const unreadableRequest = () => new PlatformError(400, 'unreadable_request', 'The request is not valid HTTP.')

export const headersTooLarge = () => new PlatformError(431, 'headers_too_large', 'The request headers are too large.')

export const requestTooSlow = () => new PlatformError(408, 'request_too_slow', 'The request took too long to arrive.')

/** A word such as `standin:slwo` in a prompt; `near` is the sentence that names the one that was meant. */
export const unknownMagic = (written: string, near: string, words: readonly string[]) =>
  new PlatformError(
    400,
    'unknown_magic',
    `The prompt says ${JSON.stringify(written.slice(0, 100))}, which is no magic word.${near} Behind "standin:" may stand ${alternatives(words)}.`,
  )

export const noToolOffered = (written: string) =>
  new PlatformError(400, 'no_tool_offered', `The prompt says "${written}", but the request offers no tool to call.`)

export const toolNotOffered = (name: string, near: string, offered: readonly string[]) =>
  new PlatformError(
    400,
    'tool_not_offered',
    `The prompt asks for the tool ${JSON.stringify(name.slice(0, 100))}, which the request does not offer.${near} It offers ${alternatives(offered)}.`,
  )

export const templateFailed = (rule: string, sentence: string) =>
  new PlatformError(500, 'template_failed', `A template of ${rule} failed. ${sentence}`)

export const expressionTakesTooLong = (expression: RegExp) =>
  new PlatformError(
    500,
    'expression_failed',
    `The expression ${String(expression).slice(0, 200)} of a rule takes too long for this request. Write it without repetitions inside or behind one another.`,
  )

export const foreignHost = () =>
  new PlatformError(
    403,
    'foreign_host',
    'This address answers only when it is asked by its own name, such as 127.0.0.1. Under another one the control API answers whoever sends the control token, but no page.',
  )

export const foreignOrigin = () =>
  new PlatformError(403, 'foreign_origin', 'Pages of another origin may not read this.')

/** What a request says that shows where it comes from: the origin of a page, or the name that it calls this machine. */
export interface Stranger {
  readonly kind: 'origin' | 'host'
  readonly name: string
}

/** Said in the log alone: a page is not told how to get in. */
function howToLetIn({ kind, name }: Stranger): string {
  const shown = JSON.stringify(kind === 'host' ? `http://${name.slice(0, 100)}` : name.slice(0, 100))
  if (name === 'null')
    return 'Sandboxed frames, local files and links without a referrer have no origin of their own. Only cors.origins: ["*"] lets them in, and with them every page.'
  return kind === 'origin'
    ? `If ${shown} is a page of yours, add it to the option cors.origins.`
    : `If that is a name of this machine, add ${shown} to the option cors.origins, or set the option host to it.`
}

export const foreignToLive = (stranger: Stranger) =>
  new PlatformError(
    403,
    stranger.kind === 'origin' ? 'foreign_origin' : 'foreign_host',
    stranger.kind === 'origin'
      ? 'Pages of this origin may not use the live platform through this address.'
      : 'The live platform cannot be used through this address under this host name.',
    [],
    { hint: howToLetIn(stranger) },
  )

export const foreignAdmin = (stranger: Stranger) =>
  new PlatformError(
    403,
    stranger.kind === 'origin' ? 'foreign_origin' : 'foreign_host',
    `Admin keys are not accepted ${stranger.kind === 'origin' ? 'from pages of this origin' : 'under this host name'}.`,
    [],
    { hint: howToLetIn(stranger) },
  )

export const noSuchApiKey = () => new PlatformError(404, 'no_such_api_key', 'There is no such API key among yours.')

export const alreadyRevokedApiKey = () =>
  new PlatformError(409, 'already_revoked', 'The API key has been revoked or rolled already. Create a new one.')

export const onlyFromHere = () =>
  new PlatformError(
    403,
    'only_from_here',
    'Users and messages are shown on this machine only. From another one they take the control token, or a service key that is signed with an auth.jwtSecret of your own.',
  )

export const usersAreLive = () =>
  new PlatformError(409, 'users_are_live', 'auth.mode is proxy: users and their tokens are those of the live backend.')

// The control API, where others can reach the address.

const howToControl =
  'Add the header "Authorization: Bearer <control token>": it is the option controlToken, or the one that was printed at the start. With an auth.jwtSecret of your own the service key opens it as well.'

export const missingControlToken = () =>
  unauthorized(
    'missing_control_token',
    `The control API is closed here: others can reach this address. ${howToControl}`,
  )

export const unknownControlToken = () =>
  unauthorized('unknown_control_token', `This is neither the control token nor the service key. ${howToControl}`)

export const notForControl = () =>
  new PlatformError(403, 'not_for_control', `This credential does not open the control API. ${howToControl}`)

export const publicServiceKey = () =>
  new PlatformError(
    403,
    'public_service_key',
    `The service key opens nothing here: it is signed with a public auth.jwtSecret, so that everybody can make it. ${howToControl}`,
  )

export const noSuchExchange = (id: string) =>
  new PlatformError(
    404,
    'no_such_exchange',
    `There is no exchange ${JSON.stringify(id.slice(0, 40))} in the journal. It keeps the last ones only (options journal.maxEntries and journal.maxBytes).`,
  )

export const noSuchSession = (id: string) =>
  new PlatformError(404, 'no_such_session', `There is no session ${JSON.stringify(id.slice(0, 60))}, or it has ended.`)

export const noSuchRecording = (file: string) =>
  new PlatformError(404, 'no_such_recording', `There is no recording ${JSON.stringify(file.slice(0, 200))}.`)

export const recordingsUnreadable = (sentence: string) => new PlatformError(409, 'recordings_unreadable', sentence)

/** `why` is the rest of a sentence. */
export const cannotBeRecorded = (why: string) =>
  new PlatformError(409, 'cannot_be_recorded', `This exchange cannot be a recording, because ${why}.`)

export const alreadyRecorded = (file: string, count: number) =>
  new PlatformError(
    409,
    'already_recorded',
    `This request is recorded already, in ${file}${count > 1 ? ` and ${count - 1} more` : ''}. It was left alone. Say whether to replace it or to append to it.`,
  )

export const notWritten = (place: string, code: string) =>
  new PlatformError(409, 'not_written', `Nothing can be written into ${place} (${code}).`)

export const modeNotPossible = (sentences: readonly string[]) =>
  new PlatformError(409, 'mode_not_possible', sentences.join(' '))

export const noSuchRule = (id: string) =>
  new PlatformError(404, 'no_such_rule', `No rule that was added at run time has the id ${JSON.stringify(id)}.`)

export const tooManyFaults = (most: number) =>
  new PlatformError(
    409,
    'too_many_faults',
    `No more than ${most} faults can wait. Remove some: DELETE /__standin/faults.`,
  )

export const tooManyRules = (most: number) =>
  new PlatformError(
    409,
    'too_many_rules',
    `No more than ${most} rules can be added while Standin runs. Remove some: DELETE /__standin/replies.`,
  )

export const noSuchFault = (id: string) =>
  new PlatformError(
    404,
    'no_such_fault',
    `No fault with the id ${JSON.stringify(id.slice(0, 40))} waits for a request.`,
  )
/** `why` is the rest of a sentence. */
export const notForARule = (why: string) =>
  new PlatformError(409, 'not_for_a_rule', `No rule can be made of this exchange, because ${why}.`)

/** `why` is a sentence. */
export const ruleNotKept = (why: string) =>
  new PlatformError(409, 'rule_not_kept', `The rule is not kept in a file. ${why}`)

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

export const upstreamUntrusted = (why: string) =>
  new PlatformError(502, 'upstream_untrusted', upstreamUnreachable(why).message, [], {
    hint: 'Nobody who is known here vouches for its certificate. The option upstream.insecure accepts it all the same.',
  })

export const upstreamUnreadable = (why: string) =>
  new PlatformError(
    502,
    'upstream_unreadable',
    `The live platform answered with something that is not valid HTTP (${why}).`,
  )

export const upstreamTimeout = (afterMs: number) =>
  new PlatformError(504, 'upstream_timeout', `The live platform did not answer within ${afterMs} ms.`)

// Faults: what was asked to go wrong.

/** What is said with a status where nobody chose a text. */
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
  /** Seconds. */
  readonly retryAfter?: number | undefined
}

/** The error that a fault with a status asks for; `code` is what the auth backend calls it. */
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

/** What a stream says that ends in an error. */
export const brokenStream = 'Something went wrong on the server while the answer was on its way.'

/** An error as an event of a stream, in OpenAI's form: the AI SDK shows no other, and the platform's document covers HTTP errors only. */
export const errorEvent = (message: string) => ({ error: { message, type: 'server_error', param: null, code: null } })

export const faultsByHeaderOff = (header: string) =>
  new PlatformError(
    400,
    'faults_by_header_off',
    `Header ${header}: faults by header are switched off here. Leave it out, or set the option faults.header to true.`,
  )

/** Where the state is kept is away, full or damaged. `sentence` names it without credentials. */
export const stateUnavailable = (sentence: string) => new PlatformError(503, 'state_unavailable', sentence)

export const isStateUnavailable = (error: unknown) =>
  error instanceof PlatformError && error.code === stateUnavailable('').code

export const internalError = () =>
  new PlatformError(500, 'internal_error', 'Something went wrong inside Standin. Its own output says more.')

/** `a`, `a or b`, `a, b or c`. */
export function alternatives(names: readonly string[]): string {
  const last = names.at(-1) ?? 'nothing'
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
