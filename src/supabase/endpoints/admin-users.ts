/** /auth/v1/admin/users: lists, creates, changes and deletes users with the service key. */
import { type Endpoint, type Exchange, jsonReply } from '../../core/exchange.js'
import type { Tables, UserRow } from '../../core/state.js'
import { isUuid } from '../authenticate.js'
import { type Backend, momentOf } from '../backend.js'
import { dropTokens } from '../codes.js'
import { idExists, idNotUuid, userNotFound, validationFailed } from '../errors.js'
import { hashOf, randomPassword, requireStrength } from '../passwords.js'
import { endSessionsOf, removeUser } from '../sessions.js'
import {
  anonymized,
  changedPassword,
  mergeMetadata,
  newUser,
  providersOf,
  settledAddresses,
  userJson,
  userJsonWithoutConfirmedAt,
} from '../users.js'
import {
  type AdminParams,
  adminFields,
  adminParamsIn,
  bannedUntil,
  requireFreeForAdmin,
  withAdminParams,
  withValidAddresses,
} from './admin-params.js'
import { forAdmin } from './frame.js'
import { queryOf, readParams } from './params.js'
import type { About } from './says.js'

const aboutList: About = {
  id: 'listUsers',
  does: 'Lists users, page by page.',
  query: {
    page: 'The page, from 1.',
    per_page: 'The number of entries on a page; 50 by default.',
    sort: 'created_at asc or created_at desc (the default).',
    filter: 'Part of the email address or of the full name.',
  },
  answer: 'object',
}

export const listUsers = (backend: Backend): Endpoint =>
  forAdmin(backend)('GET /admin/users', aboutList, async exchange => {
    const query = queryOf(exchange)
    const isOldestFirst = directionIn(query) === 'ASC'
    const page = pageIn(query)
    const aud = exchange.headers['x-jwt-aud']?.toString() || 'authenticated'
    const found = await backend.state.read(({ users }) => users.find({ aud }))
    const matching = found.filter(user => matchesFilter(user, query.get('filter') ?? ''))
    if (isOldestFirst) matching.reverse()
    const users = matching.slice((page.number - 1) * page.size, page.number * page.size)
    return {
      // Supabase does not load the identities for its list.
      ...jsonReply({ users: users.map(user => ({ ...userJson(user), identities: null })), aud }),
      headers: pageHeaders('/admin/users', query, page, matching.length),
    }
  })

/** Reads the `sort` parameter: `created_at asc` or `created_at desc`, which is the default. */
function directionIn(query: URLSearchParams): 'ASC' | 'DESC' {
  const [field, direction = 'desc'] = (query.get('sort') ?? 'created_at').split(/ (.*)/s)
  if (field !== 'created_at') throw validationFailed(`Bad Sort Parameters: bad field for sort '${field}'`)
  const upperCase = direction.toUpperCase()
  if (upperCase === 'ASC' || upperCase === 'DESC') return upperCase
  throw validationFailed(`Bad Sort Parameters: bad direction for sort '${direction}', only 'asc' and 'desc' allowed`)
}

const matchesFilter = ({ email, user_metadata: { full_name } }: UserRow, text: string) =>
  (email ?? '').includes(text) ||
  (typeof full_name === 'string' && full_name.toLowerCase().includes(text.toLowerCase()))

export const getUserById = (backend: Backend): Endpoint =>
  forAdmin(backend)(
    'GET /admin/users/{id}',
    { id: 'getUserById', does: 'Returns a user.', answer: 'user' },
    async exchange => jsonReply(userJson(await backend.state.read(tables => userIn(tables, exchange)))),
  )

/** The position of the id in `/auth/v1/admin/users/{id}`. */
const USER_ID = 5

/** Returns the user whose id is in the path. Throws a 404 if there is none. */
async function userIn({ users }: Tables, exchange: Exchange): Promise<UserRow> {
  const id = exchange.path.split('/')[USER_ID] ?? ''
  if (!isUuid(id)) throw idNotUuid()
  const user = await users.get(id.toLowerCase())
  if (!user) throw userNotFound()
  return user
}

const deletionFields = { should_soft_delete: 'boolean' } as const

const aboutDeletion: About = {
  id: 'deleteUser',
  does: 'Deletes a user.',
  fields: deletionFields,
  isBodyOptional: true,
  answer: 'object',
}

export const deleteUser = (backend: Backend): Endpoint =>
  forAdmin(backend)('DELETE /admin/users/{id}', aboutDeletion, async exchange => {
    const state = backend.state
    await state.read(tables => userIn(tables, exchange))
    const isEmpty = (exchange.body?.length ?? 0) === 0
    const isSoft = !isEmpty && readParams(exchange, 'adminUserDeleteParams', deletionFields).should_soft_delete
    await state.write(async tables => {
      const user = await userIn(tables, exchange)
      if (!isSoft) return removeUser(tables, user)
      if (user.deleted_at !== null) return
      await endSessionsOf(tables, user.id)
      await tables.one_time_tokens.remove({ user_id: user.id })
      await tables.flow_states.remove({ user_id: user.id })
      await tables.users.update(user.id, anonymized(user, momentOf(backend)))
    })
    return jsonReply({})
  })

const aboutAudit: About = {
  id: 'listAudit',
  does: 'Returns the audit log, which is always empty.',
  query: {
    page: 'The page, from 1.',
    per_page: 'The number of entries on a page; 50 by default.',
    query: 'A text to search for, after author:, action: or type:.',
  },
  answer: 'list',
}

