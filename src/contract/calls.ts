/** The calls that clauses make, most of them several. */

import type { DocumentedEndpoint } from '../core/exchange.js'
import { isObject, jsonOf, unverifiedFields } from '../core/json.js'
import { apiIndex } from '../endpoints/api-index.js'
import { chatCompletions } from '../endpoints/chat-completions.js'
import { health as healthEndpoint } from '../endpoints/health.js'
import { models as modelsEndpoint } from '../endpoints/models.js'
import { type Call, CallNotMade, type CallResult, type ReceivedAnswer, type Target } from './target.js'

export type CallFor = (target: Target) => Call | Promise<Call>

/** Calls whose answers are checked if they fit. If there are none, the clause is skipped because of `otherwise`. */
export interface EachCall {
  readonly calls: readonly CallFor[]
  readonly fits: (answered: ReceivedAnswer) => boolean
  readonly otherwise: string
}

/** Fixed, so that a recording of these calls can answer them again. */
const UNKNOWN_PATH = 'there-is-no-such-path'
const UNKNOWN_KEY = 'sk-no-such-key-00000000000000000000'
const UNKNOWN_MODEL = 'there-is-no-such-model'

function required(credential: string | undefined, name: string): string {
  if (!credential) throw new CallNotMade(`no ${name} is given`)
  return credential
}

const apiKeyOf = ({ credentials }: Target) => required(credentials.apiKey, 'API key')
const anonKeyOf = ({ credentials }: Target) => required(credentials.anonKey, 'anon key')

const jwtPart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Valid until 2286, so that only the signature can be the reason for a refusal. */
const claims = {
  role: 'authenticated',
  aud: 'authenticated',
  sub: '00000000-0000-4000-8000-000000000000',
  exp: 9999999999,
}

const usualHeader = jwtPart({ alg: 'HS256', typ: 'JWT' })
const wrongSignature = 'A'.repeat(43)

/** The anon key with a wrong signature but its own claims; if it is not a JWT, a made-up user token. */
function forgedToken({ credentials: { anonKey = '' } }: Target): string {
  const [, head, first] = /^([^.]+\.[^.]+\.)([^.])[^.]*$/.exec(anonKey) ?? []
  if (head === undefined) return `${usualHeader}.${jwtPart(claims)}.${wrongSignature}`
  return `${head}${first === 'A' ? 'B' : 'A'}${anonKey.slice(head.length + 1)}`
}

/**
 * A user token with a wrong signature, and the header and issuer of the anon key. A target that only looks at claims
 * accepts it even where an anon key is not enough.
 */
function forgedUserToken({ credentials: { anonKey = '' } }: Target): string {
  const [header, payload] = anonKey.split('.')
  const { iss } = unverifiedFields(payload)
  return iss === undefined
    ? `${usualHeader}.${jwtPart(claims)}.${wrongSignature}`
    : `${header}.${jwtPart({ iss, ...claims })}.${wrongSignature}`
}

/** The Authorization headers, each with how it is shown in reports, in the words of the document. */
const authorizations = {
  apiKey: ['Bearer <API_KEY>', target => `Bearer ${apiKeyOf(target)}`],
  anonKey: ['Bearer <ANON_KEY>', target => `Bearer ${anonKeyOf(target)}`],
  userToken: ['Bearer <a user JWT>', async target => `Bearer ${await userTokenOf(target)}`],
  unknownKey: [`Bearer ${UNKNOWN_KEY}`, () => `Bearer ${UNKNOWN_KEY}`],
  forged: ['Bearer <a JWT with a wrong signature>', target => `Bearer ${forgedToken(target)}`],
  forgedUser: ['Bearer <a user JWT with a wrong signature>', target => `Bearer ${forgedUserToken(target)}`],
  unsigned: [
    'Bearer <a JWT without a signature>',
    () => `Bearer ${jwtPart({ alg: 'none', typ: 'JWT' })}.${jwtPart(claims)}.`,
  ],
  keyAlone: ['<API_KEY>', apiKeyOf],
  otherScheme: ['Basic <ANON_KEY>', target => `Basic ${anonKeyOf(target)}`],
  schemeAlone: ['Bearer', () => 'Bearer'],
} satisfies Readonly<Record<string, readonly [shown: string, header: (target: Target) => string | Promise<string>]>>

