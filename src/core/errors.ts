/**
 * Errors that clients get, with status, code and message. Those of one feature are in its folder, in the same form.
 * journal/advice.ts has the advice on them.
 */
import type { RefusedCredential } from './caller.js'
import { unknownPathAdvice } from './paths.js'

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
export const challenge = ['www-authenticate', 'Bearer']

/** Returns a function that takes the refused credential, and a hint that replaces `usualHint`. */
export const unauthorized =
  (code: string, message: string, usualHint?: string) =>
  (tried?: RefusedCredential, hint = usualHint) =>
    new PlatformError(401, code, message, challenge, { ...(hint !== undefined && { hint }), tried })

// Documented errors (platform-api.md, "Errors"): 404 with the path, and 401.

/** The message says what to do if the path is one that clients know from elsewhere. */
export const notFound = (path = '', more: PlatformError['more'] = {}) =>
  refusal(404, 'not_found', ['Not found.', unknownPathAdvice(path) ?? []].flat().join(' '), more)

/** For a path that only rules answer, none of which matched. */
export const notFoundByRule = (path: string, nearest: string) => notFound(path, { hint: nearest })

/** For a path with dot segments, which could lead out of the live platform's prefix. The client gets the same message. */
export const notFoundWithDots = () =>
  notFound('', {
    hint: 'Paths with a segment "." or "..", encoded or not, are never sent to the live platform.',
  })

/**
 * For a path that only the live platform may know, if the credential was refused with the given error. The client gets
 * the same message as for an unknown path.
 */
export const notFoundWithoutCredential = ({ message, more: { tried } }: PlatformError) =>
  notFound('', {
    hint: `The request was not sent to the live platform: ${message}`,
    tried,
  })

/** Shortens what a client sent, so that a sentence can quote it. */
export const shortened = (text: string, most = 100) => (text.length > most ? `${text.slice(0, most)}…` : text)

/** The beginning of what a client sent, in quotes. */
export const quotedStart = (text: string, most = 100) => JSON.stringify(text.slice(0, most))

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
    `The Content-Type is ${quotedStart(contentType)}. Send the header "Content-Type: application/json".`,
  )

export const encodedContent = (encoding: string) =>
  new PlatformError(
    415,
    'unsupported_encoding',
    `The request body must not be encoded; its Content-Encoding is ${quotedStart(encoding)}.`,
    ['accept-encoding', 'identity'],
  )

/** For a test that asks for rows where there are none. */
export const noTables = () =>
  refusal(
    404,
    'not_found',
    'There are no tables here. They need the folder supabase/migrations, or another one in tables.migrations, and the package @electric-sql/pglite.',
  )

export const unavailableTables = () =>
  refusal(503, 'tables_unavailable', 'The engine of the tables has ended, and starts again. Try again.')

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

// Answers from OpenAPI documents.

// Limits of one credential. The headers say when to try again.

export const notOneHost = () => refusal(400, 'not_one_host', 'An HTTP/1.1 request needs exactly one Host header.')

export const unmetExpectation = () =>
  refusal(417, 'unmet_expectation', 'The only supported expectation is 100-continue.')

export const unreadableRequest = () => refusal(400, 'unreadable_request', 'The request is not valid HTTP.')

export const headersTooLarge = () => refusal(431, 'headers_too_large', 'The request headers are too large.')

export const requestTooSlow = () => refusal(408, 'request_too_slow', 'The request took too long to arrive.')

export const templateFailed = (rule: string, sentence: string) =>
  refusal(500, 'template_failed', `A template of ${rule} failed. ${sentence}`)

export const foreignHost = () =>
  refusal(
    403,
    'foreign_host',
    'This address must be called by its own name, such as 127.0.0.1. Under any other name, the control API only answers requests with the control token, and no pages.',
  )

export const foreignOrigin = () => refusal(403, 'foreign_origin', 'Pages of another origin may not read this.')

export const usersAreLive = () =>
  refusal(409, 'users_are_live', 'auth.mode is proxy: users and their tokens are those of the live backend.')

// The control API at an address that other machines can reach.

export const noSuchExchange = (id: string, lastId?: string) =>
  refusal(
    404,
    'no_such_exchange',
    Number(id) > 0 && Number(id) <= Number(lastId ?? 0)
      ? `Exchange ${id} is no longer kept. It was cleared, or is not among the latest ones, and the journal keeps only those.`
      : `There is no exchange ${quotedStart(id, 40)} in the journal. Ids start over when Standin restarts.`,
  )

export const notRepeatable = () =>
  refusal(
    409,
    'not_repeatable',
    'This request cannot be sent again: the journal has only the beginning of its body, or none of it.',
  )

export const noSuchSession = (id: string) =>
  refusal(404, 'no_such_session', `There is no session ${quotedStart(id, 60)}, or it has ended.`)

export const noSuchUser = (id: string) =>
  refusal(404, 'no_such_user', `There is no user with the id ${quotedStart(id, 60)}.`)

export const noSuchRecording = (file: string) =>
  refusal(404, 'no_such_recording', `There is no recording ${quotedStart(file, 200)}.`)

export const recordingsUnreadable = (sentence: string) => refusal(409, 'recordings_unreadable', sentence)

export const noSuchResource = (path: string, nearest: string) =>
  refusal(404, 'no_such_resource', `There is no resource ${JSON.stringify(shortened(path))}.${nearest}`)

export const noSuchRule = (id: string) =>
  refusal(404, 'no_such_rule', `There is no rule with the id ${quotedStart(id, 200)}.`)

export const tooManyFaults = (most: number) =>
  refusal(409, 'too_many_faults', `At most ${most} faults can be waiting. Remove some: POST /__standin/reset.`)

export const tooManyRules = (most: number) =>
  refusal(
    409,
    'too_many_rules',
    `At most ${most} rules can be added while Standin runs. Remove some: POST /__standin/reset.`,
  )

export const notForARule = (why: string) =>
  refusal(409, 'not_for_a_rule', `No rule can be created from this exchange, because ${why}.`)

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