/** GET /auth/v1/admin/audit: always empty, as at a Supabase that keeps no audit log in its database. */
export const auditLog = (backend: Backend): Endpoint =>
  forAdmin(backend)('GET /admin/audit', aboutAudit, exchange => {
    const query = queryOf(exchange)
    const page = pageIn(query)
    const scope = query.get('query') ?? ''
    if (scope !== '' && !/^(author|action|type):/.test(scope)) throw validationFailed(`Invalid query scope: ${scope}`)
    return { ...jsonReply([]), headers: pageHeaders('/admin/audit', query, page, 0) }
  })

const PER_PAGE = 50

/** Reads which page a query asks for. Throws a 400 for anything but numbers. */
function pageIn(query: URLSearchParams) {
  const number = Math.max(1, countIn(query.get('page'), 1))
  const size = countIn(query.get('per_page'), PER_PAGE)
  if (size === 0) throw validationFailed('Bad Pagination Parameters: per_page must be greater than 0')
  return { number, size }
}

function countIn(text: string | null, otherwise: number): number {
  if (text === null || text === '') return otherwise
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  throw validationFailed(`Bad Pagination Parameters: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`)
}

/**
 * The headers of a page: the total count, and links to the next and the last page as the server behind the gateway sees
 * them.
 */
function pageHeaders(path: string, query: URLSearchParams, page: ReturnType<typeof pageIn>, total: number): string[] {
  const { number, size } = page
  const last = Math.ceil(total / size)
  const linkTo = (pageNumber: number, rel: string) => {
    const params = new URLSearchParams(query)
    params.delete('apikey')
    params.set('page', String(pageNumber))
    params.sort()
    return `<${path}?${params}>; rel="${rel}"`
  }
  const links = [...(number < last ? [linkTo(number + 1, 'next')] : []), linkTo(last, 'last')]
  return ['x-total-count', String(total), 'link', links.join(', ')]
}

/** POST /auth/v1/admin/users: creates a user with the service key. */
export const createUser = (backend: Backend): Endpoint =>
  forAdmin(backend)(
    'POST /admin/users',
    { id: 'createUser', does: 'Creates a user with the service key.', fields: adminFields, answer: 'user' },
    async exchange => {
      const given = adminParamsIn(exchange)
      if (given.email === '' && given.phone === '') {
        throw validationFailed('Cannot create a user without either an email or phone')
      }
      const params = withValidAddresses(given)
      const state = backend.state
      await state.read(tables => requireFreeForAdmin(tables, params))
      if (params.password) requireStrength(params.password, backend.settings)
      const encrypted_password = await hashOf(params.password || randomPassword())
      requireId(params.id)
      const user = createdByAdmin(backend, params, encrypted_password)
      await state.write(async tables => {
        await requireFreeForAdmin(tables, params)
        if (await tables.users.get(user.id)) throw idExists()
        await tables.users.insert(user)
      })
      return jsonReply(userJsonWithoutConfirmedAt(user))
    },
  )

function requireId(id: string): void {
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

/** PUT /auth/v1/admin/users/{id}: changes a user with the service key. Nothing has to be confirmed. */
export const updateUserById = (backend: Backend): Endpoint =>
  forAdmin(backend)(
    'PUT /admin/users/{id}',
    {
      id: 'updateUserById',
      does: 'Changes a user with the service key. Nothing has to be confirmed.',
      fields: adminFields,
      answer: 'user',
    },
    async exchange => {
      const state = backend.state
      const before = await state.read(tables => userIn(tables, exchange))
      const params = withValidAddresses(adminParamsIn(exchange))
      bannedUntil(backend, params.ban_duration, null)
      const { password: newPassword } = params
      if (newPassword !== undefined) requireStrength(newPassword, backend.settings)
      const password = newPassword === undefined ? undefined : await hashOf(newPassword)
      const user = await state.write(async tables => {
        const user = await userIn(tables, exchange)
        await requireFreeForAdmin(tables, params, user.id)
        const changed = changedByAdmin(backend, user, params, password)
        await tables.users.update(user.id, changed)
        if (password !== undefined) await endSessionsOf(tables, user.id)
        // Codes sent to an old address, or before the password changed, become invalid.
        if (password !== undefined || params.email !== '' || params.phone !== '') await dropTokens(tables, user.id)
        return changed
      })
      const confirmsNow = before.email_confirmed_at === null && before.phone_confirmed_at === null
      return jsonReply(confirmsNow ? userJsonWithoutConfirmedAt(user) : userJson(user))
    },
  )

function changedByAdmin(backend: Backend, user: UserRow, params: AdminParams, password: string | undefined): UserRow {
  const { email, phone, email_confirm, phone_confirm, user_metadata, app_metadata } = params
  const before: UserRow = {
    ...user,
    ...(password !== undefined && changedPassword(password)),
    ...((email !== '' || phone !== '') && settledAddresses),
  }
  const changed = withAdminParams(backend, before, params, { email: email_confirm, phone: phone_confirm })
  return {
    ...changed,
    // An anonymous user stays anonymous until an address is confirmed.
    is_anonymous: user.is_anonymous && !(email !== '' && email_confirm) && !(phone !== '' && phone_confirm),
    app_metadata: app_metadata ? mergeMetadata(changed.app_metadata, app_metadata) : changed.app_metadata,
    user_metadata: user_metadata ? mergeMetadata(changed.user_metadata, user_metadata) : changed.user_metadata,
  }
}
