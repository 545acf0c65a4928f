/** Who may ask the dashboard's API for what. */
import type { Request } from 'express'
import type { Identify } from '../auth/identify.js'
import { missingCredential, onlyFromHere, wrongKind } from '../core/errors.js'
import type { Caller } from '../core/exchange.js'

export type User = Extract<Caller, { kind: 'user' }>

/** The signed-in user who asks. Rejects with a 401 for anybody else. */
export async function requireUser(request: Request, identify: Identify): Promise<User> {
  const caller = await identify(request.headers.authorization)
  if (caller.kind === 'user') return caller
  if (caller.kind === 'anonymous') throw missingCredential()
  throw wrongKind(caller.kind, ['user'], `${request.method} ${request.originalUrl.split('?', 1)[0]}`)
}

const loopback = /^(127\.|::1$|::ffff:127\.)/

/** Returns when the developer asks: on this machine, or with the service key. Rejects with a 403 otherwise. */
export async function requireDeveloper(request: Request, identify: Identify): Promise<void> {
  // What the socket says: a header such as X-Forwarded-For is written by whoever asks.
  if (loopback.test(request.socket.remoteAddress ?? '')) return
  if (request.headers.authorization === undefined) throw onlyFromHere()
  const caller = await identify(request.headers.authorization)
  if (caller.kind !== 'service') throw onlyFromHere()
}
