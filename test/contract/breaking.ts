/** A target that answers as a real stand-in does, but for one thing. */
import type http from 'node:http'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
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
    const asked = askedOf(request, bytes.toString(), base)
    const answer = await answerOf(base, request, bytes)
    const { status, headers, text } = change(asked, answer) ?? answer
    response.writeHead(status, headers).end(text)
  }
}

function askedOf({ method = '', url = '', headers }: IncomingMessage, text: string, base: Base): Asked {
  const { authorization = '' } = headers
  return { method, path: url, authorization, key: keyOf(authorization, base), text, body: fieldsIn(text) }
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

const passedOn = ['authorization', 'apikey', 'content-type', 'origin', 'access-control-request-method']
const passedBack = ['content-type', 'allow', 'www-authenticate', 'access-control-allow-origin']

async function answerOf({ url }: Base, request: IncomingMessage, bytes: Buffer): Promise<Answer> {
  const { method = '' } = request
  const answer = await fetch(url + request.url, {
    method,
    headers: passedOn.flatMap(name => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value] as [string, string]] : []
    }),
    ...(bytes.length > 0 && { body: new Uint8Array(bytes) }),
  })
  const headers = passedBack.flatMap(name => {
    const value = answer.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return { status: answer.status, headers: Object.fromEntries(headers), text: await answer.text() }
}
