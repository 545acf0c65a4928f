/** One user: what can be done with them, their sessions, their API keys and the account. */
import type { ListedUser } from '../../../supabase/operations.js'
import { messagesAt, routes } from '../../routes.js'
import { askAsAdmin, control } from '../api.js'
import { useNow } from '../config.jsx'
import { Link, navigate } from '../routing.jsx'
import { useAction } from '../widgets/action.js'
import { Button, CopyButton } from '../widgets/button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { Dialog, openDialog } from '../widgets/dialog.jsx'
import { AskButton, Form, Select, useFields } from '../widgets/fields.jsx'
import { indented } from '../widgets/json.js'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty, FailureNote } from '../widgets/states.jsx'
import { CodeBlock, Section, View } from '../widgets/view.jsx'
import { Keys, SessionTable } from './access.jsx'
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
                <CodeBlock code={indented(user)} label="the account" />
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
  readonly onDone: () => void
}

/** As in Supabase's dashboard: a hundred years. */
const UNTIL_LIFTED = '876000h'

function UserActions({ of: user, onDone }: Props) {
  const { busy, failure, run } = useAction()
  const name = nameOf(user)
  const isOut = isBanned(user, useNow())
  const at = `admin/users/${user.id}`
  const ban = () => askAsAdmin(at, { method: 'PUT', body: { ban_duration: isOut ? 'none' : UNTIL_LIFTED } })
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
        onSend={() => ban().then(onDone)}
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
        onSend={() => askAsAdmin(at, { method: 'DELETE' }).then(() => navigate(routes.people))}
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
  const send = async () => {
    await askAsAdmin(values.kind, { body: { email, ...(values.kind === 'resend' && { type: 'signup' }) } })
    navigate(messagesAt({ to: email }))
  }
  return (
    <Dialog title={`Send a link to ${email}`}>
      <Form send="Send" onSend={send} said="The link is among the messages.">
        <Select label="Link" {...field('kind')} options={links} />
        <p>Mail is captured locally, and shown under Messages.</p>
      </Form>
    </Dialog>
  )
}
