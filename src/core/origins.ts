/**
 * Decides which hosts are this machine, and which web pages belong to the user. Only those may use a live or admin key.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { refusal } from './errors.js'

/**
 * The option cors.origins. `auto` allows any page for emulated answers, and only the user's own pages for the live
 * platform.
 */
type OriginsOption = 'auto' | '*' | readonly string[]

/** All pages, or a test for the origin of a page. */
export type Pages = '*' | ((origin: string) => boolean)

export interface Origins {
  /** The pages that may read emulated answers. */
  readonly local: Pages
  /** The pages that may make requests to the live platform. */
  readonly live: Pages
  /**
   * Throws a 403 for requests that may come from a foreign page, before anything reaches the live platform. A link on
   * another site (`mayBeLinked`) carries no key, and some paths are meant to be linked.
   */
  requireOwn(headers: IncomingHttpHeaders, mayBeLinked?: boolean): void
  /** Throws a 403 for requests from a foreign page to an MCP server, as its specification requires (Transports, "Security Warning"). */
  requireOwnPage(headers: IncomingHttpHeaders): void
  /** The same for requests with admin rights. Servers in containers may use container host names. */
  requireOwnAdmin(headers: IncomingHttpHeaders): void
}

const address = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/
/** Names that no website can have: those without a dot, and those under a domain reserved for private use. */
const isInternal = (name: string) => !name.includes('.') || name.endsWith('.internal')
/** The addresses that stand for all of a machine. */
export const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

export const allowsAllPages = (origins: OriginsOption) => origins === '*' || origins.includes('*')

const hostName = (host: string) => host.replace(/:\d*$/, '').toLowerCase()
/** The host and port of an origin; `undefined` for `null` and other values that are no origin. */
const hostOf = (origin: string) => /^[a-z][a-z\d+.-]*:\/\/([^\s/?#@\\,]+)$/i.exec(origin)?.[1]
const originOf = (referer = '') => /^[a-z][a-z\d+.-]*:\/\/[^/?#]+/i.exec(referer)?.[0] ?? 'null'

/** Applies the option cors.origins. `host` is the address that the server was asked to listen on. */
export function createOrigins({ host, origins }: { host: string; origins: OriginsOption }): Origins {
  const open = allowsAllPages(origins)
  const listed = new Set(typeof origins === 'string' ? [] : origins)
  const ownHosts = [host.includes(':') ? `[${host}]` : host, ...[...listed].flatMap(origin => hostOf(origin) ?? [])]
  const ownNames = new Set(ownHosts.map(hostName))
  const isOwnName = (name: string) =>
    isLoopback(name) || ownNames.has(name) || (wildcards.has(host) && address.test(name))
  const isOwnPage = (origin: string) => listed.has(origin) || isLoopback(hostName(hostOf(origin) ?? ''))

  function foreignSourceOf(headers: IncomingHttpHeaders, mayBeLinked: boolean): ForeignSource | undefined {
    if (open) return undefined
    // Browsers always send a Host.
    const isOwnHost = headers.host === undefined || isOwnName(hostName(headers.host))
    // For images, frames and links a browser sends no Origin, but does say that they are cross-site.
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
      const source = foreignSourceOf(headers, mayBeLinked)
      if (source) throw foreignToLive(source)
    },
    requireOwnPage(headers) {
      const source = foreignSourceOf(headers, false)
      if (source?.kind === 'origin') throw foreignToTools(source)
    },
    requireOwnAdmin(headers) {
      const source = foreignSourceOf(headers, false)
      if (!source) return
      const name = hostName(source.name)
      if (source.kind === 'origin' || !(isInternal(name) || address.test(name))) throw foreignAdmin(source)
    },
  }
}

const LOOPBACK_ADDRESS = /^(127(\.\d{1,3}){3}|::1|::ffff:(127(\.\d{1,3}){3}|7f[\da-f]{2}:[\da-f]{1,4}))$/

/** Whether a host is this machine. Accepts a name, or an address with or without the brackets of a URL. */
export function isLoopback(host: string): boolean {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host
  // These names resolve to this machine whatever a DNS server says (RFC 6761 §6.3). `endsWith` comes first, so that a
  // long header is not searched.
  return bare === 'localhost' || LOOPBACK_ADDRESS.test(bare) || (bare.endsWith('.localhost') && /^[\w.-]+$/.test(bare))
}

/** Why a request counts as foreign: the page's origin, or the host name that it used. */
interface ForeignSource {
  readonly kind: 'origin' | 'host'
  readonly name: string
}

/** Only for the log: a page must not learn how to get access. */
function howToAllow({ kind, name }: ForeignSource): string {
  const shown = JSON.stringify(kind === 'host' ? `http://${name.slice(0, 100)}` : name.slice(0, 100))
  if (name === 'null')
    return 'Sandboxed frames, local files and links without a referrer have no origin. Only cors.origins: ["*"] allows them, along with every other page.'
  return kind === 'origin'
    ? `If ${shown} is your own page, add it to the option cors.origins.`
    : `If that is a name of this machine, add ${shown} to the option cors.origins, or set the option host to it.`
}

const foreign = (source: ForeignSource, message: string) =>
  refusal(403, source.kind === 'origin' ? 'foreign_origin' : 'foreign_host', message, { hint: howToAllow(source) })

const foreignToLive = (source: ForeignSource) =>
  foreign(
    source,
    source.kind === 'origin'
      ? 'Pages of this origin may not use the live platform through this address.'
      : 'The live platform cannot be used through this address under this host name.',
  )

/** Only for pages: an MCP server may be called under any host name. */
const foreignToTools = (source: ForeignSource) => foreign(source, 'Pages of this origin may not call MCP servers here.')

const foreignAdmin = (source: ForeignSource) => {
  const where = source.kind === 'origin' ? 'from pages of this origin' : 'under this host name'
  return foreign(source, `Admin keys are not accepted ${where}.`)
}
