/** The calls that clauses make. Several clauses share some of them. */
import { CHAT, HEALTH, INDEX, MODELS } from '../core/paths.js'
import { jsonIn } from './answer-checks.js'
import {
  type Call,
  CallNotMade,
  type CallResult,
  forgedToken,
  forgedUserToken,
  UNKNOWN_MODEL,
  unsignedToken,
} from './call.js'
import type { CallFor, DocumentedEndpoint } from './clause.js'
import type { Target } from './target.js'

/** Fixed, so that a recording of these calls can answer them again. */
const UNKNOWN = 'there-is-no-such-path'
const UNKNOWN_KEY = 'sk-no-such-key-00000000000000000000'

const apiKeyOf = ({ credentials: { apiKey } }: Target) => required(apiKey, 'API key')
const anonKeyOf = ({ credentials: { anonKey } }: Target) => required(anonKey, 'anon key')

function required(credential: string | undefined, name: string): string {
  if (!credential) throw new CallNotMade(`no ${name} is given`)
  return credential
}

/** A GET with this Authorization header, or with none. */
export const get = (path: string, authorization?: string): Call => ({
  ...{ to: 'platform', method: 'GET', path },
  headers: { accept: 'application/json', ...(authorization !== undefined && { authorization }) },
})

export const bearer = (credential: string) => `Bearer ${credential}`

/** A GET with this credential. */
export const withApiKey =
  (path: string): CallFor =>
  target =>
    get(path, bearer(apiKeyOf(target)))

export const withAnonKey =
  (path: string): CallFor =>
  target =>
    get(path, bearer(anonKeyOf(target)))

/** A GET with the API key or, if there is none, the anon key. */
const withAnyKey =
  (path: string): CallFor =>
  ({ credentials: { apiKey, anonKey } }) => {
    const credential = apiKey || anonKey
    return get(path, credential ? bearer(credential) : undefined)
  }

export const index = withAnonKey(INDEX)
export const models = withApiKey(MODELS)

/** Sends a credential if the endpoint refuses requests without one. Whether it needs one is not documented. */
export const health: CallFor = async target => {
  const withoutCredential = get(HEALTH)
  const result = await target.ask(withoutCredential)
  return result.kind !== 'unanswered' && result.status === 401 ? withAnyKey(HEALTH)(target) : withoutCredential
}

/** Skipped if both keys are the same string, which then has the access of both. */
export const withDistinctKeys =
  (callFor: CallFor): CallFor =>
  target => {
    const { apiKey, anonKey } = target.credentials
    if (apiKey !== undefined && apiKey === anonKey) throw new CallNotMade('the API key and the anon key are the same')
    return callFor(target)
  }

export const withUserToken =
  (path: string): CallFor =>
  async target =>
    get(path, bearer(await userTokenOf(target)))

/** Without a credential, or with an invalid one. */
export function withBadCredential(path: string, kind: 'missing' | 'invalid'): CallFor {
  const authorization = kind === 'missing' ? undefined : bearer(UNKNOWN_KEY)
  if (path !== CHAT) return () => get(path, authorization)
  return async target => post(await chatBody(target).catch(bodyWithUnknownModel), authorization)
}

/** A chat request with this Authorization header. If it is accepted, it costs one token. */
const chatAs =
  (authorizationOf: (target: Target) => string): CallFor =>
  async target => {
    const authorization = authorizationOf(target)
    return post({ ...(await chatBody(target).catch(bodyWithUnknownModel)), ...shortest }, authorization)
  }

/** Without a known model, the request can still be refused because of its credential. */
function bodyWithUnknownModel(error: unknown) {
  if (!(error instanceof CallNotMade)) throw error
  return { model: UNKNOWN_MODEL, messages: [{ role: 'user', content: 'Say hi.' }], stream: false }
}

/** Unknown paths, requested with the credentials of the paths around them. */
export const unknownPaths = {
  language: withApiKey(`/v1/${UNKNOWN}`),
  platform: withAnonKey(`/api/v1/${UNKNOWN}`),
  elsewhere: withAnyKey(`/${UNKNOWN}`),
  /** Some gateways match only the beginning of a path, and would answer as for /health. */
  below: withAnyKey(`/health/${UNKNOWN}`),
  /** Some frameworks have a 404 page for GET but not for POST. */
  posted: target => ({ ...post({}, bearer(apiKeyOf(target))), path: `/v1/${UNKNOWN}` }),
} satisfies Readonly<Record<string, CallFor>>

export const unknownPathWithoutCredential: CallFor = () => get(`/${UNKNOWN}?asked=1`)

/** The ids in the model list. */
export async function listedModels(target: Target): Promise<readonly string[]> {
  const { data } = fieldsIn(await target.ask(await models(target)))
  return Array.isArray(data) ? data.flatMap(model => (typeof model?.id === 'string' ? [model.id] : [])) : []
}

/** The fields of an answer in JSON; none if there is no such answer. */
const fieldsIn = (result: CallResult) =>
  ((result.kind === 'answered' && jsonIn(result.text).value) || {}) as Readonly<Record<string, unknown>>

async function modelOf(target: Target): Promise<string> {
  const model = target.model || (await listedModels(target))[0]
  if (!model) throw new CallNotMade('no model is known: the model list has none, and none is given')
  return model
}

/** A listed model that is as far from the usual one as possible. */
export const lastListedModel: CallFor = async target => chat({ model: (await listedModels(target)).at(-1) })(target)

