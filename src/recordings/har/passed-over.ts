/** Says which entries of a HAR file are no exchange with the platform. */
import { isAuth, isReserved } from '../../core/reserved.js'
import type { Entry } from './form.js'

/** Why an entry is passed over, in the words in which they are counted. */
export type Reason =
  | 'not over HTTP'
  | 'to other servers'
  | 'of the auth backend'
  | "of Standin's own"
  | 'preflights'
  | 'static files'
  | 'without an answer'
  | "answered from the browser's cache"
  | 'without the body of the request'
  | 'without the body of the answer'

/** Where an entry leads: below the base as the platform sees it, not decoded. */
export interface Place {
  readonly path: string
  readonly query: string
}

/** The place of an address, or why it is none of the platform's. */
export function placeOf(url: string, base: string | undefined): Place | Reason {
  // Not a URL object's: that would decode and shorten what the client has sent.
  const [, origin, path = '', query = ''] = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? []
  if (origin === undefined) return 'not over HTTP'
  const below = base === undefined ? path : pathBelow(new URL(base), new URL(origin), path)
  if (below === undefined) return 'to other servers'
  return { path: below === '' ? '/' : below, query }
}

function pathBelow(base: URL, { origin }: URL, path: string): string | undefined {
  const prefix = base.pathname.replace(/\/+$/, '')
  const rest = path.slice(prefix.length)
  return base.origin === origin && path.startsWith(prefix) && /^($|\/)/.test(rest) ? rest : undefined
}

/** Why an entry at this place is not to be kept, if it is not. */
export function reasonAgainst(entry: Entry, { path }: Place): Reason | undefined {
  const { request, response } = entry
  if (isAuth(path)) return 'of the auth backend'
  if (isReserved(path)) return "of Standin's own"
  // Written by `standin export`: it was a recording, whatever it looks like.
  if (typeof response._complete === 'boolean') return undefined
  if (request.method.toUpperCase() === 'OPTIONS') return 'preflights'
  if (isStatic(entry)) return 'static files'
  // Browsers have 0 for what was cancelled, blocked or never reached; below 200 nothing is an answer yet.
  if (response.status < 200 || response.status > 599) return 'without an answer'
  if (response.status === 304) return "answered from the browser's cache"
  if (lacksRequestBody(request)) return 'without the body of the request'
  return (response.content.text ?? undefined) === undefined && response.content.size > 0
    ? 'without the body of the answer'
    : undefined
}

const staticTypes = /^(image|font|audio|video)\/|^text\/css\b|\b(java|ecma)script\b|\bwasm\b|\bmanifest\+json\b/i
const staticResources = /^(document|stylesheet|script|image|img|imageset|font|media|manifest|texttrack)$/i

/** By what it is, never by its path. A page is one when it was got: a gateway's error is written in HTML as well. */
function isStatic({ request, response, _resourceType }: Entry): boolean {
  if (request.method.toUpperCase() !== 'GET') return false
  const { mimeType } = response.content
  // What a browser calls a document may be an answer of the platform that was opened in a tab.
  if (/^(text\/event-stream|application\/((x-)?ndjson|json))\b/i.test(mimeType)) return false
  if (staticTypes.test(mimeType) || staticResources.test(String(_resourceType ?? ''))) return true
  return /^text\/html\b/i.test(mimeType) && response.status < 400
}

function lacksRequestBody({ postData, bodySize }: Entry['request']): boolean {
  const isThere = (postData?.text ?? undefined) !== undefined || (postData?.params.length ?? 0) > 0
  return bodySize > 0 && !isThere
}
