/** Reads and normalizes what admins may set of a user. */
import type { Exchange } from '../../core/exchange.js'
import type { Moment, Tables, UserRow } from '../../core/state.js'
import { requireFree, validEmail, validPhone } from '../addresses.js'
import { type Backend, momentOf } from '../backend.js'
import { phoneExists, validationFailed } from '../errors.js'
import { confirmedEmail, confirmedPhone, identityData, withIdentity } from '../users.js'
import { type Params, readParams } from './params.js'

export const adminFields = {
  id: 'string',
  aud: 'string',
  role: 'string',
  email: 'string',
  phone: 'string',
  password: 'string?',
  password_hash: 'string',
  email_confirm: 'boolean',
  phone_confirm: 'boolean',
  user_metadata: 'object?',
  app_metadata: 'object?',
  ban_duration: 'string',
} as const

export type AdminParams = Params<typeof adminFields>

/** Reads the parameters of a request. Throws a 400 if they are invalid. */
export function adminParamsIn(exchange: Exchange): AdminParams {
  const params = readParams(exchange, 'AdminUserParams', adminFields)
  if (params.password_hash !== '') {
    throw validationFailed('Password hashes cannot be imported here. Set a password instead.')
  }
  return params
}

/** Returns the parameters with normalized addresses. Throws a 400 for a malformed one. */
export const withValidAddresses = (params: AdminParams): AdminParams => ({
  ...params,
  email: params.email === '' ? '' : validEmail(params.email),
  phone: params.phone === '' ? '' : validPhone(params.phone),
})

/**
 * Returns the time until which a user is banned; `before` if no duration is given. Throws a 400 for an invalid
 * duration.
 */
export function bannedUntil({ now }: Backend, duration: string, before: Moment | null): Moment | null {
  if (duration === '') return before
  if (duration === 'none') return null
  const length = durationIn(duration)
  if ('mistake' in length) throw validationFailed(`invalid format for ban duration: time: ${length.mistake}`)
  return length.ms === 0 ? null : new Date(now() + length.ms).toISOString()
}

/**
 * Returns the user with the addresses, role, ban and confirmations that an admin sets. `verified` is stored in the
 * identities.
 */
export function withAdminParams(
  backend: Backend,
  user: UserRow,
  { email, phone, role, email_confirm, phone_confirm, ban_duration }: AdminParams,
  verified: Readonly<Record<'email' | 'phone', boolean>>,
): UserRow {
  const at = momentOf(backend)
  const changed: UserRow = {
    ...user,
    updated_at: at,
    banned_until: bannedUntil(backend, ban_duration, user.banned_until),
    ...(role !== '' && { role: role.trim() }),
    ...(email_confirm && confirmedEmail(user, at)),
    ...(phone_confirm && confirmedPhone(at)),
  }
  const withAddress = (user: UserRow, provider: 'email' | 'phone', address: string): UserRow => {
    if (address === '') return user
    const data = identityData(user.id, provider, address, verified[provider])
    return { ...user, [provider]: address, identities: withIdentity(user, provider, data, at) }
  }
  return withAddress(withAddress(changed, 'email', email), 'phone', phone)
}

/** Throws a 422 if a user other than `ownId` has one of the addresses. */
export const requireFreeForAdmin = (tables: Tables, params: AdminParams, ownId?: string) =>
  requireFree(tables, params, ownId, () => phoneExists('Phone number already registered by another user'))

/** The units of Go's durations, which Supabase uses for bans: `24h`, `1h30m`. */
const unitMs: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

/** Go counts nanoseconds in 64 bits. */
const LONGEST_MS = 2 ** 63 / 1e6

/** Returns the duration in milliseconds, or Go's message about what is wrong with it. */
export function durationIn(text: string): { readonly ms: number } | { readonly mistake: string } {
  const quoted = JSON.stringify(text)
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? []
  if (rest === '0') return { ms: 0 }
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)([^\d.]*)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== rest)
    return { mistake: `invalid duration ${quoted}` }
  let ms = 0
  for (const [, count, unit = ''] of parts) {
    const factor = unitMs.get(unit)
    if (unit === '') return { mistake: `missing unit in duration ${quoted}` }
    if (factor === undefined) return { mistake: `unknown unit ${JSON.stringify(unit)} in duration ${quoted}` }
    ms += Number(count) * factor
  }
  if (ms > LONGEST_MS) return { mistake: `invalid duration ${quoted}` }
  return { ms: sign === '-' ? -ms : ms }
}
