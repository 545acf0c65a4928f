/**
 * The hook that changes the claims of each user token before it is signed: templates in the configuration, or a URL that is called as
 * Supabase Auth calls its HTTP hooks (supabase-auth.md, "Social sign-in and the access-token hook").
 */
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import * as v from 'valibot'
import { pathInWords } from '../check/check.js'
import { type Loaded, ProblemsError } from '../check/problem.js'
import { PlatformError, refusal, shortened, templateFailed } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { withDeadline } from '../core/work.js'
import { hasTemplate, loadTemplates, TemplateError } from '../replies/index.js'
import type { AccessTokenHook, TokenToSign } from './backend.js'
import { clientFor } from './callers.js'
import type { authOptions } from './options.js'
import type { Payload } from './tokens.js'
import { userJson } from './users.js'

type Settings = v.InferOutput<typeof authOptions>['hooks']['customAccessToken']

const NAME = 'auth.hooks.customAccessToken'
const at = NAME.split('.')

/** Creates the configured hook, if there is one. Rejects with a ProblemsError for a template with a mistake. */
export async function accessTokenHookOf({
  config,
  placeOf,
}: Pick<
  Loaded<{ readonly auth: { readonly hooks: { readonly customAccessToken: Settings } } }>,
  'config' | 'placeOf'
>): Promise<AccessTokenHook | undefined> {
  const settings = config.auth.hooks.customAccessToken
  if ('url' in settings && settings.url !== '') {
    const hook = { ...settings, loadClient: clientFor(settings.url) }
    return async token => checkedClaims(await askHook(hook, token), token.claims)
  }
  if (!('claims' in settings) || Object.keys(settings.claims).length === 0) return undefined
  const render = await claimsRenderer(settings.claims, placeOf)
  return async token => checkedClaims({ ...token.claims, ...render(token) }, token.claims)
}

/** Compiles the templates of claims. A claim whose template has no value is left out. */
async function claimsRenderer(templates: Payload, placeOf: Loaded<unknown>['placeOf']) {
  if (!hasTemplate(templates)) return () => templates
  try {
    const names = ['user', 'claims', 'authentication_method']
    const { renderValue } = (await loadTemplates(templates)).compile(templates, names)
    return ({ user, claims, method }: TokenToSign): Payload => {
      const facts: Payload = { user: userJson(user), claims, authentication_method: method }
      try {
        return renderValue(name => facts[name]) as Payload
      } catch (error) {
        throw error instanceof TemplateError ? templateFailed(NAME, error.message) : error
      }
    }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const path = [...at, 'claims', ...error.path]
    throw new ProblemsError([{ ...placeOf(path), sentence: `${pathInWords(path)}: ${error.message}` }])
  }
}

/** What Supabase Auth's schema says about the claims. */
const claimsOfTypes = {
  'string/array': ['aud'],
  string: ['iss', 'sub', 'jti', 'email', 'phone', 'role', 'aal', 'session_id', 'client_id'],
  integer: ['exp', 'iat', 'nbf'],
  object: ['app_metadata', 'user_metadata'],
  array: ['amr'],
}
const requiredClaims = 'aud exp iat sub email phone role aal session_id is_anonymous'.split(' ')

/** Returns the claims, if they fit the schema. A token for tests, which has no session, does not get one here. */
function checkedClaims(claims: unknown, before: Payload): Payload {
  if (!isObject(claims)) throw unfitClaims([NO_CLAIMS])
  const missing = requiredClaims.filter(name => name in before && !(name in claims))
  const mistyped = Object.entries(claimsOfTypes).flatMap(([type, names]) =>
    names
      .filter(name => name in claims && !type.split('/').includes(jsonTypeOf(claims[name])))
      .map(name => `${name}: Invalid type. Expected: ${type}, given: ${jsonTypeOf(claims[name])}`),
  )
  const mistakes = [...missing.map(name => `(root): ${name} is required`), ...mistyped]
  if (mistakes.length > 0) throw unfitClaims(mistakes)
  return claims
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

const HOOK_SECONDS = 5
const TRIES = 3
const PAUSE_MS = 2000
const LARGEST_ANSWER_BYTES = 200 * 1024

async function askHook(hook: Hook, { user, claims, method, ipAddress }: TokenToSign) {
  const body = JSON.stringify({
    metadata: {
      uuid: randomUUID(),
      time: new Date().toISOString(),
      name: 'customize-access-token',
      ...(ipAddress !== undefined && { ip_address: ipAddress }),
    },
    user_id: user.id,
    claims,
    authentication_method: method,
  })
  try {
    return await withDeadline(HOOK_SECONDS * 1000, async signal => {
      return claimsIn(await answerOfHook(hook, { body, signal }))
    })
  } catch (error) {
    throw (error as Error).name === 'TimeoutError' ? hookTimeout(HOOK_SECONDS) : error
  }
}

interface Hook extends Extract<Settings, { url: string }> {
  readonly loadClient: ReturnType<typeof clientFor>
}

interface HookCall {
  readonly body: string
  readonly signal: AbortSignal
}

/** Returns the text that the hook answers. Tries again if the hook cannot be reached, or asks for that. */
async function answerOfHook(hook: Hook, call: HookCall, triesLeft = TRIES): Promise<string> {
  const answer = await sendToHook(hook, call).catch((error: NodeJS.ErrnoException) => {
    if (call.signal.aborted) throw error
    return error
  })
  if (answer instanceof Error) {
    if (triesLeft === 1)
      throw hookUnreachable(answer instanceof PlatformError ? answer.message : (answer.code ?? answer.message))
    await pause(PAUSE_MS, undefined, { signal: call.signal })
    return answerOfHook(hook, call, triesLeft - 1)
  }
  const { statusCode, headers, body } = answer
  if (statusCode === 200 || statusCode === 202) {
    requireJson(headers['content-type'])
    return textOfHook(body, hook.url)
  }
  await body.dump().catch(() => {})
  if (statusCode === 204)
    throw unfitClaims([NO_CLAIMS], 'The hook answered 204, and so gives the token no claims at all')
  const isBusy = (statusCode === 429 || statusCode === 503) && Boolean(headers['retry-after'])
  // Supabase Auth tries again at once, however long the hook asks it to wait.
  if (isBusy && triesLeft > 1) return answerOfHook(hook, call, triesLeft - 1)
  throw hookStatus(statusCode)
}

async function sendToHook({ url, secret, loadClient }: Hook, { body, signal }: HookCall) {
  const { request, dispatcher } = await loadClient()
  const id = randomUUID()
  // By the real clock, as the hook's is: the platform's may have been moved.
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signaturesOf(secret, `${id}.${timestamp}.${body}`),
    'accept-encoding': 'identity',
  }
  return request(url, { method: 'POST', headers, body, dispatcher, signal })
}

