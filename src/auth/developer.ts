/** Says whether it is the developer who asks: somebody on this machine, or whoever holds the service key. */
import { onlyFromHere } from '../core/errors.js'
import type { Identify } from './identify.js'

interface Asked {
  /** What the socket says: a header such as X-Forwarded-For is written by whoever asks. */
  readonly remoteAddress: string | undefined
  readonly authorization: string | undefined
}

const loopback = /^(127\.|::1$|::ffff:127\.)/

/** Returns when the developer asks. Rejects with a 403 otherwise, and with a 401 for a credential that is none. */
export async function requireDeveloper({ remoteAddress, authorization }: Asked, identify: Identify): Promise<void> {
  if (loopback.test(remoteAddress ?? '')) return
  if (authorization === undefined) throw onlyFromHere()
  const caller = await identify(authorization)
  if (caller.kind !== 'service') throw onlyFromHere()
}
