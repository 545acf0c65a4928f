/** /auth/v1/admin/users: lists, creates, changes and deletes users with the service key. */
import type { Exchange } from '../../core/exchange.js'
import { jsonReply } from '../../core/reply.js'
import type { Moment, Tables, UserRow } from '../../state/rows.js'
import { type Backend, momentOf } from '../backend.js'
import { isUuid } from '../callers.js'
import { dropTokens } from '../codes.js'
import { idExists, idNotUuid, phoneExists, userNotFound, validationFailed } from '../errors.js'
import { hashOf, randomPassword, requireStrength } from '../passwords.js'
import { endSessionsOf, removeUser } from '../sessions.js'
import {
  anonymized,
  changedPassword,
  confirmedEmail,
  confirmedPhone,
  identityData,
  mergeMetadata,
  newUser,
  providersOf,
  requireFree,
  settledAddresses,
  userJson,
  withIdentity,
} from '../users.js'
import { withAddresses } from './addresses.js'
import { type Params, readParams } from './forms.js'
import { forAdmin, queryOf } from './frame.js'

export const listUsers = forAdmin({
  at: 'GET /admin/users',
  async reply(backend, exchange) {
    const query = queryOf(exchange)
    const isOldestFirst = isOldestFirstIn(query)
    const page = pageIn(query)
    const aud = 'authenticated'
    const found = await backend.state.read(({ users }) => users.find({ aud }))
    const matching = found.filter(user => matchesFilter(user, query.get('filter') ?? ''))
    if (isOldestFirst) matching.reverse()
    const users = matching.slice((page.number - 1) * page.size, page.number * page.size)
    return {
      // Supabase does not load the identities for its list.
      ...jsonReply({ users: users.map(user => ({ ...userJson(user), identities: null })), aud }),
      headers: pageHeaders(query, page, matching.length),
    }
  },
})

/** Reads the `sort` parameter: `created_at asc` or `created_at desc`, which is the default. */
function isOldestFirstIn(query: URLSearchParams): boolean {
  const sort = query.get('sort') ?? 'created_at'
  const match = /^created_at(?: (asc|desc))?$/i.exec(sort)
  if (!match) throw validationFailed(`Bad Sort Parameters: ${JSON.stringify(sort)}`)
  return match[1]?.toLowerCase() === 'asc'
}

const matchesFilter = ({ email, user_metadata: { full_name } }: UserRow, text: string) =>
  (email ?? '').includes(text) ||
  (typeof full_name === 'string' && full_name.toLowerCase().includes(text.toLowerCase()))

/** Reads which page a query asks for. Throws a 400 for anything but numbers. */
function pageIn(query: URLSearchParams) {
  const [number, size] = [query.get('page') || '1', query.get('per_page') || '50']
  const mistake = [number, size].find(text => !/^\d{1,15}$/.test(text))
  if (mistake !== undefined) {
    throw validationFailed(`Bad Pagination Parameters: ${JSON.stringify(mistake)} is no number of up to 15 digits`)
  }
  if (Number(size) === 0) throw validationFailed('Bad Pagination Parameters: per_page must be greater than 0')
  return { number: Math.max(1, Number(number)), size: Number(size) }
}

/**
 * The headers of a page: the total count, and links to the next and the last page as the server behind the gateway sees
 * them.
 */
function pageHeaders(query: URLSearchParams, page: ReturnType<typeof pageIn>, total: number): string[] {
  const { number, size } = page
  const last = Math.ceil(total / size)
  const linkTo = (pageNumber: number, rel: string) => {
    const params = new URLSearchParams(query)
    params.delete('apikey')
    params.set('page', String(pageNumber))
    params.sort()
    return `</admin/users?${params}>; rel="${rel}"`
  }
  const links = [...(number < last ? [linkTo(number + 1, 'next')] : []), linkTo(last, 'last')]
  return ['x-total-count', String(total), 'link', links.join(', ')]
}