/** The shortest possible request: one message, and one token of reply. */
const chatBody = async (target: Target): Promise<Readonly<Record<string, unknown>>> => ({
  model: await modelOf(target),
  messages: [{ role: 'user', content: 'Say hi.' }],
  stream: false,
})

const shortest = { max_tokens: 1 }

const post = (body: unknown, authorization?: string, contentType = 'application/json'): Call => ({
  ...{ to: 'platform', method: 'POST', path: CHAT },
  headers: { 'content-type': contentType, ...(authorization !== undefined && { authorization }) },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** `max_tokens` keeps it cheap but is not documented. If the target refuses it, it is left out. */
export const chat =
  (fields: Readonly<Record<string, unknown>> = {}): CallFor =>
  async target => {
    const key = bearer(apiKeyOf(target))
    const body = await chatBody(target)
    const result = await target.ask(post({ ...body, ...shortest }, key))
    const isAccepted = result.kind === 'unanswered' || (result.status !== 400 && result.status !== 422)
    return post({ ...body, ...(isAccepted && shortest), ...fields }, key)
  }

/** The document promises a whole answer for `stream: false`. It does not say what happens if `stream` is absent. */
export const chatWithoutStream = chat({ stream: undefined })

/** The calls of clauses about credentials. */
export const documentedEndpoints = {
  index: documentedEndpoint('EP-2', INDEX, index),
  models: documentedEndpoint('EP-4', MODELS, models),
  chat: documentedEndpoint('EP-3', CHAT, chat()),
}

function documentedEndpoint(clause: string, path: string, withCredential: CallFor): DocumentedEndpoint {
  return { clause, path, withCredential, withoutCredential: withBadCredential(path, 'missing') }
}

/** A chat request with fields that should be refused. If it is accepted, it costs one token. */
export const wrongChat =
  (wrongFields: Readonly<Record<string, unknown>>): CallFor =>
  async target =>
    post({ ...(await chatBody(target)), ...shortest, ...wrongFields }, bearer(apiKeyOf(target)))

/** With `max_tokens`, whether or not the target accepts it. */
export const shortestChat = wrongChat({})

/** A body that is not a chat request, or has another content type. */
const rawChat =
  (body: (target: Target) => unknown, contentType = 'application/json'): CallFor =>
  async target =>
    post(await body(target), bearer(apiKeyOf(target)), contentType)

export const localPage = 'http://localhost:3000'

/** The preflight of a browser. */
export const preflight: CallFor = () => ({
  ...{ to: 'platform', method: 'OPTIONS', path: CHAT },
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
  const anonKey = anonKeyOf(target)
  return {
    ...{ to: 'auth', method: 'POST', path: '/auth/v1/token?grant_type=password', isPrivate: true },
    headers: { 'content-type': 'application/json', apikey: anonKey, authorization: bearer(anonKey) },
    body: JSON.stringify({ email, password }),
  }
}

async function userTokenOf(target: Target): Promise<string> {
  const { access_token: token } = fieldsIn(await target.ask(await signIn(target)))
  if (typeof token !== 'string') throw new CallNotMade('the sign-in returned no access token')
  return token
}

const forgedUserOf = ({ credentials: { anonKey } }: Target) => bearer(forgedUserToken(anonKey))

/** Calls with a credential that must be refused. */
export const intruders = {
  forgedAtIndex: target => get(INDEX, bearer(forgedToken(target.credentials.anonKey))),
  forgedUserAtIndex: target => get(INDEX, forgedUserOf(target)),
  forgedUserAtModels: target => get(MODELS, forgedUserOf(target)),
  forgedUserAtChat: chatAs(forgedUserOf),
  unsignedAtIndex: () => get(INDEX, bearer(unsignedToken())),
  unsignedAtModels: () => get(MODELS, bearer(unsignedToken())),
  unsignedAtChat: chatAs(() => bearer(unsignedToken())),
  keyAloneAtModels: target => get(MODELS, apiKeyOf(target)),
  keyAloneAtChat: chatAs(apiKeyOf),
  otherSchemeAtIndex: target => get(INDEX, `Basic ${anonKeyOf(target)}`),
  schemeAloneAtModels: () => get(MODELS, 'Bearer'),
} satisfies Readonly<Record<string, CallFor>>

/** One byte over 4 MB of spaces, which have no meaning in JSON. */
export const tooLarge = rawChat(async target => {
  if (!target.isNear) throw new CallNotMade('it sends 4 MB, which is done only on this machine')
  return JSON.stringify(await chatBody(target)).padEnd(4_194_305)
})

export const notJson = rawChat(() => '{')
export const wrongContentType = rawChat(chatBody, 'text/plain')
export const unknownModel = wrongChat({ model: UNKNOWN_MODEL })
export const wrongMethod = withApiKey(CHAT)

/** A message with one mistake. */
export const wrongMessage = (message: object): CallFor =>
  wrongChat({ messages: [{ role: 'user', content: 'Say hi.', ...message }] })

/** One of each kind: frameworks refuse them in different places, with different errors. */
export const invalidRequests: readonly CallFor[] = [
  ...[unknownModel, wrongChat({ messages: undefined }), wrongMethod, notJson, wrongContentType],
  ...[wrongChat({ temperature: 'warm' }), wrongMessage({ role: 1 }), tooLarge],
]
