/** Which hosts are this machine, and which web pages are the user's own: only those may use a live key or an admin's. */
import type { IncomingHttpHeaders } from 'node:http'
import { foreignAdmin, foreignToLive, type Stranger } from './errors.js'

/** The option cors.origins: `auto` is any page for what is made here, and only the user's own for what goes to the live platform. */
export type OriginsOption = 'auto' | '*' | readonly string[]

/** Every page, or those of these origins. */
export type Pages = '*' | ((origin: string) => boolean)

export interface Origins {
  /** Whose pages may read what is answered here. */
  readonly local: Pages
  /** Whose pages may call what goes to the live platform. */
  readonly live: Pages
  /**
   * Throws a 403 for what a foreign page may have sent, before anything of it reaches the live platform. A link on another site
   * (`mayBeLinked`) carries no key, and leads to some paths on purpose.
   */
  requireOwn(headers: IncomingHttpHeaders, mayBeLinked?: boolean): void
  /** The same for a request with the rights of an admin. Servers in containers may use the names that containers have. */
  requireOwnAdmin(headers: IncomingHttpHeaders): void
}

const address = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/
/** Names that no website can have: those without a dot, and those under a domain that is reserved for private use. */
const isInternal = (name: string) => !name.includes('.') || name.endsWith('.internal')
const wildcards = new Set(['0.0.0.0', '::'])

export const isOpen = (origins: OriginsOption) => origins === '*' || origins.includes('*')

const nameOf = (host: string) => host.replace(/:\d*$/, '').toLowerCase()
/** The host of an origin with its port; nothing for `null` and for what is no origin. */
const hostOf = (origin: string) => /^[a-z][a-z\d+.-]*:\/\/([^\s/?#@\\,]+)$/i.exec(origin)?.[1]
const originOf = (referer = '') => /^[a-z][a-z\d+.-]*:\/\/[^/?#]+/i.exec(referer)?.[0] ?? 'null'

/** `host` is the address that was asked to be listened on. */
export function createOrigins({ host, origins }: { host: string; origins: OriginsOption }): Origins {
  const open = isOpen(origins)
  const listed = new Set(typeof origins === 'string' ? [] : origins)
  const ownNames = new Set(
    [host.includes(':') ? `[${host}]` : host, ...[...listed].flatMap(one => hostOf(one) ?? [])].map(nameOf),
  )

  const isOwnName = (name: string) =>
    isLoopback(name) || ownNames.has(name) || (wildcards.has(host) && address.test(name))
  const isOwnPage = (origin: string) => listed.has(origin) || isLoopback(nameOf(hostOf(origin) ?? ''))

  function strangerIn(headers: IncomingHttpHeaders, mayBeLinked: boolean): Stranger | undefined {
    if (open) return undefined
    // Only clients that are no browsers send no Host at all.
    const isOwnHost = headers.host === undefined || isOwnName(nameOf(headers.host))
    // A browser names no origin for pictures, frames and links, but says that they are on another site.
    const isLinked = headers.origin === undefined && headers['sec-fetch-site'] === 'cross-site' && !mayBeLinked
    const page = isLinked ? originOf(headers.referer) : headers.origin
    const isOwn = page === undefined || isOwnPage(page) || (isOwnHost && hostOf(page) === headers.host)
    if (!isOwn) return { kind: 'origin', name: page }
    return isOwnHost ? undefined : { kind: 'host', name: headers.host ?? '' }
  }

  return {
    local: open || origins === 'auto' ? '*' : origin => listed.has(origin),
    live: open ? '*' : isOwnPage,
    requireOwn(headers, mayBeLinked = false) {
      const stranger = strangerIn(headers, mayBeLinked)
      if (stranger) throw foreignToLive(stranger)
    },
    requireOwnAdmin(headers) {
      const stranger = strangerIn(headers, false)
      if (!stranger) return
      const name = nameOf(stranger.name)
      if (stranger.kind === 'origin' || !(isInternal(name) || address.test(name))) throw foreignAdmin(stranger)
    },
  }
}

const LOOPBACK_ADDRESS = /^(127(\.\d{1,3}){3}|::1|::ffff:(127(\.\d{1,3}){3}|7f[\da-f]{2}:[\da-f]{1,4}))$/

/** A name, or an address with or without the brackets that it has in a URL. */
export function isLoopback(host: string): boolean {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host
  // Names that lead to this machine whatever a DNS server says. No pattern finds their end: a long header must not cost a search.
  return bare === 'localhost' || LOOPBACK_ADDRESS.test(bare) || (bare.endsWith('.localhost') && /^[\w.-]+$/.test(bare))
}
