/** PUT /auth/v1/admin/users/{id}: what the service key changes of a user, without a confirmation. */
import { type Endpoint, jsonReply } from '../../core/exchange.js'
import type { UserRow } from '../../core/state.js'
import type { Backend } from '../backend.js'
import { dropTokens } from '../codes.js'
import { hashOf, requireStrength } from '../passwords.js'
import { endSessionsOf } from '../sessions.js'
import { changedPassword, mergeMetadata, settledAddresses, userJson, userJsonBeforeReading } from '../users.js'
import {
  type AdminParams,
  adminFields,
  adminParamsIn,
  bannedUntil,
  requireFree,
  withAdminParams,
  withValidAddresses,
} from './admin-params.js'
import { userIn } from './admin-users.js'
import { forAdmin } from './frame.js'

export const updateUserById = (backend: Backend): Endpoint =>
  forAdmin(backend)(
    'PUT /admin/users/{id}',
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
  const { email, phone, email_confirm, phone_confirm, user_metadata, app_metadata } = params
  const before: UserRow = {
    ...user,
    ...(password !== undefined && changedPassword(password)),
    ...((email !== '' || phone !== '') && settledAddresses),
  }
  const changed = withAdminParams(backend, before, params, { email: email_confirm, phone: phone_confirm })
  return {
    ...changed,
    // A guest stays a guest until an address is confirmed.
    is_anonymous: user.is_anonymous && !(email !== '' && email_confirm) && !(phone !== '' && phone_confirm),
    app_metadata: app_metadata ? mergeMetadata(changed.app_metadata, app_metadata) : changed.app_metadata,
    user_metadata: user_metadata ? mergeMetadata(changed.user_metadata, user_metadata) : changed.user_metadata,
  }
}
