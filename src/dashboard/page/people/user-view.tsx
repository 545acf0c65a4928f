/** One user: what can be done with them, their sessions, their API keys and the account. */
import { useState } from 'preact/hooks'
import type { ListedUser } from '../../../supabase/operations.js'
import { messagesAt, routes } from '../../routes.js'
import { control } from '../api.js'
import { CopyButton } from '../widgets/copy-button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { changesBetween, indented, objectFrom } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import { Section, View } from '../widgets/view.jsx'
import { admin } from './admin.js'
import { Keys } from './keys.jsx'
import { SessionTable } from './sessions.jsx'
import { UserActions } from './user-actions.jsx'
import { nameOf, requestsOf, States } from './user-states.jsx'

async function userWithSessions(id: string, signal: AbortSignal) {
  const [users, sessions] = await Promise.all([
    control('GET /users', { query: { search: id }, signal }),
    control('GET /sessions', { query: { search: id }, signal }),
  ])
  return { user: users.data.find(user => user.id === id), sessions: sessions.data }
}

export function UserView({ id }: { readonly id: string }) {
  const found = useResource(signal => userWithSessions(id, signal), [id], EVERY_MS)
  const { value: { user } = {}, reload } = found
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
        {({ user, sessions }) =>
          user ? (
            <>
              <Section title="Sessions">
                <SessionTable sessions={sessions} onEnded={reload} />
              </Section>
              <Section title="API keys">
                <Keys user={user} />
              </Section>
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

/** What an admin can change. */
const accountOf = ({ email, phone, role, email_confirmed_at, user_metadata, app_metadata }: ListedUser) =>
  indented({ email, phone, role, email_confirm: email_confirmed_at !== undefined, user_metadata, app_metadata })

/** The account as JSON, in the fields of the admin API. Sends only what was edited, so that changes made elsewhere stay. */
function Account({ of: user, onChanged }: { readonly of: ListedUser; readonly onChanged: () => void }) {
  const [before, setBefore] = useState(() => accountOf(user))
  const [text, setText] = useState(before)
  const save = async () => {
    const account = objectFrom(text, 'account', '{"phone": "15551234"}')
    await admin('PUT', `admin/users/${user.id}`, changesBetween(objectFrom(before, 'account', ''), account).changed)
    const { password: _, ...saved } = account
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
        hint="A “password” sets a new one, and signs the user out everywhere. Metadata is merged; null removes a field."
      />
    </Form>
  )
}
