/** /auth/v1/admin/users: listing users, getting one, and deleting one. */
import { type Endpoint, type Exchange, jsonReply } from '../../core/exchange.js'
import type { Tables, UserRow } from '../../core/state.js'
import { isUuid } from '../authenticate.js'
import { type Backend, momentOf } from '../backend.js'
import { idNotUuid, userNotFound, validationFailed } from '../errors.js'
import { endSessionsOf, removeUser } from '../sessions.js'
import { forgotten, userJson } from '../users.js'
import { forAdmin, idBehind } from './frame.js'
import { queryOf, readParams } from './params.js'
import type { About } from './says.js'

const aboutList: About = {
  id: 'listUsers',
  does: 'All users, page by page.',
  query: {
    page: 'Which page, from 1 on.',
    per_page: 'How many a page has (50).',
    sort: 'created_at asc, or created_at desc, as without it.',
    filter: 'A part of the e-mail address or of the full name.',
  },
  answer: 'object',
}

export const listUsers = (backend: Backend): Endpoint =>
  forAdmin(backend)('GET /admin/users', aboutList, async exchange => {
    const query = queryOf(exchange)
    const isOldestFirst = directionIn(query) === 'ASC'
    const page = pageIn(query)
    const aud = exchange.headers['x-jwt-aud']?.toString() || 'authenticated'
    const found = await (await backend.state()).read(({ users }) => users.find({ aud }))
    const wanted = found.filter(user => isAbout(user, query.get('filter') ?? ''))
    if (isOldestFirst) wanted.reverse()
    const users = wanted.slice((page.number - 1) * page.size, page.number * page.size)
    return {
      // Supabase does not read the identities for its list.
      ...jsonReply({ users: users.map(user => ({ ...userJson(user), identities: null })), aud }),
      headers: pageHeaders('/admin/users', query, page, wanted.length),
    }
  })

/** `created_at asc`, or the other way around, which is the default. */
function directionIn(query: URLSearchParams): 'ASC' | 'DESC' {
  const [field, direction = 'desc'] = (query.get('sort') ?? 'created_at').split(/ (.*)/s)
  if (field !== 'created_at') throw validationFailed(`Bad Sort Parameters: bad field for sort '${field}'`)
  const wanted = direction.toUpperCase()
  if (wanted === 'ASC' || wanted === 'DESC') return wanted
  throw validationFailed(`Bad Sort Parameters: bad direction for sort '${direction}', only 'asc' and 'desc' allowed`)
}

const isAbout = ({ email, user_metadata: { full_name } }: UserRow, text: string) =>
  (email ?? '').includes(text) ||
  (typeof full_name === 'string' && full_name.toLowerCase().includes(text.toLowerCase()))

export const getUserById = (backend: Backend): Endpoint =>
  forAdmin(backend)('GET /admin/users/{id}', { id: 'getUserById', does: 'One user.', answer: 'user' }, async exchange =>
    jsonReply(userJson(await (await backend.state()).read(tables => userIn(tables, exchange)))),
  )

/** The user whose id is in the path. Throws a 404 when there is none. */
export async function userIn({ users }: Tables, exchange: Exchange): Promise<UserRow> {
  const id = idBehind('users', exchange)
  if (!isUuid(id)) throw idNotUuid('user_id')
  const user = await users.get(id.toLowerCase())
  if (!user) throw userNotFound()
  return user
}

const deletionFields = { should_soft_delete: 'boolean' } as const

const aboutDeletion: About = {
  id: 'deleteUser',
  does: 'One user less.',
  fields: deletionFields,
  isBodyOptional: true,
  answer: 'object',
}

export const deleteUser = (backend: Backend): Endpoint =>
  forAdmin(backend)('DELETE /admin/users/{id}', aboutDeletion, async exchange => {
    const state = await backend.state()
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
      await tables.users.update(user.id, forgotten(user, momentOf(backend)))
    })
    return jsonReply({})
  })

const about: About = {
  id: 'listAudit',
  does: 'What is written down of what users do: nothing.',
  query: {
    page: 'Which page, from 1 on.',
    per_page: 'How many a page has (50).',
    query: 'author:, action: or type: and a text.',
  },
  answer: 'list',
}

/** GET /auth/v1/admin/audit: nothing is written down of what users do, as at a Supabase that keeps no such log in its database. */
export const auditLog = (backend: Backend): Endpoint =>
  forAdmin(backend)('GET /admin/audit', about, exchange => {
    const query = queryOf(exchange)
    const page = pageIn(query)
    const scope = query.get('query') ?? ''
    if (scope !== '' && !/^(author|action|type):/.test(scope)) throw validationFailed(`Invalid query scope: ${scope}`)
    return { ...jsonReply([]), headers: pageHeaders('/admin/audit', query, page, 0) }
  })

const PER_PAGE = 50

/** Lists in pages: which one is asked for, and where the others stand. */
export interface UserPage {
  readonly number: number
  readonly size: number
}

/** The page that a query asks for. Throws a 400 for what is no number. */
function pageIn(query: URLSearchParams): UserPage {
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

/** The headers of a page: how many there are in all, and the next and the last page as the server behind the gateway sees them. */
function pageHeaders(path: string, query: URLSearchParams, { number, size }: UserPage, total: number): string[] {
  const last = Math.ceil(total / size)
  const linkTo = (to: number, rel: string) => {
    const there = new URLSearchParams(query)
    there.delete('apikey')
    there.set('page', String(to))
    there.sort()
    return `<${path}?${there}>; rel="${rel}"`
  }
  const links = [...(number < last ? [linkTo(number + 1, 'next')] : []), linkTo(last, 'last')]
  return ['x-total-count', String(total), 'link', links.join(', ')]
}
