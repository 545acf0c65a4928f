/** What users are called, the state of their accounts, where their requests are, and signing in as one of them. */
import type { ListedUser } from '../../../supabase/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { useNow } from '../config.jsx'
import { CopyButton } from '../widgets/button.jsx'
import { CloseButton, Dialog, openDialog } from '../widgets/dialog.jsx'
import { Badges, type TonedWord } from '../widgets/view.jsx'

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

export const openSecret = (title: string, secret: string, note: string) =>
  openDialog(
    <Dialog title={title}>
      <p>{note}</p>
      <div class="secret dashed stack">
        <code class="long-name">{secret}</code>
      </div>
      <div class="form-buttons row">
        <CopyButton text={secret} what="the secret" main />
        <CloseButton>Done</CloseButton>
      </div>
    </Dialog>,
  )

/** Starts a session of a user without their password, and shows its access token. */
export async function signInAs(user: ListedUser): Promise<void> {
  const { access_token } = await control('POST /sessions', { body: { user_id: user.id } })
  const note =
    'The access token of a new session. It works until it expires or the session ends, and is shown only here.'
  openSecret(`Signed in as ${nameOf(user)}`, access_token, note)
}
