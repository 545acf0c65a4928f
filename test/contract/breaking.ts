/** A target that answers like a real stand-in, except for one thing. */
import type http from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Send } from '../../src/contract/target.js'
import type { Platform } from '../../src/index.js'

/** A request that the target received. */
export interface TargetRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly key: 'none' | 'anon' | 'api' | 'other'
  /** As in the header. */
  readonly authorization: string
  readonly text: string
  /** The fields of the body; none if it is not JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** What the target does differently: another answer, or `undefined` for no change. */
export type Change = (request: TargetRequest, answer: Answer) => Answer | undefined

type Base = Pick<Platform, 'url' | 'anonKey' | 'apiKey'>

/** A handler in front of a stand-in, with one change to its answers. */
export function breaking(base: Base, change: Change): http.RequestListener {
  return async (request, response) => {
    const bytes = await buffer(request)
    const headers = new Headers(request.headers as Record<string, string>)
    const one = { method: request.method ?? '', path: request.url ?? '', headers, text: bytes.toString() }
    const answer = await answerOf(base, one)
    const { status, headers: changed, text } = change(requestOf(one, base), answer) ?? answer
    response.writeHead(status, changed).end(text)
  }
}

/**
 * Sends calls to stand-ins that differ from this one by a change. Each call reaches this one only once, and all changes share its answer:
 * a call changes nothing, so the answer would be the same.
 */
export function sendingTo(base: Base): (change: Change) => Send {
  const answers = new Map<string, { readonly body: string; readonly answer: Promise<Answer> }[]>()
  return change =>
    async ({ method, path, headers: given, body = '' }) => {
      const one = { method, path, headers: new Headers(given), text: body }
      const name = `${method} ${path} ${JSON.stringify(given)}`
      // One body has 4 MB, which takes long to hash.
      const alike = answers.get(name) ?? []
      const remembered = alike.find(known => known.body === body)?.answer ?? answerOf(base, one)
      answers.set(name, [...alike.filter(known => known.body !== body), { body, answer: remembered }])
      const answer = await remembered
      const { status, headers, text } = change(requestOf(one, base), answer) ?? answer
      return { kind: 'answered', status, headers: new Headers(headers), text }
    }
}

interface RawRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly text: string
}

function requestOf({ method, path, headers, text }: RawRequest, base: Base): TargetRequest {
  const authorization = headers.get('authorization') ?? ''
  return {
    ...{ method, path, authorization, key: keyOf(authorization, base), text },
    // Most changes do not look at it, and it may have 4 MB.
    get body() {
      return fieldsIn(text)
    },
  }
}

function keyOf(authorization: string, { anonKey, apiKey }: Base): TargetRequest['key'] {
  if (authorization === '') return 'none'
  if (authorization === `Bearer ${anonKey}`) return 'anon'
  return authorization === `Bearer ${apiKey}` ? 'api' : 'other'
}

function fieldsIn(text: string): TargetRequest['body'] {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

const forwardedHeaders = [
  'authorization',
  'apikey',
  'content-type',
  'origin',
  'access-control-request-method',
  'accept',
]
const returnedHeaders = ['content-type', 'allow', 'access-control-allow-origin']

async function answerOf({ url }: Base, { method, path, headers, text }: RawRequest): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: pick(forwardedHeaders, headers),
    ...(text !== '' && { body: text }),
  })
  return {
    status: answer.status,
    headers: Object.fromEntries(pick(returnedHeaders, answer.headers)),
    text: await answer.text(),
  }
}

const pick = (names: readonly string[], headers: Headers) =>
  names.flatMap(name => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value] as [string, string]]
  })
