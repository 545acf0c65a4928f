/** One user: what can be done with them, their sessions, their API keys and the account. */
import { useState } from 'preact/hooks'
import type { ListedUser } from '../../../supabase/operations.js'
import { messagesAt, routes } from '../../routes.js'
import { control } from '../api.js'
import { useNow } from '../config.jsx'
import { Link, navigate } from '../routing.jsx'
import { useAction } from '../widgets/action.js'
import { Button, CopyButton } from '../widgets/button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { AskButton, Confirm, openDialog } from '../widgets/dialog.jsx'
import { Form, Select, TextArea, useFields } from '../widgets/fields.jsx'
import { changesBetween, indented, objectFrom } from '../widgets/json.js'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty, FailureNote } from '../widgets/states.jsx'
import { Section, View } from '../widgets/view.jsx'
import { Keys, SessionTable } from './access.jsx'
import { admin } from './admin.js'
import { isBanned, nameOf, requestsOf, States, signInAs } from './user-states.jsx'

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

interface Props {
  readonly of: ListedUser
  readonly onDone: () => void
}

/** As in Supabase's dashboard: a hundred years. */
const UNTIL_LIFTED = '876000h'

function UserActions({ of: user, onDone }: Props) {
  const { busy, failure, run } = useAction()
  const name = nameOf(user)
  const isOut = isBanned(user, useNow())
  const ban = () => admin('PUT', `admin/users/${user.id}`, { ban_duration: isOut ? 'none' : UNTIL_LIFTED })
  return (
    <div class="row">
      <Button aria-disabled={busy} onClick={() => run(() => signInAs(user).then(onDone))}>
        Sign in as
      </Button>
      {user.email && <Button onClick={() => openDialog(<SendLink of={user} />)}>Send a link</Button>}
      <AskButton
        label={isOut ? 'Lift the ban' : 'Ban'}
        title={isOut ? `Lift the ban of ${name}?` : `Ban ${name}?`}
        send={isOut ? 'Lift' : 'Ban'}
        onSend={ban}
        onDone={onDone}
        said={isOut ? 'The ban was lifted.' : `${name} was banned.`}
      >
        <p>
          While a user is banned, their tokens and API keys are refused, and they cannot sign in. It lasts until it is
          lifted.
        </p>
      </AskButton>
      <AskButton
        label="Delete"
        title={`Delete ${name}?`}
        send="Delete user"
        onSend={() => admin('DELETE', `admin/users/${user.id}`, {})}
        onDone={() => navigate(routes.people)}
        said={`${name} was deleted.`}
      >
        <p>The user’s sessions and API keys are deleted, too. This cannot be undone.</p>
      </AskButton>
      <FailureNote failure={failure} />
    </div>
  )
}

const links = [
  ['magiclink', 'Magic link, to sign in'],
  ['recover', 'Password recovery'],
  ['resend', 'Confirmation of the address'],
] as const

/** Requests a mail for the user, as the app would. */
function SendLink({ of: { email } }: { readonly of: ListedUser }) {
  const { values, field } = useFields({ kind: 'magiclink' as (typeof links)[number][0] })
  return (
    <Confirm
      title={`Send a link to ${email}`}
      send="Send"
      onSend={() => admin('POST', values.kind, { email, ...(values.kind === 'resend' && { type: 'signup' }) })}
      onDone={() => navigate(messagesAt({ to: email }))}
      said="The link is among the messages."
    >
      <Select label="Link" {...field('kind')} options={links} />
      <p>Mail is captured locally, and shown under Messages.</p>
    </Confirm>
  )
}