export const getUserById = forAdmin({
  at: 'GET /admin/users/{id}',
  reply: async (backend, exchange) => jsonReply(userJson(await backend.state.read(tables => userIn(tables, exchange)))),
})

/** The position of the id in `/auth/v1/admin/users/{id}`. */
const USER_ID = 5

/** Returns the user whose id is in the path. Throws a 404 if there is none. */
export async function userIn({ users }: Tables, exchange: Exchange): Promise<UserRow> {
  const id = exchange.path.split('/')[USER_ID] ?? ''
  if (!isUuid(id)) throw idNotUuid()
  const user = await users.get(id.toLowerCase())
  if (!user) throw userNotFound()
  return user
}

const deletionFields = { should_soft_delete: 'boolean' } as const

export const deleteUser = forAdmin({
  at: 'DELETE /admin/users/{id}',
  async reply(backend, exchange) {
    await backend.state.read(tables => userIn(tables, exchange))
    const isEmpty = (exchange.body?.length ?? 0) === 0
    const isSoft = !isEmpty && readParams(exchange, deletionFields).should_soft_delete
    await backend.state.write(async tables => {
      const user = await userIn(tables, exchange)
      if (!isSoft) return removeUser(tables, user)
      if (user.deleted_at !== null) return
      await endSessionsOf(tables, user.id)
      await dropTokens(tables, user.id)
      await tables.flow_states.remove({ user_id: user.id })
      await tables.users.update(user.id, anonymized(user, momentOf(backend)))
    })
    return jsonReply({})
  },
})

