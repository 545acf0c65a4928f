/** A user's name, the account's state as badges, and where the user's requests are. */
import type { ListedUser } from '../../../supabase/operations.js'
import { routes } from '../../routes.js'
import { useNow } from '../config.jsx'
import { Badges, type TonedWord } from '../widgets/badge.jsx'

export const nameOf = ({ email, phone, is_anonymous }: Pick<ListedUser, 'email' | 'phone' | 'is_anonymous'>) =>
  email || phone || (is_anonymous ? 'Anonymous user' : 'No address')

export const userAt = (id: string) => `${routes.people}?${new URLSearchParams({ user: id })}`

export const requestsOf = ({ email, id }: Pick<ListedUser, 'email' | 'id'>) =>
  `${routes.activity}?${new URLSearchParams({ credential: email || id })}`

export const isBanned = ({ banned_until }: ListedUser, nowMs: number) =>
  banned_until !== undefined && Date.parse(banned_until) > nowMs

function statesOf(user: ListedUser, nowMs: number): readonly TonedWord[] {
  const confirmed: TonedWord = user.confirmed_at ? ['good', 'Confirmed'] : ['care', 'Unconfirmed']
  return [
    ...(user.deleted_at ? [['danger', 'Deleted'] as const] : []),
    ...(isBanned(user, nowMs) ? [['danger', 'Banned'] as const] : []),
    user.is_anonymous ? ['plain', 'Anonymous'] : confirmed,
  ]
}

export const States = ({ of: user }: { readonly of: ListedUser }) => <Badges of={statesOf(user, useNow())} />
