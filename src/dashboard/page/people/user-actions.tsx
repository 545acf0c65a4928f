/** A developer's actions for a user. */
import { useState } from 'preact/hooks'
import type { ListedUser } from '../../../supabase/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { useNow } from '../config.jsx'
import { SecretDialog } from '../keys/key-dialogs.jsx'
import { navigate } from '../routing.js'
import { requireSuccess } from '../session/auth-client.js'
import { auth } from '../session/session.js'
import { Button } from '../widgets/button.jsx'
import { ask, Confirm, openDialog } from '../widgets/dialog.jsx'
import { Field, RadioGroup, Select } from '../widgets/fields.jsx'
import { useAction, useFields } from '../widgets/form.jsx'
import { FailureNote } from '../widgets/states.jsx'
import { admin } from './admin.js'
import { isBanned, nameOf } from './user-states.jsx'

interface Props {
  readonly of: ListedUser
  readonly onDone: () => void
}

export function UserActions({ of: user, onDone }: Props) {
  const { busy, failure, run } = useAction()
  const now = useNow()
  const signIn = () =>
    run(async () => {
      const { access_token } = await control('POST /sessions', { body: { user_id: user.id } })
      onDone()
      openDialog(
        <SecretDialog
          title={`Signed in as ${nameOf(user)}`}
          secret={access_token}
          what="access token"
          note="This is the access token of a new session. It stops working when the session, listed below, ends."
        />,
      )
    })
  const unban = () =>
    run(() => admin('PUT', `admin/users/${user.id}`, { ban_duration: 'none' }).then(onDone), 'The ban was lifted.')
  const button = (name: string, onClick: () => void, tone?: 'warns') => (
    <Button tone={tone} aria-disabled={busy} onClick={onClick}>
      {name}
    </Button>
  )
  return (
    <div class="row">
      {button('Sign in as', signIn)}
      {user.email && button('Send a link', () => openDialog(<SendLink of={user} />))}
      {isBanned(user, now)
        ? button('Lift the ban', unban)
        : button('Ban', () => openDialog(<Ban of={user} onDone={onDone} />), 'warns')}
      {button('Delete', () => askToDelete(user), 'warns')}
      <FailureNote failure={failure} />
    </div>
  )
}

const askToDelete = (user: ListedUser) =>
  ask({
    title: `Delete ${nameOf(user)}?`,
    send: 'Delete user',
    children: <p>The user’s sessions and API keys are deleted, too. This cannot be undone.</p>,
    onSend: () => admin('DELETE', `admin/users/${user.id}`, {}),
    onDone: () => navigate(routes.people),
    said: `${nameOf(user)} was deleted.`,
  })

const links = {
  signup: 'Confirm the address',
  magiclink: 'Magic link, to sign in',
  recovery: 'Password recovery',
} as const

type LinkKind = keyof typeof links

/** Requests a mail for the user, as the app would. */
function SendLink({ of: user }: { readonly of: ListedUser }) {
  const { values, field } = useFields({
    kind: (user.confirmed_at ? 'magiclink' : 'signup') as LinkKind,
    redirectTo: '',
  })
  const kinds = (Object.keys(links) as LinkKind[]).filter(kind => kind !== 'signup' || !user.confirmed_at)
  const send = async () => {
    const client = await auth()
    const to = values.redirectTo.trim()
    const options = to === '' ? {} : { emailRedirectTo: to }
    const sendings = {
      signup: () => client.resend({ type: 'signup', email: user.email, options }),
      magiclink: () => client.signInWithOtp({ email: user.email, options: { ...options, shouldCreateUser: false } }),
      recovery: () => client.resetPasswordForEmail(user.email, to === '' ? {} : { redirectTo: to }),
    }
    requireSuccess(await sendings[values.kind]())
  }
  return (
    <Confirm
      title={`Send a link to ${user.email}`}
      send="Send"
      onSend={send}
      onDone={() => navigate(routes.people)}
      said="The link is in the outbox."
    >
      <RadioGroup label="Link" {...field('kind')} options={kinds.map(value => ({ value, label: links[value] }))} />
      <Field
        label="Leads to"
        {...field('redirectTo')}
        required={false}
        placeholder="https://…"
        hint="Leave it empty for the configured site URL."
      />
      <p>Mail is captured locally: it waits in the outbox.</p>
    </Confirm>
  )
}

const bans = [
  ['1h', 'For 1 hour'],
  ['24h', 'For 24 hours'],
  ['168h', 'For 7 days'],
  // A hundred years, as in Supabase's dashboard.
  ['876000h', 'Until it is lifted'],
] as const

function Ban({ of: user, onDone }: Props) {
  const [duration, setDuration] = useState<(typeof bans)[number][0]>('24h')
  return (
    <Confirm
      title={`Ban ${nameOf(user)}?`}
      send="Ban"
      tone="danger"
      onSend={() => admin('PUT', `admin/users/${user.id}`, { ban_duration: duration })}
      onDone={onDone}
      said={`${nameOf(user)} was banned.`}
    >
      <Select label="How long" value={duration} options={bans} onChange={setDuration} />
      <p>Tokens and API keys of a banned user are refused, and the user cannot sign in.</p>
    </Confirm>
  )
}
