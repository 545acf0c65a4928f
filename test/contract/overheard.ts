/** Ways of asking a target: with supertest, or so that every answer is remembered. */
import request from 'supertest'
import type { Call, ReceivedAnswer, Send } from '../../src/contract/index.js'
import { sendOverHttp } from '../../src/contract/target.js'

/** Asks with supertest, as the other tests of this repository do. */
export const overSupertest =
  (url: string): Send =>
  async ({ method, path, headers, body }) => {
    const asked = request(url)
      [method.toLowerCase() as 'get'](path)
      .set(headers)
      .ok(() => true)
      .redirects(0)
      .buffer(true)
      .parse((response, done) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('end', () => done(null, Buffer.concat(pieces).toString()))
      })
    const response = await (body === undefined ? asked : asked.send(body))
    return { kind: 'answered', status: response.status, headers: new Headers(response.headers), text: response.body }
  }

/** What was said to each call, without what is private. */
export function overhearing(url: string) {
  const send = sendOverHttp({ url, authUrl: url, insecure: false })
  const heard = new Map<string, ReceivedAnswer>()
  const listening: Send = async (call, signal) => {
    const answered = await send(call, signal)
    if (!call.isPrivate) heard.set(nameOf(call), answered)
    return answered
  }
  return { send: listening, heard }
}

/** User tokens differ each time, and a long body is as good as its length. */
const nameOf = ({ method, path, headers, body = '' }: Call) =>
  [
    method,
    path,
    headers.authorization?.replace(/\beyJhbGciOiJFUzI1NiI[\w.-]+/, 'a user token') ?? 'nothing',
    body.length > 1000 ? body.length : body,
  ].join(' ')