type Authorization = keyof typeof authorizations

async function authorized(target: Target, call: Call, by: Authorization | undefined): Promise<Call> {
  if (by === undefined) return call
  const [shown, header] = authorizations[by]
  return { ...call, headers: { ...call.headers, authorization: await header(target) }, authorization: shown }
}

/** A GET with this Authorization header, or with none. */
export const get =
  (path: string, by?: Authorization): CallFor =>
  target =>
    authorized(target, { to: 'platform', method: 'GET', path, headers: { accept: 'application/json' } }, by)

/** A GET with the API key or, if there is none, the anon key. */
const getWithAnyKey =
  (path: string): CallFor =>
  target => {
    const { apiKey, anonKey } = target.credentials
    return get(path, apiKey ? 'apiKey' : anonKey ? 'anonKey' : undefined)(target)
  }

export const index = get(apiIndex.path, 'anonKey')
export const models = get(modelsEndpoint.path, 'apiKey')

/** Sends a credential if the endpoint refuses requests without one. Whether it needs one is not documented. */
export const health: CallFor = async target => {
  const withoutCredential = await get(healthEndpoint.path)(target)
  const result = await target.ask(withoutCredential)
  return result.kind === 'answered' && result.status === 401
    ? getWithAnyKey(healthEndpoint.path)(target)
    : withoutCredential
}

/** Skipped if both keys are the same string, which then has the access of both. */
export const withDistinctKeys =
  (callFor: CallFor): CallFor =>
  target => {
    const { apiKey, anonKey } = target.credentials
    if (apiKey !== undefined && apiKey === anonKey) throw new CallNotMade('the API key and the anon key are the same')
    return callFor(target)
  }

/** The fields of an answer in JSON; none if there is no such answer. */
export function fieldsIn(result: CallResult): Readonly<Record<string, unknown>> {
  const value = result.kind === 'answered' ? jsonOf(result.text) : undefined
  return isObject(value) ? value : {}
}

/** The ids in the model list. */
export async function listedModels(target: Target): Promise<readonly string[]> {
  const { data } = fieldsIn(await target.ask(await models(target)))
  return Array.isArray(data) ? data.flatMap(model => (typeof model?.id === 'string' ? [model.id] : [])) : []
}

type ChatFields = Readonly<Record<string, unknown>>

/** The shortest possible request: one message, and one token of reply. */
const chatBody = (model: string) => ({ model, messages: [{ role: 'user', content: 'Say hi.' }], stream: false })
const shortest = { max_tokens: 1 }

async function listedChatBody(target: Target): Promise<ChatFields> {
  const model = target.model || (await listedModels(target))[0]
  if (!model) throw new CallNotMade('no model is known: the model list has none, and none is given')
  return chatBody(model)
}

const post = (target: Target, body: unknown, by: Authorization | undefined, type = 'application/json') => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return authorized(target, { ...postCall, headers: { 'content-type': type }, body: text }, by)
}

const postCall = { to: 'platform', method: 'POST', path: chatCompletions.path } as const

/** `max_tokens` keeps it cheap but is not documented. If the target refuses it, it is left out. */
export const chat =
  (fields: ChatFields = {}): CallFor =>
  async target => {
    const body = await listedChatBody(target)
    const result = await target.ask(await post(target, { ...body, ...shortest }, 'apiKey'))
    const isAccepted = result.kind === 'unanswered' || (result.status !== 400 && result.status !== 422)
    return post(target, { ...body, ...(isAccepted && shortest), ...fields }, 'apiKey')
  }

/** The listed model that is as far from the usual one as possible. */
export const lastModel: CallFor = async target => {
  const model = (await listedModels(target)).at(-1)
  if (model === undefined) throw new CallNotMade('the model list has no model')
  return chat({ model })(target)
}