/** The signatures of the standard webhooks rules, by each of the secrets. */
const signaturesOf = (secrets: string, content: string) =>
  secrets
    .split('|')
    .filter(secret => secret !== '')
    .map(secret => Buffer.from(secret.replace('v1,whsec_', ''), 'base64'))
    .map(key => `v1,${createHmac('sha256', key).update(content).digest('base64')}`)
    .join(', ')

function requireJson(written: string | string[] | undefined): void {
  const contentType = String(written ?? '')
  const [mediaType = ''] = contentType.split(';', 1)
  if (mediaType.trim().toLowerCase() !== 'application/json') throw hookNotJson(contentType)
}

async function textOfHook(body: Awaited<ReturnType<typeof sendToHook>>['body'], url: string): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of body) {
      pieces.push(piece)
      bytes += piece.length
      // Leaving the loop ends the connection.
      if (bytes > LARGEST_ANSWER_BYTES) break
    }
  } catch {
    throw hookCutOff(url)
  }
  if (bytes > LARGEST_ANSWER_BYTES) throw hookAnswerTooLarge(LARGEST_ANSWER_BYTES)
  return Buffer.concat(pieces).toString()
}

const hookError = v.object({
  error: v.object({ http_code: v.optional(v.pipe(v.number(), v.integer()), 0), message: v.string() }),
})

/** The claims in an answer of the hook, unchecked; null if it says so. Throws the error that it has instead. */
function claimsIn(text: string): unknown {
  const answer = parsedAnswer(text)
  const refused = v.safeParse(hookError, answer)
  if (refused.success && refused.output.error.message !== '') {
    const { http_code, message } = refused.output.error
    throw hookRefusal(http_code, message)
  }
  if (answer !== null && !isObject(answer)) throw hookAnswerUnreadable()
  if (answer === null || !('claims' in answer)) throw missingClaims()
  const { claims } = answer
  if (claims !== null && !isObject(claims)) throw hookAnswerUnreadable()
  return claims
}

function parsedAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw hookAnswerUnreadable()
  }
}

// The errors of Supabase Auth about its hook. They are here, and not with its others, since few starts need them.

/** `hint` is for the log. */
const hookFails = (status: number, code: string, message: string, hint = 'This is about the hook, or its claims') =>
  refusal(status, code, message, { hint: `${hint} (auth.hooks.customAccessToken).` })
const hookBreaks = (message: string, hint?: string) => hookFails(500, 'unexpected_failure', message, hint)

const hookTimeout = (seconds: number) =>
  hookFails(422, 'hook_timeout', `Failed to reach hook within maximum time of ${seconds.toFixed(6)} seconds`)
const hookUnreachable = (why: string) => {
  const hint = `Nothing answers at the url of the hook: ${why}`
  return hookFails(422, 'hook_timeout_after_retry', 'Failed to reach hook after maximum retries', hint)
}
const hookNotJson = (type: string) => {
  const why = type === '' ? 'Invalid Content-Type: Missing Content-Type header' : undefined
  const message = why ?? `Invalid JSON response. Received content-type: ${shortened(type)}`
  return hookFails(400, 'hook_payload_invalid_content_type', message)
}
const hookAnswerTooLarge = (most: number) =>
  hookFails(422, 'hook_payload_over_size_limit', `Payload size exceeded size limit of ${most} bytes`)
const hookCutOff = (url: string) => hookBreaks(`Error running hook URI: ${url}`, 'The hook did not end its answer')
const hookAnswerUnreadable = () => hookBreaks('Error unmarshaling JSON output.')
const missingClaims = () => hookBreaks('output claims field is missing')
const NO_CLAIMS = '(root): Invalid type. Expected: object, given: null'
const unfitClaims = (mistakes: readonly string[], hint?: string) =>
  hookBreaks(
    ['output claims do not conform to the expected schema: ', ...mistakes.map(one => `- ${one}`), ''].join('\n'),
    hint,
  )

const hookStatuses: Readonly<Record<number, string>> = {
  400: 'Invalid payload sent to hook',
  401: 'Hook requires authorization token',
  429: 'Service currently unavailable due to hook',
  503: 'Service currently unavailable due to hook',
}

const hookStatus = (status: number) => {
  const hint = status === 401 ? 'Does the hook have the same secret? It answered with status 401' : undefined
  return hookBreaks(hookStatuses[status] ?? `Unexpected status code returned from hook: ${status}`, hint)
}

/** The error that the hook itself answered with. A status that is none for an error becomes a 500. */
function hookRefusal(written: number, message: string) {
  const status = written >= 400 && written < 600 ? written : 500
  return hookFails(status, status === 500 ? 'unexpected_failure' : 'unknown', message, 'The hook refused the token')
}
