/** PUT /auth/v1/admin/users/{id}: what the service key changes of a user, without a confirmation. */
import { type Endpoint, jsonReply } from '../../core/exchange.js'
import type { UserRow } from '../../core/state.js'
import { type Backend, momentOf } from '../backend.js'
import { dropTokens } from '../codes.js'
import { hashOf, requireStrength } from '../passwords.js'
import { endSessionsOf } from '../sessions.js'
import {
  changedPassword,
  confirmedEmail,
  confirmedPhone,
  identityData,
  mergeMetadata,
  settledAddresses,
  userJson,
  userJsonBeforeReading,
  withIdentity,
} from '../users.js'
import {
  type AdminParams,
  adminFields,
  adminParamsIn,
  bannedUntil,
  requireFree,
  withValidAddresses,
} from './admin-params.js'
import { userIn } from './admin-users.js'
import { forAdmin } from './frame.js'

export const updateUserById = (backend: Backend): Endpoint =>
  forAdmin(backend)(
    'PUT',
    '/admin/users/{id}',
    { id: 'updateUserById', does: 'Changes a user without asking anybody.', fields: adminFields, answer: 'user' },
    async exchange => {
      const state = await backend.state()
      const before = await state.read(tables => userIn(tables, exchange))
      const params = withValidAddresses(adminParamsIn(exchange))
      bannedUntil(backend, params.ban_duration, null)
      const { password: given } = params
      if (given !== undefined) requireStrength(given, backend.settings)
      const password = given === undefined ? undefined : await hashOf(given)
      const user = await state.write(async tables => {
        const user = await userIn(tables, exchange)
        await requireFree(tables, params, user.id)
        const changed = changedByAdmin(backend, user, params, password)
        await tables.users.update(user.id, changed)
        if (password !== undefined) await endSessionsOf(tables, user.id)
        // Codes that were sent to an old address, or while the old password held, are void.
        if (password !== undefined || params.email !== '' || params.phone !== '') await dropTokens(tables, user.id)
        return changed
      })
      const confirmsNow = before.email_confirmed_at === null && before.phone_confirmed_at === null
      return jsonReply(confirmsNow ? userJsonBeforeReading(user) : userJson(user))
    },
  )

function changedByAdmin(backend: Backend, user: UserRow, params: AdminParams, password: string | undefined): UserRow {
  const { email, phone, role, email_confirm, phone_confirm, user_metadata, app_metadata, ban_duration } = params
  const at = momentOf(backend)
  let changed: UserRow = {
    ...user,
    updated_at: at,
    banned_until: bannedUntil(backend, ban_duration, user.banned_until),
    ...(role !== '' && { role: role.trim() }),
    ...(email_confirm && confirmedEmail(user, at)),
    ...(phone_confirm && confirmedPhone(at)),
    ...(password !== undefined && changedPassword(password)),
    ...((email !== '' || phone !== '') && settledAddresses),
  }
  if (email !== '') {
    const data = identityData(user.id, 'email', email, email_confirm)
    changed = { ...changed, email, identities: withIdentity(changed, 'email', data, at) }
  }
  if (phone !== '') {
    const data = identityData(user.id, 'phone', phone, phone_confirm)
    changed = { ...changed, phone, identities: withIdentity(changed, 'phone', data, at) }
  }
  return {
    ...changed,
    // A guest stays a guest until an address is confirmed.
    is_anonymous: user.is_anonymous && !(email !== '' && email_confirm) && !(phone !== '' && phone_confirm),
    app_metadata: app_metadata ? mergeMetadata(changed.app_metadata, app_metadata) : changed.app_metadata,
    user_metadata: user_metadata ? mergeMetadata(changed.user_metadata, user_metadata) : changed.user_metadata,
  }
}