/** A chat request with this Authorization header. Without a known model, it can still be refused because of that. */
const chatAs =
  (by: Authorization | undefined): CallFor =>
  async target => {
    const body = await listedChatBody(target).catch(error => {
      if (error instanceof CallNotMade) return chatBody(UNKNOWN_MODEL)
      throw error
    })
    return post(target, { ...body, ...shortest }, by)
  }

/** A call to a documented endpoint with an Authorization header that may be wrong. If it is accepted, it costs one token. */
export const callAs = (
  { callsModel, path }: Pick<DocumentedEndpoint, 'callsModel' | 'path'>,
  by?: Authorization,
): CallFor => (callsModel ? chatAs(by) : get(path, by))

/** A chat request with fields that should be refused. If it is accepted, it costs one token. */
export const wrongChat =
  (wrongFields: ChatFields): CallFor =>
  async target =>
    post(target, { ...(await listedChatBody(target)), ...shortest, ...wrongFields }, 'apiKey')

/** A message with one mistake. */
export const wrongMessage = (message: object): CallFor =>
  wrongChat({ messages: [{ role: 'user', content: 'Say hi.', ...message }] })

export const unknownModel = wrongChat({ model: UNKNOWN_MODEL })
export const wrongMethod = get(chatCompletions.path, 'apiKey')
export const notJson: CallFor = target => post(target, '{', 'apiKey')
export const wrongType: CallFor = async target => post(target, await listedChatBody(target), 'apiKey', 'text/plain')

/** One byte over 4 MB of spaces, which have no meaning in JSON. */
export const tooLarge: CallFor = async target => {
  if (!target.isNear) throw new CallNotMade('it sends 4 MB, which is done only on this machine')
  return post(target, JSON.stringify(await listedChatBody(target)).padEnd(4_194_305), 'apiKey')
}

/** One of each kind: frameworks refuse them in different places, with different errors. */
export const invalidRequests: readonly CallFor[] = [
  ...[unknownModel, wrongChat({ messages: undefined }), wrongMethod, notJson, wrongType],
  ...[wrongChat({ temperature: 'warm' }), wrongMessage({ role: 1 }), tooLarge],
]

/** Unknown paths, requested with the credentials of the paths around them. */
export const unknownPaths = {
  language: get(`/v1/${UNKNOWN_PATH}`, 'apiKey'),
  platform: get(`/api/v1/${UNKNOWN_PATH}`, 'anonKey'),
  elsewhere: getWithAnyKey(`/${UNKNOWN_PATH}`),
  /** Some gateways match only the beginning of a path, and would answer as for /health. */
  below: getWithAnyKey(`/health/${UNKNOWN_PATH}`),
  /** Some frameworks have a 404 page for GET but not for POST. */
  posted: async target => ({ ...(await post(target, {}, 'apiKey')), path: `/v1/${UNKNOWN_PATH}` }),
} satisfies Readonly<Record<string, CallFor>>

export const unknownPath = get(`/${UNKNOWN_PATH}?asked=1`)

export const localPage = 'http://localhost:3000'

/** The preflight of a browser. */
export const preflight: CallFor = () => ({
  to: 'platform',
  method: 'OPTIONS',
  path: chatCompletions.path,
  headers: {
    origin: localPage,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
})

/** The only call to the auth backend. */
export const signIn: CallFor = target => {
  const { email, password } = target.credentials
  if (!email || !password) throw new CallNotMade('no email and password are given')
  const call: Call = {
    to: 'auth',
    method: 'POST',
    path: '/auth/v1/token?grant_type=password',
    isPrivate: true,
    headers: { 'content-type': 'application/json', apikey: anonKeyOf(target) },
    body: JSON.stringify({ email, password }),
  }
  return authorized(target, call, 'anonKey')
}

async function userTokenOf(target: Target): Promise<string> {
  const { access_token: token } = fieldsIn(await target.ask(await signIn(target)))
  if (typeof token !== 'string') throw new CallNotMade('the sign-in returned no access token')
  return token
}
