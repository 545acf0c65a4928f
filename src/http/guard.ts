/** Refuses foreign hosts and origins on Standin's own pages: another site must neither read nor control them. */
import type { IncomingHttpHeaders } from 'node:http'
import { foreignHost, foreignOrigin } from '../core/errors.js'

/** An IP address cannot be rebound through DNS, and neither can localhost. */
const safeHost = /^(localhost|[\w-]+\.localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])(:\d+)?$/i

/**
 * Throws a 403 unless the request names this server by address (or by `ownHost`) and comes from no page or from one of ours.
 * A trusted caller, such as a container that shows the control token, may call it by another name; a page may not.
 */
export function refuseForeign({ host = '', origin }: IncomingHttpHeaders, ownHost: string, isTrusted = false): void {
  const name = host.replace(/:\d+$/, '')
  const isOwn = safeHost.test(host) || name.toLowerCase() === ownHost.toLowerCase()
  if (!isOwn && !(isTrusted && origin === undefined)) throw foreignHost()
  if (origin === undefined) return
  if (!URL.canParse(origin) || new URL(origin).host !== host) throw foreignOrigin()
}
