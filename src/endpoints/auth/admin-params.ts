/** What admins may say of a user, read and put in its one form. */
import { validEmail, validPhone } from '../../auth/addresses.js'
import type { Backend } from '../../auth/backend.js'
import { durationIn } from '../../auth/durations.js'
import { emailExists, phoneExists, validationFailed } from '../../core/auth-errors.js'
import type { Exchange } from '../../core/exchange.js'
import type { Moment, Tables } from '../../core/state.js'
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

/** The parameters of a request. Throws a 400 for what cannot be read. */
export const adminParamsIn = (exchange: Exchange): AdminParams => readParams(exchange, 'AdminUserParams', adminFields)

/** The same with addresses in their one form. Throws a 400 for what is none. */
export const withValidAddresses = (params: AdminParams): AdminParams => ({
  ...params,
  email: params.email === '' ? '' : validEmail(params.email),
  phone: params.phone === '' ? '' : validPhone(params.phone),
})

/** Until when somebody is banned; `before` when nothing is said of it. Throws a 400 for what is no duration. */
export function bannedUntil({ now }: Backend, duration: string, before: Moment | null): Moment | null {
  if (duration === '') return before
  if (duration === 'none') return null
  const length = durationIn(duration)
  if ('mistake' in length) throw validationFailed(`invalid format for ban duration: time: ${length.mistake}`)
  return length.ms === 0 ? null : new Date(now() + length.ms).toISOString()
}

/** Throws a 422 when somebody else than `ownId` has one of the addresses. */
export async function requireFree({ users }: Tables, { email, phone }: AdminParams, ownId?: string): Promise<void> {
  const others = async (address: { email: string } | { phone: string }) =>
    (await users.find(address)).some(({ id }) => id !== ownId)
  if (email !== '' && (await others({ email }))) throw emailExists()
  if (phone !== '' && (await others({ phone }))) throw phoneExists('Phone number already registered by another user')
}
