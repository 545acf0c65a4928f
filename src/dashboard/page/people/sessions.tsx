/** Open sessions, which can be ended. */
import type { OpenSession } from '../../../supabase/operations.js'
import { control } from '../api.js'
import { SearchList, useSearch } from '../search-list.jsx'
import { AskButton } from '../widgets/dialog.jsx'
import { Link } from '../widgets/link.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { userAt } from './user-states.jsx'

export function AllSessions() {
  const list = useSearch((query, signal) => control('GET /sessions', { query, signal }))
  return (
    <SearchList
      of={list}
      what="session"
      searches="addresses, phone numbers and ids"
      empty={<Empty title="Nobody is signed in">A session appears here with each sign-in.</Empty>}
    >
      {sessions => <SessionTable sessions={sessions} onEnded={list.reload} />}
    </SearchList>
  )
}

const sessionColumns: readonly Column<OpenSession>[] = [
  {
    name: 'User',
    of: ({ user_id, email, phone }) => (
      <Link to={userAt(user_id)} class="long-name">
        {email || phone || 'Anonymous user'}
      </Link>
    ),
  },
  { name: 'Signed in', width: '20%', of: ({ created_at }) => <Moment at={created_at} /> },
  { name: 'How', width: '15%', of: ({ methods }) => methods.join(' and ') },
  { name: 'Token expires', width: '20%', of: ({ token_expires_at }) => <Moment at={token_expires_at} /> },
]

interface SessionTableProps {
  readonly sessions: readonly OpenSession[]
  readonly onEnded: () => void
}

export const SessionTable = ({ sessions, onEnded }: SessionTableProps) => (
  <Table
    caption="Sessions"
    columns={sessionColumns}
    rows={sessions}
    keyOf={({ id }) => id}
    none={<p class="quiet">Not signed in.</p>}
    actionsWidth="6rem"
    actions={({ id, email }) => (
      <AskButton
        small
        label="End"
        about={`the session of ${email ?? 'this user'}`}
        title="End this session?"
        onSend={() => control('DELETE /sessions/{id}', { id })}
        send="End session"
        onDone={onEnded}
        said="The session was ended."
      >
        <p>Its access token stops working at once, and cannot be refreshed.</p>
      </AskButton>
    )}
  />
)
