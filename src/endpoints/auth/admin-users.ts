/** /auth/v1/admin/users: all users, one of them, and one less. */
import { isUuid } from '../../auth/authenticate.js'
import { type Backend, momentOf } from '../../auth/backend.js'
import { endSessionsOf, removeUser } from '../../auth/sessions.js'
import { forgotten, userJson } from '../../auth/users.js'
import { idNotUuid, userNotFound, validationFailed } from '../../core/auth-errors.js'
import type { Endpoint, Exchange } from '../../core/exchange.js'
import type { Tables, UserRow } from '../../core/state.js'
import { jsonReply } from '../json-reply.js'
import { forAdmin, idBehind } from './frame.js'
import { pageHeaders, pageIn } from './pages.js'
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
  forAdmin(backend)('GET', '/admin/users', aboutList, async exchange => {
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

/** `created_at asc`, or the other way around, which is what it is without being told. */
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
  forAdmin(backend)(
    'GET',
    '/admin/users/{id}',
    { id: 'getUserById', does: 'One user.', answer: 'user' },
    async exchange => jsonReply(userJson(await (await backend.state()).read(tables => userIn(tables, exchange)))),
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
  forAdmin(backend)('DELETE', '/admin/users/{id}', aboutDeletion, async exchange => {
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