const adminFields = {
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

type AdminParams = Params<typeof adminFields>

/** Reads the parameters of a request, with normalized addresses. Throws a 400 if they are invalid. */
function adminParamsIn(exchange: Exchange): AdminParams {
  const params = readParams(exchange, adminFields)
  if (params.password_hash !== '') {
    throw validationFailed('Password hashes cannot be imported here. Set a password instead.')
  }
  return withAddresses(params)
}

export const createUser = forAdmin({
  at: 'POST /admin/users',
  async reply(backend, exchange) {
    const params = adminParamsIn(exchange)
    if (params.email === '' && params.phone === '') {
      throw validationFailed('Cannot create a user without either an email or phone')
    }
    if (params.password) requireStrength(params.password, backend.settings)
    const encrypted_password = await hashOf(params.password || randomPassword())
    requireUserId(params.id)
    const user = createdByAdmin(backend, params, encrypted_password)
    await backend.state.write(async tables => {
      await requireFreeForAdmin(tables, params)
      if (await tables.users.get(user.id)) throw idExists()
      await tables.users.insert(user)
    })
    return jsonReply(userJson(user, 'fresh'))
  },
})

function requireUserId(id: string): void {
  if (id !== '' && !isUuid(id)) throw validationFailed('ID must conform to the uuid v4 format')
  if (/^[0-]+$/.test(id)) throw validationFailed('ID cannot be a nil uuid')
}

function createdByAdmin(backend: Backend, params: AdminParams, encrypted_password: string): UserRow {
  const { aud, id, user_metadata, app_metadata } = params
  const bare = newUser(momentOf(backend), {
    ...(id !== '' && { id: id.toLowerCase() }),
    ...(aud !== '' && { aud }),
    encrypted_password,
    user_metadata: user_metadata ?? {},
  })
  // As at Supabase, a new user's identities are unverified, even if their addresses are confirmed.
  const user = withAdminParams(backend, bare, params, { email: false, phone: false })
  return { ...user, app_metadata: mergeMetadata(providersOf({}, user.identities), app_metadata) }
}

/** Changes a user with the service key. Nothing has to be confirmed. */
export const updateUserById = forAdmin({
  at: 'PUT /admin/users/{id}',
  async reply(backend, exchange) {
    await backend.state.read(tables => userIn(tables, exchange))
    const params = adminParamsIn(exchange)
    bannedUntil(backend, params.ban_duration, null)
    const { password: newPassword } = params
    if (newPassword !== undefined) requireStrength(newPassword, backend.settings)
    const password = newPassword === undefined ? undefined : await hashOf(newPassword)
    const user = await backend.state.write(async tables => {
      const user = await userIn(tables, exchange)
      await requireFreeForAdmin(tables, params, user.id)
      const changed = changedByAdmin(backend, user, params, password)
      await tables.users.update(user.id, changed)
      if (password !== undefined) await endSessionsOf(tables, user.id)
      // Codes sent to an old address, or before the password changed, become invalid.
      if (password !== undefined || params.email !== '' || params.phone !== '') await dropTokens(tables, user.id)
      return changed
    })
    return jsonReply(userJson(user))
  },
})

function changedByAdmin(backend: Backend, user: UserRow, params: AdminParams, password: string | undefined): UserRow {
  const isReadable = (params.email !== '' && params.email_confirm) || (params.phone !== '' && params.phone_confirm)
  const before: UserRow = {
    ...user,
    ...(password !== undefined && changedPassword(password)),
    ...((params.email !== '' || params.phone !== '') && settledAddresses),
  }
  const changed = withAdminParams(backend, before, params, { email: params.email_confirm, phone: params.phone_confirm })
  return {
    ...changed,
    // An anonymous user stays anonymous until an address is confirmed.
    is_anonymous: user.is_anonymous && !isReadable,
    app_metadata: mergeMetadata(changed.app_metadata, params.app_metadata),
    user_metadata: mergeMetadata(changed.user_metadata, params.user_metadata),
  }
}

/**
 * Returns the user with the addresses, role, ban and confirmations that an admin sets. `verified` is stored in the
 * identities.
 */
function withAdminParams(
  backend: Backend,
  user: UserRow,
  params: AdminParams,
  verified: Readonly<Record<'email' | 'phone', boolean>>,
): UserRow {
  const at = momentOf(backend)
  let changed: UserRow = {
    ...user,
    updated_at: at,
    banned_until: bannedUntil(backend, params.ban_duration, user.banned_until),
    ...(params.role !== '' && { role: params.role.trim() }),
    ...(params.email_confirm && confirmedEmail(user, at)),
    ...(params.phone_confirm && confirmedPhone(at)),
  }
  for (const provider of ['email', 'phone'] as const) {
    const address = params[provider]
    if (address === '') continue
    const data = identityData(user.id, provider, address, verified[provider])
    changed = { ...changed, [provider]: address, identities: withIdentity(changed, provider, data, at) }
  }
  return changed
}

/** Throws a 422 if a user other than `ownId` has one of the addresses. */
const requireFreeForAdmin = (tables: Tables, params: AdminParams, ownId?: string) =>
  requireFree(tables, params, ownId, () => phoneExists('Phone number already registered by another user'))

/** The units of Go's durations, which Supabase uses for bans: `24h`, `1h30m`. */
const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The longest duration of Go, 292 years, in milliseconds. */
const LONGEST_BAN_MS = 2 ** 63 / 1e6

/**
 * Returns the time until which a user is banned; `before` if no duration is given. Throws a 400 for an invalid
 * duration.
 */
function bannedUntil({ now }: Backend, duration: string, before: Moment | null): Moment | null {
  if (duration === '') return before
  if (duration === 'none') return null
  const [, sign, amounts = ''] = /^([+-]?)(0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|ms|s|m|h))+)$/.exec(duration) ?? []
  const parts = [...amounts.matchAll(/(?<![\d.])([\d.]+)([a-z]+)/g)]
  const ms = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0)
  if (amounts === '' || ms > LONGEST_BAN_MS) {
    throw validationFailed(`invalid format for ban duration: time: invalid duration ${JSON.stringify(duration)}`)
  }
  return ms === 0 ? null : new Date(now() + (sign === '-' ? -ms : ms)).toISOString()
}
