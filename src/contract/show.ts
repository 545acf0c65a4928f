/** Shows a call and its answer to people: short, and without secrets. */
import { createRedact } from '../core/redact.js'
import { type Call, type Credentials, type Heard, UNKNOWN_MODEL } from './call.js'
import { forgedToken, forgedUserToken, unsignedToken } from './forged.js'
import type { Shown } from './verdict.js'

/** So many characters of a body are shown. */
const LONGEST = 400

/** `clean` takes secrets out of a text, and what could steer a terminal. */
export function createShow({ apiKey, anonKey, password }: Credentials) {
  const known = Object.entries({ 'api-key': apiKey, 'anon-key': anonKey, password }).flatMap(([name, value]) =>
    value ? [{ name, value }] : [],
  )
  const redact = createRedact({ headers: [], query: [], emails: true, patterns: [], known })

  const clean = (text: string) => redact().text(text).replace(control, asEscape)

  return {
    clean,
    shown(call: Call, heard: Heard): Shown {
      const { method, path, headers, body, isPrivate } = call
      const credential = credentialIn(headers.authorization, { apiKey, anonKey })
      const asked = [`${method} ${path} (${credential})`, ...(body !== undefined && !isPrivate ? [cut(body)] : [])]
      return { asked: clean(asked.join('\n')), answered: clean(answerText(heard, isPrivate === true)) }
    },
  }
}

/** All but the ends of lines: what could steer a terminal, wherever a report is read. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /(?!\r?\n|\t)[\u0000-\u001f\u007f-\u009f]/g

const asEscape = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`

function answerText(heard: Heard, isPrivate: boolean): string {
  if (heard.kind === 'unanswered') return `no answer: ${heard.why}`
  const { status, headers, text } = heard
  const facts = ['content-type', 'allow', 'location', 'retry-after'].flatMap(name => {
    const value = headers.get(name)
    return value === null ? [] : [`${name}: ${value}`]
  })
  const body = isPrivate ? '(not shown: it may hold tokens)' : cut(text)
  return [[String(status), ...facts].join(', '), ...(body === '' ? [] : [body])].join('\n')
}

/** In the words of the document. */
function credentialIn(authorization: string | undefined, { apiKey, anonKey }: Credentials): string {
  if (authorization === undefined) return 'no credential'
  if (apiKey && authorization === `Bearer ${apiKey}`) return 'Authorization: Bearer <API_KEY>'
  if (anonKey && authorization === `Bearer ${anonKey}`) return 'Authorization: Bearer <ANON_KEY>'
  if (apiKey && authorization === apiKey) return 'Authorization: <API_KEY>'
  if (anonKey && authorization === `Basic ${anonKey}`) return 'Authorization: Basic <ANON_KEY>'
  if (isUnsigned(authorization)) return 'Authorization: Bearer <a JWT without a signature>'
  if (authorization === `Bearer ${forgedToken({ credentials: { anonKey } })}`) {
    return 'Authorization: Bearer <a JWT with a wrong signature>'
  }
  if (authorization === `Bearer ${forgedUserToken({ credentials: { anonKey } })}`) {
    return 'Authorization: Bearer <a user JWT with a wrong signature>'
  }
  return /^Bearer ey/.test(authorization) ? 'Authorization: Bearer <a user JWT>' : `Authorization: ${authorization}`
}

const isUnsigned = (authorization: string) => authorization === `Bearer ${unsignedToken()}`

/** The same for every target: without what is the target's own. */
export function nameOf({ method, path, headers, body, isPrivate }: Call, credentials: Credentials): string {
  const line = `${method} ${path} (${credentialIn(headers.authorization, credentials)})`
  return body === undefined || isPrivate ? line : `${line} ${cut(withoutModel(body.trim()))}`
}

const withoutModel = (body: string) =>
  body.replace(/^\{"model":"([^"]*)"/, (whole, model) => (model === UNKNOWN_MODEL ? whole : '{"model":"<model_id>"'))

const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
