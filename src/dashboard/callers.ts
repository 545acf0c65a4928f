/** Who may ask the dashboard's API for what. */
import type { Request } from 'express'
import { type ControlKeys, requireDeveloper as requireDeveloperFrom } from '../auth/developer.js'
import type { Identify } from '../auth/identify.js'
import { missingCredential, wrongKind } from '../core/errors.js'
import type { Caller } from '../core/exchange.js'

export type User = Extract<Caller, { kind: 'user' }>

/** The signed-in user who asks. Rejects with a 401 for anybody else. */
export async function requireUser(request: Request, identify: Identify): Promise<User> {
  const caller = await identify(request.headers.authorization)
  if (caller.kind === 'user') return caller
  if (caller.kind === 'anonymous' || caller.kind === 'refused' || caller.kind === 'stranger') throw missingCredential()
  throw wrongKind(caller.kind, ['user'], `${request.method} ${request.originalUrl.split('?', 1)[0]}`)
}

/** Returns when the developer asks: on this machine, or with the control token or a secret service key. Rejects with a 403 otherwise. */
export const requireDeveloper = ({ socket, headers }: Request, keys: ControlKeys): Promise<void> =>
  requireDeveloperFrom({ remoteAddress: socket.remoteAddress, authorization: headers.authorization }, keys)
