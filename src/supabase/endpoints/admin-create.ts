/** POST /auth/v1/admin/users: a new user, made with the service key. */
import { type Endpoint, jsonReply } from '../../core/exchange.js'
import { problemOfImported } from '../../core/secrets.js'
import type { UserRow } from '../../core/state.js'
import { isUuid } from '../authenticate.js'
import { type Backend, momentOf } from '../backend.js'
import { idExists, validationFailed } from '../errors.js'
import { hashOf, requireStrength, unknownPassword } from '../passwords.js'
import { mergeMetadata, newUser, providersOf, userJsonBeforeReading } from '../users.js'
import {
  type AdminParams,
  adminFields,
  adminParamsIn,
  requireFree,
  withAdminParams,
  withValidAddresses,
} from './admin-params.js'
import { forAdmin } from './frame.js'

export const createUser = (backend: Backend): Endpoint =>
  forAdmin(backend)(
    'POST /admin/users',
    { id: 'createUser', does: 'A new user, as the service key says.', fields: adminFields, answer: 'user' },
    async exchange => {
      const given = adminParamsIn(exchange)
      if (given.email === '' && given.phone === '') {
        throw validationFailed('Cannot create a user without either an email or phone')
      }
      const params = withValidAddresses(given)
      const state = await backend.state()
      await state.read(tables => requireFree(tables, params))
      const encrypted_password = await passwordOf(backend, params)
      requireId(params.id)
      const user = madeByAdmin(backend, params, encrypted_password)
      await state.write(async tables => {
        await requireFree(tables, params)
        if (await tables.users.get(user.id)) throw idExists()
        await tables.users.insert(user)
      })
      return jsonReply(userJsonBeforeReading(user))
    },
  )

async function passwordOf({ settings }: Backend, { password, password_hash }: AdminParams): Promise<string> {
  if (password !== undefined && password_hash !== '') {
    throw validationFailed('Only a password or a password hash should be provided')
  }
  if (password !== undefined && password !== '') requireStrength(password, settings)
  if (password_hash === '') return hashOf(password || unknownPassword())
  const problem = problemOfImported(password_hash)
  if (problem !== undefined) throw validationFailed(problem)
  return password_hash
}

function requireId(id: string): void {
  if (id !== '' && !isUuid(id)) throw validationFailed('ID must conform to the uuid v4 format')
  if (/^[0-]+$/.test(id)) throw validationFailed('ID cannot be a nil uuid')
}

function madeByAdmin(backend: Backend, params: AdminParams, encrypted_password: string): UserRow {
  const { aud, id, user_metadata, app_metadata } = params
  const plain = newUser(momentOf(backend), {
    ...(id !== '' && { id: id.toLowerCase() }),
    ...(aud !== '' && { aud }),
    encrypted_password,
    user_metadata: user_metadata ?? {},
  })
  // The identities of a new user are not verified, whatever is confirmed.
  const user = withAdminParams(backend, plain, params, { email: false, phone: false })
  return { ...user, app_metadata: mergeMetadata(providersOf({}, user.identities), app_metadata) }
}
