/** One user: account, sessions, API keys, and what a developer can do as their admin. */
import { useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import type { ApiKeyView } from '../../keys/operations.js'
import type { ListedUser, OpenSession } from '../../supabase/operations.js'
import { useControl } from '../api.js'
import { askToRevoke, SecretDialog } from '../keys/key-dialogs.jsx'
import { KeyTable, RevokeButton } from '../keys/keys-view.jsx'
import { navigate } from '../routing.js'
import { requireSuccess } from '../session/auth-client.js'
import { NewPasswordField } from '../session/password-views.jsx'
import { useSession } from '../session/session.jsx'
import { announce } from '../widgets/announcer.jsx'
import { Badges, type TonedWord } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { ask, Confirm } from '../widgets/dialog.jsx'
import { Checkbox, Field, RadioGroup, Select, TextArea } from '../widgets/fields.jsx'
import { Form, useWorking } from '../widgets/form.jsx'
import { indented, objectWritten } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { Moment } from '../widgets/moment.jsx'
import { type Resource, useResource } from '../widgets/resource.js'
import { Empty, Notice, Shown } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { View } from '../widgets/view.jsx'
import { useAdmin } from './admin.js'

const EVERY_MS = 5000

export const nameOf = ({ email, phone, is_anonymous }: Pick<ListedUser, 'email' | 'phone' | 'is_anonymous'>) =>
  email || phone || (is_anonymous ? 'Anonymous user' : 'No address')

const isBanned = ({ banned_until }: ListedUser) => banned_until !== undefined && Date.parse(banned_until) > Date.now()

function statesOf(user: ListedUser): readonly TonedWord[] {
  const confirmed: TonedWord = user.confirmed_at ? ['good', 'Confirmed'] : ['care', 'Unconfirmed']
  return [
    ...(user.deleted_at ? [['danger', 'Deleted'] as const] : []),
    ...(isBanned(user) ? [['danger', 'Banned'] as const] : []),
    user.is_anonymous ? ['plain', 'Anonymous'] : confirmed,
  ]
}

export const States = ({ of: user }: { readonly of: ListedUser }) => <Badges of={statesOf(user)} />

export function UserView({ id }: { readonly id: string }) {
  const control = useControl()
  const found = useResource(
    async signal => {
      const { data } = await control('GET /users', { query: { search: id }, signal })
      return data.find(user => user.id === id) ?? null
    },
    [control, id],
    EVERY_MS,
  )
  const user = found.value
  return (
    <View
      title={user ? nameOf(user) : 'User'}
      lead={
        <>
          <Link to={routes.users}>All users</Link>
          {user && (
            <span class="row">
              <States of={user} /> <code class="cut">{id}</code>
              <CopyButton text={id} what="the user’s id" bare />
            </span>
          )}
        </>
      }
      action={user && <Actions of={user} onDone={found.reload} />}
    >
      <DeveloperOnly of={found}>
        {user =>
          user ? (
            <>
              <section aria-labelledby="account">
                <h2 id="account">Account</h2>
                <Account key={user.id} of={user} onSaved={found.reload} />
              </section>
              <Sessions of={user} onDone={found.reload} />
              <Keys of={user} />
              <section aria-labelledby="requests">
                <h2 id="requests">Requests</h2>
                <p>
                  <Link to={`${routes.requests}?credential=${encodeURIComponent(user.email || user.id)}`}>
                    Requests of this user
                  </Link>
                </p>
              </section>
            </>
          ) : (
            <Empty title="There is no such user">The user was deleted, or the address of this page is wrong.</Empty>
          )
        }
      </DeveloperOnly>
    </View>
  )
}

interface Props {
  readonly of: ListedUser
  readonly onDone: () => void
}

type Open = 'link' | 'ban' | { readonly token: string }

/** What an admin can do to the whole user. */
function Actions({ of: user, onDone }: Props) {
  const admin = useAdmin()
  const control = useControl()
  const { busy, failure, run } = useWorking()
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const signIn = () =>
    run(async () => {
      const { access_token } = await control('POST /sessions', { body: { user_id: user.id } })
      setOpen({ token: access_token })
      onDone()
    })
  const unban = () =>
    run(async () => {
      await admin('PUT', `admin/users/${user.id}`, { ban_duration: 'none' })
      announce('The ban is lifted.')
      onDone()
    })
  const remove = () =>
    ask({
      title: `Delete ${nameOf(user)}?`,
      send: 'Delete user',
      words: <p>The user’s sessions and API keys are deleted, too. This cannot be undone.</p>,
      act: () => admin('DELETE', `admin/users/${user.id}`, {}),
      done: () => navigate(routes.users),
      said: `${nameOf(user)} is deleted.`,
    })
  const button = (name: string, onClick: () => void, look = '') => (
    <button type="button" class={`button ${look}`} aria-disabled={busy} onClick={onClick}>
      {name}
    </button>
  )
  return (
    <div class="row">
      {button('Sign in as', signIn)}
      {user.email && button('Send a link', () => setOpen('link'))}
      {isBanned(user) ? button('Lift the ban', unban) : button('Ban', () => setOpen('ban'), 'button-warns')}
      {button('Delete', remove, 'button-warns')}
      {failure && <Notice tone="danger">{failure.message}</Notice>}
      {open === 'link' && <SendLink of={user} onClosed={close} />}
      {open === 'ban' && <Ban of={user} onDone={onDone} onClosed={close} />}
      {typeof open === 'object' && (
        <SecretDialog
          title={`Signed in as ${nameOf(user)}`}
          secret={open.token}
          what="access token"
          note="This is the access token of a new session. It ends with the session, which is listed below."
          onClosed={close}
        />
      )}
    </div>
  )
}

interface DialogProps {
  readonly of: ListedUser
  readonly onClosed: () => void
}

/** Puts a mail into the outbox, as the app would by asking for it. */
function SendLink({ of: user, onClosed }: DialogProps) {
  const { auth } = useSession()
  const [kind, setKind] = useState<'magiclink' | 'recovery' | 'signup'>(user.confirmed_at ? 'magiclink' : 'signup')
  const [redirectTo, setRedirectTo] = useState('')
  const send = async () => {
    const client = await auth
    const { email } = user
    const emailRedirectTo = redirectTo.trim() || undefined
    const options = emailRedirectTo === undefined ? {} : { emailRedirectTo }
    if (kind === 'signup') requireSuccess(await client.resend({ type: 'signup', email, options }))
    if (kind === 'magiclink') {
      requireSuccess(await client.signInWithOtp({ email, options: { ...options, shouldCreateUser: false } }))
    }
    if (kind === 'recovery') {
      const to = emailRedirectTo === undefined ? {} : { redirectTo: emailRedirectTo }
      requireSuccess(await client.resetPasswordForEmail(email, to))
    }
  }
  return (
    <Confirm
      title={`Send a link to ${user.email}`}
      send="Send"
      isEdited={redirectTo !== ''}
      onSend={send}
      onDone={() => {
        announce('The link is in the outbox.')
        navigate(routes.outbox)
      }}
      onClosed={onClosed}
    >
      <RadioGroup
        label="Link"
        value={kind}
        onChange={setKind}
        options={[
          ...(user.confirmed_at ? [] : [{ value: 'signup' as const, label: 'Confirm the address' }]),
          { value: 'magiclink', label: 'Magic link, to sign in' },
          { value: 'recovery', label: 'Password recovery' },
        ]}
      />
      <Field
        label="Leads to"
        value={redirectTo}
        onChange={setRedirectTo}
        required={false}
        placeholder="https://…"
        hint="Leave it empty for the site URL of the configuration."
      />
      <p>Mail is captured locally: it waits in the outbox.</p>
    </Confirm>
  )
}

const bans = [
  ['1h', 'For 1 hour'],
  ['24h', 'For 24 hours'],
  ['168h', 'For 7 days'],
  // As Supabase's dashboard does it: a hundred years.
  ['876000h', 'Until it is lifted'],
] as const

function Ban({ of: user, onDone, onClosed }: DialogProps & Props) {
  const admin = useAdmin()
  const [duration, setDuration] = useState<(typeof bans)[number][0]>('24h')
  return (
    <Confirm
      title={`Ban ${nameOf(user)}?`}
      send="Ban"
      tone="danger"
      onSend={() => admin('PUT', `admin/users/${user.id}`, { ban_duration: duration })}
      onDone={() => {
        onDone()
        announce(`${nameOf(user)} is banned.`)
      }}
      onClosed={onClosed}
    >
      <Select label="How long" value={duration} options={bans} onChange={setDuration} />
      <p>Tokens and API keys of a banned user are refused, and the user cannot sign in.</p>
    </Confirm>
  )
}

const formOf = (user: ListedUser) => ({
  ...{ email: user.email, phone: user.phone, role: user.role, password: '' },
  ...{ email_confirm: user.email_confirmed_at !== undefined },
  ...{ user_metadata: indented(user.user_metadata), app_metadata: indented(user.app_metadata) },
})

/** The fields that an admin can edit. Until one is edited, they follow the user. */
function Account({ of: user, onSaved }: { readonly of: ListedUser; readonly onSaved: () => void }) {
  const admin = useAdmin()
  const now = formOf(user)
  const [draft, setDraft] = useState<typeof now>()
  const form = draft ?? now
  const bind = <Name extends keyof typeof now>(name: Name) => ({
    ...{ name, value: form[name], required: false },
    onChange: (value: (typeof now)[Name]) => setDraft({ ...form, [name]: value }),
  })
  const save = async () => {
    const { email, phone, role, password, email_confirm } = form
    await admin('PUT', `admin/users/${user.id}`, {
      ...(email !== user.email && { email }),
      ...(phone !== user.phone && { phone }),
      ...(role !== user.role && { role }),
      ...(password && { password }),
      ...(email_confirm && !now.email_confirm && { email_confirm }),
      user_metadata: replacing(user.user_metadata, metadataIn('user_metadata', form.user_metadata)),
      app_metadata: replacing(user.app_metadata, metadataIn('app_metadata', form.app_metadata)),
    })
    setDraft(undefined)
    onSaved()
    announce('Saved.')
  }
  return (
    <Form send="Save" onSend={save} beside={draft && <Button onClick={() => setDraft(undefined)}>Undo changes</Button>}>
      <div class="fields">
        <Field label="Email" type="email" {...bind('email')} />
        <Field label="Phone" type="tel" {...bind('phone')} />
        <Field label="Role" {...bind('role')} />
        <NewPasswordField label="New password" {...bind('password')} note="Signs the user out everywhere." />
        <TextArea label="User metadata (JSON)" code {...bind('user_metadata')} hint="The user can change it." />
        <TextArea label="App metadata (JSON)" code {...bind('app_metadata')} hint="Only admins can change it." />
      </div>
      {user.email && !now.email_confirm && (
        <Checkbox
          label="Confirm the email address"
          checked={form.email_confirm}
          onChange={email_confirm => setDraft({ ...form, email_confirm })}
        />
      )}
    </Form>
  )
}

const metadataIn = (field: string, text: string) => objectWritten(text.trim() || '{}', field, '{"plan": "pro"}')

/** The backend merges metadata, and takes away what is null. */
const replacing = (before: object, after: object) => ({
  ...Object.fromEntries(Object.keys(before).map(key => [key, null])),
  ...after,
})

const sessionColumns: readonly Column<OpenSession>[] = [
  { name: 'Signed in', of: ({ created_at }) => <Moment at={created_at} /> },
  { name: 'How', width: '22%', of: ({ methods }) => methods.join(' and ') },
  { name: 'Refreshed', width: '20%', of: ({ refreshed_at }) => <Moment at={refreshed_at} /> },
  { name: 'Token expires', width: '20%', of: ({ token_expires_at }) => <Moment at={token_expires_at} /> },
]

/** The user's open sessions, and signing out of one or all of them. */
function Sessions({ of: user, onDone }: Props) {
  const control = useControl()
  const load = (signal: AbortSignal) => control('GET /sessions', { query: { search: user.id }, signal })
  const loaded = useResource(load, [control, user.id, user.sessions], EVERY_MS)
  const signOut = (session?: OpenSession) =>
    ask({
      title: session ? 'End this session?' : `Sign out ${nameOf(user)} everywhere?`,
      send: 'Sign out',
      words: <p>Access tokens stop working at once, and cannot be refreshed.</p>,
      act: () =>
        session
          ? control('DELETE /sessions/{id}', { id: session.id })
          : control('DELETE /sessions', { query: { user: user.id } }),
      done() {
        loaded.reload()
        onDone()
      },
      said: `${nameOf(user)} is signed out.`,
    })
  return (
    <section aria-labelledby="sessions">
      <div class="row spread">
        <h2 id="sessions">Sessions</h2>
        {user.sessions > 1 && (
          <Button small tone="warns" onClick={() => signOut()}>
            Sign out everywhere
          </Button>
        )}
      </div>
      <Shown of={loaded}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">Not signed in.</p>
          ) : (
            <Table
              caption="Sessions"
              columns={sessionColumns}
              rows={data}
              keyOf={({ id }) => id}
              actions={session => (
                <Button small tone="warns" onClick={() => signOut(session)}>
                  Sign out
                </Button>
              )}
            />
          )
        }
      </Shown>
    </section>
  )
}

/** The user's API keys, and revoking them. */
function Keys({ of: user }: { readonly of: ListedUser }) {
  const control = useControl()
  const load = async (signal: AbortSignal) => (await control('GET /keys', { query: { user: user.id }, signal })).data
  const loaded: Resource<readonly ApiKeyView[]> = useResource(load, [control, user.id], EVERY_MS)
  const revoke = (key: ApiKeyView) =>
    askToRevoke(key, () => control('DELETE /keys/{id}', { id: key.id }), loaded.reload)
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">API keys</h2>
      <Shown of={loaded}>
        {keys =>
          keys.length === 0 ? (
            <p class="quiet">No API keys.</p>
          ) : (
            <KeyTable
              caption="API keys"
              keys={keys}
              actions={key => <RevokeButton of={key} onClick={() => revoke(key)} />}
            />
          )
        }
      </Shown>
    </section>
  )
}
