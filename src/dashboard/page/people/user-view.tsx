/** One user: what can be done with them, their sessions, their API keys and the account. */
import { useState } from 'preact/hooks'
import type { ListedUser } from '../../../supabase/operations.js'
import { messagesAt, routes } from '../../routes.js'
import { control } from '../api.js'
import { KeyTable } from '../connect/key-table.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { changesBetween, indented, isObject, objectFrom } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty, Shown } from '../widgets/states.jsx'
import { Section, View } from '../widgets/view.jsx'
import { admin } from './admin.js'
import { CreateFor } from './keys.jsx'
import { SessionTable } from './sessions.jsx'
import { UserActions } from './user-actions.jsx'
import { nameOf, requestsOf, States } from './user-states.jsx'

export function UserView({ id }: { readonly id: string }) {
  const load = (signal: AbortSignal) => control('GET /users', { query: { search: id }, signal })
  const found = useResource(
    async signal => (await load(signal)).data.find(user => user.id === id) ?? null,
    [id],
    EVERY_MS,
  )
  const { value: user, reload } = found
  const lead = (
    <span class="row">
      <Link to={routes.people}>All users</Link>
      {user && (
        <>
          <States of={user} /> <code class="cut">{id}</code>
          <CopyButton text={id} what="the user’s id" bare />
          <Link to={requestsOf(user)}>Requests</Link>
          {user.email && <Link to={messagesAt({ to: user.email })}>Messages</Link>}
        </>
      )}
    </span>
  )
  return (
    <View title={user ? nameOf(user) : 'User'} lead={lead} action={user && <UserActions of={user} onDone={reload} />}>
      <DeveloperOnly of={found}>
        {user =>
          user ? (
            <>
              <Sessions of={user} onChanged={reload} />
              <Keys of={user} />
              <Section title="Account">
                <Account of={user} onChanged={reload} />
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

function Sessions({ of: user, onChanged }: Props) {
  const load = (signal: AbortSignal) => control('GET /sessions', { query: { search: user.id }, signal })
  const loaded = useResource(load, [user.id, user.sessions], EVERY_MS)
  const onEnded = () => {
    loaded.reload()
    onChanged()
  }
  return (
    <Section title="Sessions">
      <Shown of={loaded}>{({ data }) => <SessionTable sessions={data} onEnded={onEnded} />}</Shown>
    </Section>
  )
}

function Keys({ of: user }: Pick<Props, 'of'>) {
  const load = (signal: AbortSignal) => control('GET /keys', { query: { user: user.id }, signal })
  const loaded = useResource(load, [user.id], EVERY_MS)
  return (
    <Section title="API keys" action={user.email && <CreateFor user={user.email} onDone={loaded.reload} />}>
      <Shown of={loaded}>
        {({ data }) => (
          <KeyTable
            keys={data}
            none="No API keys."
            revoke={id => control('DELETE /keys/{id}', { id })}
            onRevoked={loaded.reload}
          />
        )}
      </Shown>
    </Section>
  )
}

/** What an admin can change. */
const accountOf = ({ email, phone, role, email_confirmed_at, user_metadata, app_metadata }: ListedUser) =>
  indented({ email, phone, role, email_confirm: email_confirmed_at !== undefined, user_metadata, app_metadata })

/** The account as JSON, in the fields of the admin API. */
function Account({ of: user, onChanged }: Props) {
  const [before, setBefore] = useState(() => accountOf(user))
  const [text, setText] = useState(before)
  const save = async () => {
    await admin('PUT', `admin/users/${user.id}`, changesIn(before, text))
    const { password: _, ...saved } = objectFrom(text, 'account', before)
    setBefore(indented(saved))
    setText(indented(saved))
    onChanged()
  }
  return (
    <Form send="Save" onSend={save} said="Saved.">
      <TextArea
        label="Account (JSON)"
        name="account"
        code
        value={text}
        onChange={setText}
        hint="Add a “password” to set a new one, which signs the user out everywhere. Users can change their user_metadata, only admins the app_metadata."
      />
    </Form>
  )
}

/** The body for the admin API: only what was edited, so that changes made elsewhere in the meantime stay. */
function changesIn(before: string, now: string): object {
  const was = objectFrom(before, 'account', '')
  const { changed } = changesBetween(was, objectFrom(now, 'account', '{"email": "ada@example.com"}'))
  return Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, merged(was[name], value)]))
}

/** The backend merges metadata, and removes fields that are null. */
function merged(before: unknown, now: unknown): unknown {
  if (!isObject(before) || !isObject(now)) return now
  const { changed, gone } = changesBetween(before, now)
  return { ...changed, ...Object.fromEntries(gone.map(name => [name, null])) }
}
