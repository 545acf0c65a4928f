/** Open sessions and API keys of all users: listed, ended or revoked, and keys created for anyone. */
import type { ApiKeyView } from '../../../keys/operations.js'
import type { OpenSession } from '../../../supabase/operations.js'
import { control } from '../api.js'
import { Link } from '../routing.jsx'
import { SearchList, useSearch } from '../search-list.jsx'
import { freshKey } from '../session/session.js'
import { Button } from '../widgets/button.jsx'
import { DeveloperOnly } from '../widgets/developer-only.jsx'
import { Dialog, openDialog } from '../widgets/dialog.jsx'
import { AskButton, Field, Form, useFields } from '../widgets/fields.jsx'
import { Moment } from '../widgets/moment.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { Badge, type Tone } from '../widgets/view.jsx'
import { nameOf, openSecret, userAt } from './user-states.jsx'

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
        onSend={() => control('DELETE /sessions/{id}', { id }).then(onEnded)}
        send="End session"
        said="The session was ended."
      >
        <p>Its access token stops working at once, and cannot be refreshed.</p>
      </AskButton>
    )}
  />
)

/** How many owners are known by name. */
const MOST_OWNERS = 1000

async function keysWithOwners(user: string | undefined, signal: AbortSignal) {
  const [keys, users] = await Promise.all([
    control('GET /keys', { query: { user }, signal }),
    control('GET /users', { query: { search: user, limit: MOST_OWNERS }, signal }),
  ])
  const names = new Map<string | null, string>(users.data.map(one => [one.id, nameOf(one)]))
  return keys.data.map(key => ({ ...key, owner: names.get(key.user_id) ?? 'a former user' }))
}

interface KeysProps {
  /** Only those of this user. */
  readonly user?: { readonly id: string; readonly email: string }
}

export function Keys({ user }: KeysProps) {
  const loaded = useResource(signal => keysWithOwners(user?.id, signal), [user?.id], EVERY_MS)
  const create = () => openDialog(<CreateDialog owner={user?.email ?? ''} onDone={loaded.reload} />)
  return (
    <DeveloperOnly of={loaded}>
      {keys => (
        <div class="stack">
          <div class="row">
            <Button icon="plus" onClick={create}>
              Create key
            </Button>
          </div>
          <Table
            caption="API keys"
            columns={keyColumns}
            rows={keys}
            keyOf={({ id }) => id}
            isDim={({ state }) => state !== 'active'}
            none={<p class="quiet">No API keys.</p>}
            actionsWidth="6.5rem"
            actions={key => key.state === 'active' && <RevokeButton of={key} onDone={loaded.reload} />}
          />
        </div>
      )}
    </DeveloperOnly>
  )
}

const states: Record<ApiKeyView['state'], readonly [Tone, string]> = {
  active: ['good', 'Active'],
  expired: ['care', 'Expired'],
  revoked: ['plain', 'Revoked'],
}

const keyColumns: readonly Column<ApiKeyView & { readonly owner: string }>[] = [
  {
    name: 'Name',
    of: ({ name, start }) => (
      <>
        {name}
        <code class="row-detail">{start}…</code>
      </>
    ),
  },
  {
    name: 'Owner',
    width: '24%',
    of: ({ user_id, owner }) => (user_id === null ? 'nobody' : <Link to={userAt(user_id)}>{owner}</Link>),
  },
  {
    name: 'State',
    width: '12%',
    plain: true,
    of: ({ state }) => <Badge tone={states[state][0]}>{states[state][1]}</Badge>,
  },
  { name: 'Last used', width: '16%', of: ({ last_used_at }) => <Moment at={last_used_at} /> },
  { name: 'Ends', width: '16%', of: ({ revoked_at, expires_at }) => <Moment at={revoked_at ?? expires_at} /> },
]

function RevokeButton({ of: { id, name, start }, onDone }: { readonly of: ApiKeyView; readonly onDone: () => void }) {
  const revoke = async () => {
    await control('DELETE /keys/{id}', { id })
    if (freshKey.get()?.id === id) freshKey.set(undefined)
    onDone()
  }
  return (
    <AskButton
      small
      about={name}
      label="Revoke"
      title={`Revoke “${name}”?`}
      send="Revoke key"
      onSend={revoke}
      said={`The key ${name} was revoked.`}
    >
      <p>
        Requests with <code>{start}…</code> get a 401 from now on. This cannot be undone.
      </p>
    </AskButton>
  )
}

function CreateDialog({ owner, onDone }: { readonly owner: string; readonly onDone: () => void }) {
  const { values, field } = useFields({ name: 'my app', user: owner })
  const { name, user } = values
  const create = async () => {
    const { key } = await control('POST /keys', { body: { name, ...(user && { user }) } })
    onDone()
    const note = 'Copy it now. Once this is closed, nobody can show it again, because only its fingerprint is kept.'
    openSecret(`The key “${name}”`, key, note)
  }
  return (
    <Dialog title="Create an API key">
      <Form send="Create key" onSend={create}>
        <Field label="Name" {...field('name')} maxLength={100} />
        <Field
          label="Owner"
          type="email"
          required={false}
          {...field('user')}
          hint="The address of a user; an unknown one is signed up. Without it, the key belongs to nobody."
        />
      </Form>
    </Dialog>
  )
}
