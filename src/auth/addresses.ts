/** Where people and pages are: e-mail addresses, phone numbers, and addresses that a link may lead back to. */
import { validationFailed } from '../core/auth-errors.js'
import type { AuthSettings } from './backend.js'

/** The form that Supabase Auth asks for, which is HTML's. */
const email =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

const LONGEST_EMAIL = 255

/** The address in small letters. Throws a 400 for what is none. */
export function validEmail(given: string): string {
  if (given === '') throw validationFailed('An email address is required')
  if (given.length > LONGEST_EMAIL) throw validationFailed('An email address is too long')
  const address = given.toLowerCase()
  if (!email.test(address)) throw validationFailed('Unable to validate email address: invalid format')
  return address
}

export const formatPhone = (given: string) => given.replaceAll(/[+ ]/g, '')

/** The number as digits alone. Throws a 400 for what is none (E.164). */
export function validPhone(given: string): string {
  const number = formatPhone(given)
  if (!/^[1-9]\d{1,14}$/.test(number)) throw validationFailed('Invalid phone number format (E.164 required)')
  return number
}

type Destinations = Pick<AuthSettings, 'siteUrl' | 'uriAllowList'>

/** The first of the wanted addresses that a link may lead back to; the site itself when none is. */
export const redirectTo = (settings: Destinations, wanted: readonly (string | null | undefined)[]): string =>
  wanted.find(address => address && mayLeadTo(settings, address)) || settings.siteUrl

function mayLeadTo({ siteUrl, uriAllowList }: Destinations, address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, host, hostname, origin, pathname } = new URL(address)
  if (protocol === 'javascript:' || protocol === 'data:' || protocol === 'vbscript:') return false
  if (URL.canParse(siteUrl) && new URL(siteUrl).host === host && host !== '') return true
  if (/^127(\.\d+){3}$|^\[::1\]$/.test(hostname)) return true
  const bare = origin === 'null' ? address.replace(/[?#].*$/s, '') : `${origin}${pathname}`
  return uriAllowList.some(glob => patternOf(glob).test(bare) || patternOf(glob).test(bare.replace(/\/$/, '')))
}

/** Supabase's globs: `*` is anything but `.` and `/`, `**` is anything at all, `?` one character. */
function patternOf(glob: string): RegExp {
  const source = glob.replace(/\*\*|\*|\?|[^*?]+/g, part => {
    if (part === '**') return '.*'
    if (part === '*') return '[^./]*'
    return part === '?' ? '[^./]' : part.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${source}$`)
}
