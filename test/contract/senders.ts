/** Ways of calling a target: with supertest, or remembering every answer. */
import request from 'supertest'
import type { Call, ReceivedAnswer, Send } from '../../src/contract/index.js'
import { sendOverHttp } from '../../src/contract/target.js'

/** Calls with supertest, as the other tests of this repository do. */
export const overSupertest =
  (url: string): Send =>
  async ({ method, path, headers, body }) => {
    const sent = request(url)
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
    const response = await (body === undefined ? sent : sent.send(body))
    return { kind: 'answered', status: response.status, headers: new Headers(response.headers), text: response.body }
  }

/** Sends calls over HTTP, and remembers the answers to those that are not private. */
export function rememberingSend(url: string) {
  const send = sendOverHttp({ url, authUrl: url })
  const answers = new Map<string, ReceivedAnswer>()
  const remembering: Send = async (call, signal) => {
    const answered = await send(call, signal)
    if (!call.isPrivate) answers.set(nameOf(call), answered)
    return answered
  }
  return { send: remembering, answers }
}

/** User tokens differ each time, and the length of a long body is enough. */
const nameOf = ({ method, path, headers, body = '' }: Call) =>
  [
    method,
    path,
    headers.authorization?.replace(/\beyJhbGciOiJFUzI1NiI[\w.-]+/, 'a user token') ?? 'nothing',
    body.length > 1000 ? body.length : body,
  ].join(' ')
