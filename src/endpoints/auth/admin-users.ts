/** /auth/v1/admin/users: what the service key may do with users. */
import { randomBytes } from 'node:crypto'
import { validEmail, validPhone } from '../../auth/addresses.js'
import { isUuid } from '../../auth/authenticate.js'
import { type Backend, momentOf } from '../../auth/backend.js'
import { durationMs } from '../../auth/durations.js'
import { hashOf, isKnownHash, requireStrength, tooLong } from '../../auth/passwords.js'
import { endSessionsOf } from '../../auth/sessions.js'
import {
  confirmedEmail,
  confirmedPhone,
  identityData,
  mergeMetadata,
  newIdentity,
  newUser,
  providersOf,
  userJson,
  withIdentity,
} from '../../auth/users.js'
import { emailExists, idNotUuid, phoneExists, userNotFound, validationFailed } from '../../core/auth-errors.js'
import type { Endpoint, Exchange } from '../../core/exchange.js'
import type { Identity, Moment, Tables, UserRow } from '../../core/state.js'
import { jsonReply } from '../json-reply.js'
import { forAdmin, idIn } from './frame.js'
import { type Params, queryOf, readParams } from './params.js'

const fields = {
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

type AdminParams = Params<typeof fields>

const otherPhone = 'Phone number already registered by another user'

export const createUser = (backend: Backend): Endpoint =>
  forAdmin(backend)('POST', '/admin/users', async exchange => {
    const params = paramsIn(exchange)
    if (params.email === '' && params.phone === '') {
      throw validationFailed('Cannot create a user without either an email or phone')
    }
    if (params.id !== '' && !isUuid(params.id)) throw validationFailed('ID must conform to the uuid v4 format')
    const encrypted_password = await passwordOf(params)
    const user = madeByAdmin(backend, params, encrypted_password)
    await (await backend.state()).write(async tables => {
      await requireFree(tables, params, undefined)
      await tables.users.insert(user)
    })
    return jsonReply(userJson(user))
  })

/** The parameters with addresses in their one form. */
function paramsIn(exchange: Exchange): AdminParams {
  const params = readParams(exchange, 'AdminUserParams', fields)
  const email = params.email === '' ? '' : validEmail(params.email)
  const phone = params.phone === '' ? '' : validPhone(params.phone)
  return { ...params, email, phone }
}

async function passwordOf({ password = '', password_hash }: AdminParams): Promise<string> {
  if (password !== '' && password_hash !== '') {
    throw validationFailed('Only a password or a password hash should be provided')
  }
  if (Buffer.byteLength(password) > 72) throw tooLong()
  if (password_hash === '') return hashOf(password === '' ? randomBytes(32).toString('base64url') : password)
  if (!isKnownHash(password_hash))
    throw validationFailed('The password hash is not a bcrypt, argon2 or Firebase scrypt hash')
  return password_hash
}

function madeByAdmin(backend: Backend, params: AdminParams, encrypted_password: string): UserRow {
  const { email, phone, role, aud, id, email_confirm, phone_confirm } = params
  const at = momentOf(backend)
  const plain = newUser(at, {
    ...(id !== '' && { id }),
    ...(role !== '' && { role }),
    ...(aud !== '' && { aud }),
    ...(email !== '' && { email }),
    ...(phone !== '' && { phone }),
    encrypted_password,
    user_metadata: mergeMetadata({}, params.user_metadata),
    banned_until: bannedUntil(backend, params.ban_duration, null),
  })
  const identities: Identity[] = []
  if (email !== '') identities.push(newIdentity(plain.id, 'email', identityData(plain.id, 'email', email), at))
  if (phone !== '') identities.push(newIdentity(plain.id, 'phone', identityData(plain.id, 'phone', phone), at))
  const user = {
    ...plain,
    identities,
    app_metadata: mergeMetadata(providersOf({}, identities), params.app_metadata),
  }
  return {
    ...user,
    ...(email_confirm && confirmedEmail(user, at)),
    ...(phone_confirm && confirmedPhone(user, at)),
  }
}

function bannedUntil({ now }: Backend, duration: string, before: Moment | null): Moment | null {
  if (duration === '') return before
  if (duration === 'none') return null
  const lengthMs = durationMs(duration)
  if (lengthMs === undefined) {
    throw validationFailed(`invalid format for ban duration: time: invalid duration ${JSON.stringify(duration)}`)
  }
  return new Date(now() + lengthMs).toISOString()
}

async function requireFree({ users }: Tables, { email, phone }: AdminParams, own: UserRow | undefined): Promise<void> {
  if (email !== '' && email !== own?.email && (await users.count({ email })) > 0) throw emailExists()
  if (phone !== '' && phone !== own?.phone && (await users.count({ phone })) > 0) throw phoneExists(otherPhone)
}

const PER_PAGE = 50

export const listUsers = (backend: Backend): Endpoint =>
  forAdmin(backend)('GET', '/admin/users', async exchange => {
    const query = queryOf(exchange)
    const page = Math.max(1, countIn(query.get('page'), 1))
    const perPage = Math.max(1, countIn(query.get('per_page'), PER_PAGE))
    const { users, total } = await (await backend.state()).read(async ({ users }) => ({
      users: await users.find({}, { limit: perPage, offset: (page - 1) * perPage }),
      total: await users.count({}),
    }))
    const last = Math.ceil(total / perPage)
    const linkTo = (to: number, rel: string) =>
      `</admin/users?page=${to}&per_page=${query.get('per_page') ?? ''}>; rel="${rel}"`
    const links = [...(last > page ? [linkTo(page + 1, 'next')] : []), linkTo(last, 'last')].join(', ')
    return {
      ...jsonReply({ users: users.map(userJson), aud: 'authenticated' }),
      headers: ['x-total-count', String(total), 'link', links],
    }
  })

function countIn(text: string | null, otherwise: number): number {
  if (text === null || text === '') return otherwise
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw validationFailed(
    `Bad Pagination Parameters: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  )
}

export const getUserById = (backend: Backend): Endpoint =>
  forAdmin(backend)('GET', '/admin/users/{id}', async exchange =>
    jsonReply(userJson(await (await backend.state()).read(tables => userIn(tables, exchange)))),
  )

/** The user whose id is in the path. Throws a 404 when there is none. */
async function userIn({ users }: Tables, exchange: Exchange): Promise<UserRow> {
  const id = idIn(exchange)
  if (!isUuid(id)) throw idNotUuid()
  const user = await users.get(id.toLowerCase())
  if (!user) throw userNotFound()
  return user
}

export const updateUserById = (backend: Backend): Endpoint =>
  forAdmin(backend)('PUT', '/admin/users/{id}', async exchange => {
    const state = await backend.state()
    await state.read(tables => userIn(tables, exchange))
    const params = paramsIn(exchange)
    if (params.password !== undefined && params.password !== '') requireStrength(params.password, backend.settings)
    const setsPassword = (params.password ?? '') !== '' || params.password_hash !== ''
    const password = setsPassword ? await passwordOf(params) : undefined
    const user = await state.write(async tables => {
      const user = await userIn(tables, exchange)
      await requireFree(tables, params, user)
      const changes = changesByAdmin(backend, user, params)
      await tables.users.update(user.id, { ...changes, ...(password && { encrypted_password: password }) })
      if (password) await endSessionsOf(tables, user.id)
      return { ...user, ...changes }
    })
    return jsonReply(userJson(user))
  })

function changesByAdmin(backend: Backend, user: UserRow, params: AdminParams): Partial<UserRow> {
  const { email, phone, role, email_confirm, phone_confirm, user_metadata, app_metadata, ban_duration } = params
  const at = momentOf(backend)
  let changed: UserRow = {
    ...user,
    updated_at: at,
    banned_until: bannedUntil(backend, ban_duration, user.banned_until),
  }
  if (role !== '') changed = { ...changed, role }
  if (user_metadata) changed = { ...changed, user_metadata: mergeMetadata(changed.user_metadata, user_metadata) }
  if (email_confirm) changed = { ...changed, ...confirmedEmail(changed, at) }
  if (phone_confirm) changed = { ...changed, ...confirmedPhone(changed, at) }
  if (email !== '' && email !== user.email) {
    const data = identityData(user.id, 'email', email, {}, email_confirm)
    changed = { ...changed, email, identities: withIdentity(changed, 'email', data, at) }
  }
  if (phone !== '' && phone !== user.phone) {
    const data = identityData(user.id, 'phone', phone, {}, phone_confirm)
    changed = { ...changed, phone, identities: withIdentity(changed, 'phone', data, at) }
  }
  if (changed.identities !== user.identities) {
    changed = {
      ...changed,
      app_metadata: providersOf(changed.app_metadata, changed.identities),
      is_anonymous: false,
    }
  }
  if (app_metadata) changed = { ...changed, app_metadata: mergeMetadata(changed.app_metadata, app_metadata) }
  return changed
}

export const deleteUser = (backend: Backend): Endpoint =>
  forAdmin(backend)('DELETE', '/admin/users/{id}', async exchange => {
    const isEmpty = (exchange.body?.length ?? 0) === 0
    const isSoft =
      !isEmpty && readParams(exchange, 'adminUserDeleteParams', { should_soft_delete: 'boolean' }).should_soft_delete
    await (await backend.state()).write(async tables => {
      const user = await userIn(tables, exchange)
      if (isSoft && user.deleted_at !== null) return
      await endSessionsOf(tables, user.id)
      await tables.one_time_tokens.remove({ user_id: user.id })
      await tables.flow_states.remove({ user_id: user.id })
      if (isSoft) return tables.users.update(user.id, forgotten(user, momentOf(backend)))
      await tables.api_keys.remove({ user_id: user.id })
      await tables.users.remove({ id: user.id })
    })
    return jsonReply({})
  })

/** What is left of a user who is deleted softly: the id, so that what the app keeps of them still leads somewhere. */
function forgotten({ id, email, phone }: UserRow, at: Moment): Partial<UserRow> {
  return {
    // Free for whoever signs up with them next.
    email: email === null ? null : `deleted-${id}@invalid`,
    phone: phone === null ? null : `deleted-${id}`,
    new_email: null,
    new_phone: null,
    encrypted_password: null,
    identities: [],
    user_metadata: {},
    app_metadata: {},
    deleted_at: at,
    updated_at: at,
  }
}
