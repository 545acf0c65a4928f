/** A target that answers as a real stand-in does, but for one thing. */
import type http from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Send } from '../../src/contract/call.js'
import type { Platform } from '../../src/index.js'

/** What the target was asked. */
export interface Asked {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly key: 'none' | 'anon' | 'api' | 'other'
  /** As it stands in the header. */
  readonly authorization: string
  readonly text: string
  /** The fields of the body; none where it is no JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** What the target does differently: another answer, or nothing. */
export type Change = (asked: Asked, answer: Answer) => Answer | undefined

type Base = Pick<Platform, 'url' | 'anonKey' | 'apiKey'>

/** A handler in front of a stand-in, with one change to what that says. */
export function breaking(base: Base, change: Change): http.RequestListener {
  return async (request, response) => {
    const bytes = await buffer(request)
    const headers = new Headers(request.headers as Record<string, string>)
    const one = { method: request.method ?? '', path: request.url ?? '', headers, text: bytes.toString() }
    const answer = await answerOf(base, one)
    const { status, headers: told, text } = change(askedOf(one, base), answer) ?? answer
    response.writeHead(status, told).end(text)
  }
}

/**
 * What sends calls to stand-ins that differ from this one by a change. Each call reaches this one once, however many others are asked for it
 * as well: it changes nothing, so that the answer is the same.
 */
export function sendingTo(base: Base): (change: Change) => Send {
  const answers = new Map<string, { readonly body: string; readonly answer: Promise<Answer> }[]>()
  return change =>
    async ({ method, path, headers: given, body = '' }) => {
      const one = { method, path, headers: new Headers(given), text: body }
      const name = `${method} ${path} ${JSON.stringify(given)}`
      // One body has 4 MB, which take long to hash.
      const alike = answers.get(name) ?? []
      const remembered = alike.find(known => known.body === body)?.answer ?? answerOf(base, one)
      answers.set(name, [...alike.filter(known => known.body !== body), { body, answer: remembered }])
      const answer = await remembered
      const { status, headers, text } = change(askedOf(one, base), answer) ?? answer
      return { kind: 'answered', status, headers: new Headers(headers), text }
    }
}

interface One {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly text: string
}

function askedOf({ method, path, headers, text }: One, base: Base): Asked {
  const authorization = headers.get('authorization') ?? ''
  return {
    ...{ method, path, authorization, key: keyOf(authorization, base), text },
    // Most changes do not look at it, and it may have 4 MB.
    get body() {
      return fieldsIn(text)
    },
  }
}

function keyOf(authorization: string, { anonKey, apiKey }: Base): Asked['key'] {
  if (authorization === '') return 'none'
  if (authorization === `Bearer ${anonKey}`) return 'anon'
  return authorization === `Bearer ${apiKey}` ? 'api' : 'other'
}

function fieldsIn(text: string): Asked['body'] {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

const passedOn = [
  ...['authorization', 'apikey', 'content-type', 'origin', 'access-control-request-method'],
  ...['accept', 'mcp-session-id', 'mcp-protocol-version', 'mcp-method'],
]
const passedBack = ['content-type', 'allow', 'www-authenticate', 'access-control-allow-origin', 'mcp-session-id']

async function answerOf({ url }: Base, { method, path, headers, text }: One): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: these(passedOn, headers),
    ...(text !== '' && { body: text }),
  })
  return {
    status: answer.status,
    headers: Object.fromEntries(these(passedBack, answer.headers)),
    text: await answer.text(),
  }
}

const these = (names: readonly string[], headers: Headers) =>
  names.flatMap(name => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value] as [string, string]]
  })
