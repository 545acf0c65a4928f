/** All users with an account, and one of them in detail. */
import { useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import type { ListedUser } from '../../supabase/operations.js'
import { useControl } from '../api.js'
import { useConfig } from '../config.jsx'
import { useAddress } from '../routing.js'
import { NewPasswordField } from '../session/password-views.jsx'
import { announce } from '../widgets/announcer.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { KeptElsewhere } from '../widgets/developer-only.jsx'
import { Confirm } from '../widgets/dialog.jsx'
import { Checkbox, Field } from '../widgets/fields.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Link } from '../widgets/link.jsx'
import { ListPage, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { View } from '../widgets/view.jsx'
import { counted } from '../wording.js'
import { useAdmin } from './admin.js'
import { nameOf, States, UserView } from './user-view.jsx'

const LEAD = 'Everyone who has an account with the auth backend.'

export function UsersView() {
  const id = useAddress().query.get('user')
  if (useConfig().auth_mode === 'proxy') {
    return (
      <View title="Users" lead={LEAD}>
        <KeptElsewhere />
      </View>
    )
  }
  return id === null ? <Users /> : <UserView key={id} id={id} />
}

function Users() {
  const control = useControl()
  const list = useList(routes.users, (query, signal) => control('GET /users', { query, signal }), [control])
  const [isAdding, setAdding] = useState(false)
  const add = (
    <Button tone="main" onClick={() => setAdding(true)}>
      <Icon name="plus" />
      Add user
    </Button>
  )
  return (
    <ListPage
      title="Users"
      lead={LEAD}
      action={list.value && add}
      of={list}
      what="user"
      searches="email addresses, phone numbers, ids and metadata"
      columns={columns}
      keyOf={({ id }) => id}
      empty={
        <Empty title="No users yet">
          They appear here as soon as they sign up, in your app or <Link to={routes.signUp}>here</Link>.
        </Empty>
      }
    >
      {isAdding && <AddDialog onAdded={list.reload} onClosed={() => setAdding(false)} />}
    </ListPage>
  )
}

const columns: readonly Column<ListedUser>[] = [
  {
    name: 'User',
    of: user => (
      <>
        <Link to={`${routes.users}?user=${user.id}`} class="row-link">
          {nameOf(user)}
        </Link>
        <span class="row-detail row">
          <code class="cut">{user.id}</code>
          <CopyButton text={user.id} what={`the id of ${nameOf(user)}`} bare />
        </span>
      </>
    ),
  },
  { name: 'State', width: '16%', plain: true, of: user => <States of={user} /> },
  { name: 'Signed in', width: '12%', of: ({ sessions }) => (sessions > 0 ? counted(sessions, 'session') : 'no') },
  { name: 'Created', width: '14%', of: ({ created_at }) => <Moment at={created_at} /> },
  { name: 'Last sign-in', width: '14%', of: ({ last_sign_in_at }) => <Moment at={last_sign_in_at} /> },
]

interface AddProps {
  readonly onAdded: () => void
  readonly onClosed: () => void
}

/** Creates a user, as the admin of an app would. */
function AddDialog({ onAdded, onClosed }: AddProps) {
  const admin = useAdmin()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [isConfirmed, setConfirmed] = useState(true)
  return (
    <Confirm
      title="Add a user"
      send="Add user"
      isEdited={email !== '' || password !== ''}
      onSend={() => admin('POST', 'admin/users', { email, ...(password && { password }), email_confirm: isConfirmed })}
      onDone={() => {
        onAdded()
        announce(`${email} is added.`)
      }}
      onClosed={onClosed}
    >
      <Field label="Email" name="email" type="email" value={email} onChange={setEmail} />
      <NewPasswordField
        required={false}
        value={password}
        onChange={setPassword}
        note="Leave it empty for a user who signs in by link or code."
      />
      <Checkbox label="The email address is confirmed" checked={isConfirmed} onChange={setConfirmed} />
    </Confirm>
  )
}
