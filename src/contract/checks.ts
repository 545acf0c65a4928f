/** What clauses check in an answer. */
import { check } from '../check/check.js'
import type { Violation } from '../check/finding.js'
import { isObject, jsonOf } from '../core/json.js'
import { listedIndexAnswer } from '../endpoints/api-index.js'
import { documentedEndpoints } from '../endpoints/index.js'
import { calledAnswer, judge, NOT_DONE, NOT_EVENTS } from './answers.js'
import { fieldsIn, listedModels, localPage } from './calls.js'
import { type Call, CallNotMade, type ReceivedAnswer, type Target } from './target.js'

export interface AnswerCheck {
  readonly expected: string
  /** Returns what was found instead; `undefined` if the answer is as expected. */
  readonly differs: (
    answered: ReceivedAnswer,
    target: Target,
    call: Call,
  ) => string | undefined | Promise<string | undefined>
}

export const status = (expected: number): AnswerCheck => ({
  expected: `status ${expected}`,
  differs: ({ status }) => (status === expected ? undefined : `status ${status}`),
})

/** Any refusal except one about credentials. */
export const refused: AnswerCheck = {
  expected: 'a status from 400 to 499 other than 401',
  differs: ({ status }) => (status >= 400 && status < 500 && status !== 401 ? undefined : `status ${status}`),
}

/** The judge of live and recorded answers finds none of these violations. */
const without = (expected: string, concerns: (violation: Violation) => boolean): AnswerCheck => ({
  expected,
  differs: (answered, _target, call) => judge(calledAnswer(call, answered)).find(concerns)?.sentence,
})

/** A field, or the whole body if its name is empty, is as the judge requires it. */
const fieldIs = (name: string, expected: string) => without(expected, ({ path }) => path === name)

export const jsonObject = fieldIs('', 'one JSON object, with Content-Type: application/json')
export const statusOk = fieldIs('status', 'the status "ok"')
export const versionNumber = fieldIs('version', 'a version such as 1.0.0')
export const endpointArray = fieldIs('endpoints', 'an array of endpoints')
export const requestedPath = fieldIs('path', 'the path as it was requested')
export const anyJson = without(
  'one JSON response, with Content-Type: application/json',
  ({ source }) => source === 'documented',
)
export const completion = without("OpenAI's chat.completion", ({ source }) => source === 'decided')
export const modelList = without("OpenAI's list of models", ({ source }) => source === 'decided')
export const eventStream = without('Content-Type: text/event-stream', ({ sentence }) => sentence === NOT_EVENTS)
export const doneAtEnd = without('data: [DONE] as the last event', ({ sentence }) => sentence === NOT_DONE)
export const chunks = without(
  "events that are each a chat.completion.chunk, as in OpenAI's streams",
  ({ sentence, severity }) => sentence !== NOT_DONE && severity !== 'info',
)
export const errorObject = without(
  'a JSON object with a short message in its field error',
  ({ path }) => path === '' || path.startsWith('error'),
)

/** The error mentions this word. Skipped for errors in another form, which ERR-5 is about. */
export const naming = (word: string): AnswerCheck => ({
  expected: `an error that names ${word}`,
  differs(answered) {
    const { error } = fieldsIn(answered)
    if (typeof error !== 'string')
      throw new CallNotMade('the status is right, but the body is not an error object (ERR-5)')
    return error.includes(word) ? undefined : `the error ${JSON.stringify(error)}`
  },
})

export const namesOfModels: AnswerCheck = {
  expected: 'an error that names the models in the list',
  async differs(answered, target) {
    const { error } = fieldsIn(answered)
    const missing = (await listedModels(target)).filter(id => !String(error).includes(id))
    return missing.length === 0 ? undefined : `no mention of ${missing.join(', ')}`
  },
}

/** A list of any form that contains some text. Its fields are not documented. */
export const someName: AnswerCheck = {
  expected: 'a list that names at least one model',
  differs: ({ text }) => (hasListedText(jsonOf(text), false) ? undefined : 'no name in any list'),
}

function hasListedText(value: unknown, isListed: boolean): boolean {
  if (typeof value === 'string') return isListed && value !== ''
  if (Array.isArray(value)) return value.some(item => hasListedText(item, true))
  return isObject(value) && Object.values(value).some(item => hasListedText(item, isListed))
}

/** Standin's own form of the index. */
export const listedEndpoints: AnswerCheck = {
  expected: 'elements with method, path and credential',
  differs({ text }) {
    const checked = check(listedIndexAnswer, jsonOf(text), { firstOnly: true, whole: 'The body' })
    return 'mistakes' in checked ? checked.mistakes[0]?.sentence : undefined
  },
}

const documentedRoutes = documentedEndpoints.map(({ method, path }) => `${method} ${path}`)

export const allEndpoints: AnswerCheck = {
  expected: `the endpoints ${documentedRoutes.join(', ')}`,
  differs(answered) {
    const endpoints = fieldsIn(answered).endpoints as readonly { readonly method: string; readonly path: string }[]
    const listed = endpoints.map(({ method, path }) => `${method} ${path}`)
    const missing = documentedRoutes.filter(endpoint => !listed.includes(endpoint))
    return missing.length === 0 ? undefined : `no ${missing.join(', no ')}`
  },
}

export const sameList: AnswerCheck = {
  expected: 'the whole list, whatever the query',
  async differs(answered, target) {
    const { data } = fieldsIn(answered)
    const whole = (await listedModels(target)).length
    const count = Array.isArray(data) ? data.length : 'no'
    return count === whole ? undefined : `${count} of ${whole} models`
  },
}

export const accessToken: AnswerCheck = {
  expected: 'an access_token that is a JWT',
  differs(answered) {
    const { access_token: token } = fieldsIn(answered)
    return typeof token === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) ? undefined : 'none'
  },
}

export const signInPath: AnswerCheck = {
  expected: 'a sign-in at /auth/v1/token',
  differs: ({ status }) => (status === 404 || status === 405 ? `status ${status}` : undefined),
}

export const session: AnswerCheck = {
  expected: 'token_type "bearer", expires_in 3600 and a refresh_token',
  differs(answered) {
    const { token_type, expires_in, refresh_token } = fieldsIn(answered)
    if (token_type !== 'bearer') return 'another token_type'
    if (expires_in !== 3600) return `expires_in ${JSON.stringify(expires_in)}`
    return typeof refresh_token === 'string' && refresh_token !== '' ? undefined : 'no refresh_token'
  },
}

export const withoutQuery: AnswerCheck = {
  expected: 'the path without the query',
  differs(answered) {
    const { path } = fieldsIn(answered)
    return String(path).includes('?') ? `path ${JSON.stringify(path)}` : undefined
  },
}

export const allowsPost: AnswerCheck = {
  expected: 'an Allow header that names POST',
  differs({ headers }) {
    const allow = headers.get('allow')
    if (allow === null) return 'no such header'
    return /\bPOST\b/.test(allow) ? undefined : `Allow: ${allow}`
  },
}

export const onlyError: AnswerCheck = {
  expected: 'a body with error, and nothing else',
  differs(answered) {
    const others = Object.keys(fieldsIn(answered)).filter(name => name !== 'error')
    return others.length === 0 ? undefined : `also ${others.join(', ')}`
  },
}

export const localOrigin: AnswerCheck = {
  expected: 'Access-Control-Allow-Origin for a page on this machine',
  differs({ headers }) {
    const origin = headers.get('access-control-allow-origin')
    return origin === '*' || origin === localPage ? undefined : (origin ?? 'no such header')
  },
}
