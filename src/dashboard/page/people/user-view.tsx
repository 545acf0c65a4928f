/** One user: account, sessions and API keys. */
import { useState } from 'preact/hooks'
import type { ListedUser, OpenSession } from '../../../supabase/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { KeyTable } from '../keys/keys-view.jsx'
import { NewPasswordField } from '../session/new-password-field.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { AskButton } from '../widgets/dialog.jsx'
import { Checkbox, Field, TextArea } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { changesBetween, indented, objectFrom } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { Moment } from '../widgets/moment.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty, Shown } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { focusHeading, Section, View } from '../widgets/view.jsx'
import { admin } from './admin.js'
import { UserActions } from './user-actions.jsx'
import { nameOf, States } from './user-states.jsx'

export function UserView({ id }: { readonly id: string }) {
  const found = useResource(
    async signal => {
      const { data } = await control('GET /users', { query: { search: id }, signal })
      return data.find(user => user.id === id) ?? null
    },
    [id],
    EVERY_MS,
  )
  const { value: user, reload } = found
  return (
    <View
      title={user ? nameOf(user) : 'User'}
      lead={
        <>
          <Link to={routes.people}>All users</Link>
          {user && (
            <span class="row">
              <States of={user} /> <code class="cut">{id}</code>
              <CopyButton text={id} what="the user’s id" bare />
            </span>
          )}
        </>
      }
      action={user && <UserActions of={user} onDone={reload} />}
    >
      <DeveloperOnly of={found}>
        {user =>
          user ? (
            <>
              <Section title="Account">
                <Account key={user.id} of={user} onChanged={reload} />
              </Section>
              <Sessions of={user} onChanged={reload} />
              <Keys of={user} />
              <Section title="Requests">
                <p>
                  <Link to={`${routes.activity}?credential=${encodeURIComponent(user.email || user.id)}`}>
                    Requests of this user
                  </Link>
                </p>
              </Section>
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
  readonly onChanged: () => void
}

const formOf = (user: ListedUser) => ({
  email: user.email,
  phone: user.phone,
  role: user.role,
  password: '',
  email_confirm: user.email_confirmed_at !== undefined,
  user_metadata: indented(user.user_metadata),
  app_metadata: indented(user.app_metadata),
})

type Account = ReturnType<typeof formOf>

/** The values of the edited fields, before and now. */
type Edits = { readonly [Name in keyof Account]?: { readonly from: Account[Name]; readonly to: Account[Name] } }

/** The fields that an admin can edit. Fields without edits stay up to date. */
function Account({ of: user, onChanged }: Props) {
  const now = formOf(user)
  const [edits, setEdits] = useState<Edits>()
  /** How often the changes were undone. Each time, a new form starts without the last failure. */
  const [undone, setUndone] = useState(0)
  const bind = <Name extends keyof Account>(name: Name) => ({
    name,
    value: edits?.[name]?.to ?? now[name],
    required: false,
    onChange: (to: Account[Name]) => setEdits({ ...edits, [name]: { from: edits?.[name]?.from ?? now[name], to } }),
  })
  const save = async () => {
    await admin('PUT', `admin/users/${user.id}`, changesIn(edits ?? {}))
    setEdits(undefined)
    onChanged()
  }
  const undo = () => {
    setEdits(undefined)
    setUndone(undone + 1)
    // The pressed button disappears with the changes.
    focusHeading()
  }
  const undoButton = edits && <Button onClick={undo}>Undo changes</Button>
  return (
    <Form key={undone} send="Save" onSend={save} said="Saved." beside={undoButton}>
      <div class="fields">
        <Field label="Email" type="email" {...bind('email')} />
        <Field label="Phone" type="tel" {...bind('phone')} />
        <Field label="Role" {...bind('role')} />
        <NewPasswordField label="New password" {...bind('password')} note="Signs the user out everywhere." />
        <TextArea label="User metadata (JSON)" code {...bind('user_metadata')} hint="The user can change it." />
        <TextArea label="App metadata (JSON)" code {...bind('app_metadata')} hint="Only admins can change it." />
      </div>
      {user.email && !now.email_confirm && <Checkbox label="Confirm the email address" {...bind('email_confirm')} />}
    </Form>
  )
}

/** The body for the admin API: only what was edited, so that changes made elsewhere in the meantime stay. */
function changesIn({ user_metadata, app_metadata, ...plain }: Edits): object {
  const changed = Object.entries(plain).filter(([, { from, to }]) => to !== from)
  return {
    ...Object.fromEntries(changed.map(([name, { to }]) => [name, to])),
    ...(user_metadata && { user_metadata: metadataChanges('user_metadata', user_metadata) }),
    ...(app_metadata && { app_metadata: metadataChanges('app_metadata', app_metadata) }),
  }
}

/** The backend merges metadata, and removes fields that are null. */
function metadataChanges(field: string, { from, to }: { readonly from: string; readonly to: string }): object {
  const object = (text: string) => objectFrom(text.trim() || '{}', field, '{"plan": "pro"}')
  const { changed, gone } = changesBetween(object(from), object(to))
  return { ...changed, ...Object.fromEntries(gone.map(name => [name, null])) }
}

const sessionColumns: readonly Column<OpenSession>[] = [
  { name: 'Signed in', of: ({ created_at }) => <Moment at={created_at} /> },
  { name: 'How', width: '22%', of: ({ methods }) => methods.join(' and ') },
  { name: 'Refreshed', width: '20%', of: ({ refreshed_at }) => <Moment at={refreshed_at} /> },
  { name: 'Token expires', width: '20%', of: ({ token_expires_at }) => <Moment at={token_expires_at} /> },
]

/** The user's open sessions, which can be ended one by one or together. */
function Sessions({ of: user, onChanged }: Props) {
  const load = (signal: AbortSignal) => control('GET /sessions', { query: { search: user.id }, signal })
  const loaded = useResource(load, [user.id, user.sessions], EVERY_MS)
  const signOutButton = (label: string, title: string, onSend: () => Promise<unknown>) => (
    <AskButton
      small={true}
      label={label}
      title={title}
      onSend={onSend}
      send="Sign out"
      onDone={() => {
        loaded.reload()
        onChanged()
      }}
      said={`${nameOf(user)} was signed out.`}
    >
      <p>Access tokens stop working at once, and cannot be refreshed.</p>
    </AskButton>
  )
  const endAll = () => control('DELETE /sessions', { query: { user: user.id } })
  const everywhere =
    user.sessions > 1 && signOutButton('Sign out everywhere', `Sign out ${nameOf(user)} everywhere?`, endAll)
  return (
    <Section title="Sessions" action={everywhere}>
      <Shown of={loaded}>
        {({ data }) => (
          <Table
            caption="Sessions"
            columns={sessionColumns}
            rows={data}
            keyOf={({ id }) => id}
            none={<p class="quiet">Not signed in.</p>}
            actions={({ id }) =>
              signOutButton('Sign out', 'End this session?', () => control('DELETE /sessions/{id}', { id }))
            }
          />
        )}
      </Shown>
    </Section>
  )
}

/** The user's API keys, which can be revoked. */
function Keys({ of: user }: { readonly of: ListedUser }) {
  const load = (signal: AbortSignal) => control('GET /keys', { query: { user: user.id }, signal })
  const loaded = useResource(load, [user.id], EVERY_MS)
  return (
    <Section title="API keys">
      <Shown of={loaded}>
        {({ data }) => (
          <KeyTable
            caption="API keys"
            keys={data}
            none={<p class="quiet">No API keys.</p>}
            revoke={id => control('DELETE /keys/{id}', { id })}
            onRevoked={loaded.reload}
          />
        )}
      </Shown>
    </Section>
  )
}
