/** A way of calling a target that remembers every answer. */
import type { Call, ReceivedAnswer, Send } from '../../src/contract/index.js'
import { sendOverHttp } from '../../src/contract/target.js'

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
