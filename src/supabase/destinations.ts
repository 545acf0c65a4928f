/** Decides which addresses links may redirect to: the site, this machine, and those on the allow list. */
import { globTest } from '../check/globs.js'
import { isLoopback } from '../core/origins.js'
import type { AuthSettings } from './backend.js'

type Destinations = Pick<AuthSettings, 'siteUrl' | 'uriAllowList'>

/** Returns the first of these addresses that a link may redirect to, or else the site's. */
export const redirectTo = (settings: Destinations, candidates: readonly (string | undefined)[]): string =>
  candidates.find(address => address !== undefined && mayRedirectTo(settings, address)) ?? settings.siteUrl

/** Schemes whose URLs run code, contain a document, or read a local file. */
const harmfulSchemes = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'blob:',
  'file:',
  'filesystem:',
  'about:',
  'view-source:',
])

const isWeb = (protocol: string) => protocol === 'http:' || protocol === 'https:'

function mayRedirectTo({ siteUrl, uriAllowList }: Destinations, address: string): boolean {
  // Browsers ignore these characters, so they could hide where an address leads.
  if (/[\0-\x20\x7f]/.test(address) || !URL.canParse(address)) return false
  const { protocol, host, hostname, port } = new URL(address)
  if (harmfulSchemes.has(protocol)) return false
  if (isWeb(protocol)) {
    if (!isPlain(address, protocol, host)) return false
    const site = new URL(siteUrl)
    if (isIpAddress(hostname)) return isLoopback(hostname)
    if (site.protocol === protocol && site.hostname === hostname) {
      if (site.port === port || hostname === 'localhost') return true
    }
  }
  const [withoutFragment = ''] = address.split('#', 1)
  return uriAllowList.some(glob => globTest(glob)(withoutFragment))
}

/** Whether a web address shows its host openly: no user name before an @, no backslashes, no encoded numbers. */
function isPlain(address: string, protocol: string, host: string): boolean {
  const start = `${protocol}//${host}`
  return address.toLowerCase().startsWith(start) && /^(:\d*)?([/?#]|$)/.test(address.slice(start.length))
}

const isIpAddress = (hostname: string) => /^\d+\.\d+\.\d+\.\d+$|^\[/.test(hostname)
