/** The open sessions, and signing users out. */
import { useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import type { OpenSession } from '../../supabase/operations.js'
import { useControl } from '../api.js'
import { UnlessKeptElsewhere } from '../people/developer-only.jsx'
import { announce } from '../widgets/announcer.jsx'
import { Confirm } from '../widgets/dialog.jsx'
import { RadioGroup } from '../widgets/fields.jsx'
import { Link } from '../widgets/link.jsx'
import { List, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { goOnFromHeading, View } from '../widgets/view.jsx'

const EVERY_MS = 5000

export function SessionsView() {
  return (
    <View title="Sessions" lead="Users who are signed in, and how they signed in.">
      <UnlessKeptElsewhere>
        <Sessions />
      </UnlessKeptElsewhere>
    </View>
  )
}

function Sessions() {
  const control = useControl()
  const list = useList(
    routes.sessions,
    (query, signal) => control('GET /sessions', { query, signal }),
    [control],
    EVERY_MS,
  )
  const [leaving, setLeaving] = useState<OpenSession>()
  return (
    <>
      <List
        of={list}
        what="session"
        searchLabel="Search users"
        caption="Sessions"
        columns={columns}
        keyOf={({ id }) => id}
        actions={session => (
          <button type="button" class="button button-small button-warns" onClick={() => setLeaving(session)}>
            Sign out<span class="unseen"> {nameOf(session)}</span>
          </button>
        )}
        empty={
          <Empty title="No open sessions">
            <p>
              A session appears here as soon as a user signs in, in your app or <Link to={routes.signIn}>here</Link>.
            </p>
          </Empty>
        }
        nothingFound={
          <Empty title="No sessions match">
            <p>The search looks at email addresses, phone numbers and user ids.</p>
          </Empty>
        }
      />
      {leaving && <SignOut of={leaving} onDone={list.reload} onClosed={() => setLeaving(undefined)} />}
    </>
  )
}

/** The name of the session's user. */
const nameOf = ({ email, phone, is_anonymous }: OpenSession) =>
  email || phone || (is_anonymous ? 'Anonymous user' : 'No address')

const columns: readonly Column<OpenSession>[] = [
  {
    name: 'User',
    of: session => (
      <>
        {nameOf(session)}
        <span class="row-detail">
          {session.aal}, with {session.methods.join(' and ')}
        </span>
      </>
    ),
  },
  { name: 'Signed in', width: '16%', of: ({ created_at }) => <Moment at={created_at} /> },
  {
    name: 'Refreshed',
    width: '16%',
    of: ({ refreshed_at }) => (refreshed_at ? <Moment at={refreshed_at} /> : 'never'),
  },
  { name: 'Token expires', width: '16%', of: ({ token_expires_at }) => <Moment at={token_expires_at} /> },
]

interface SignOutProps {
  readonly of: OpenSession
  readonly onDone: () => void
  readonly onClosed: () => void
}

/** Asks for confirmation, then signs a user out, in this session or everywhere. */
function SignOut({ of: session, onDone, onClosed }: SignOutProps) {
  const control = useControl()
  const [everywhere, setEverywhere] = useState(false)
  const name = nameOf(session)
  return (
    <Confirm
      title={`Sign out ${name}?`}
      send="Sign out"
      tone="danger"
      onSend={() =>
        everywhere
          ? control('DELETE /sessions', { query: { user: session.user_id } })
          : control('DELETE /sessions/{id}', { id: session.id })
      }
      onDone={() => {
        goOnFromHeading()
        onDone()
        announce(`${name} is signed out.`)
      }}
      onClosed={onClosed}
    >
      <RadioGroup
        label="What ends"
        value={everywhere}
        onChange={setEverywhere}
        options={[
          { value: false, label: 'This session' },
          { value: true, label: 'All sessions of this user' },
        ]}
      />
      <p>Access tokens stop working at once, and cannot be refreshed.</p>
    </Confirm>
  )
}
