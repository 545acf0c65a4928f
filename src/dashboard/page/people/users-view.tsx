/** All users, or one of them in detail. */

import type { ListedUser } from '../../../supabase/operations.js'
import { routes } from '../../routes.js'
import { control } from '../api.js'
import { useConfig } from '../config.jsx'
import { useAddress } from '../routing.js'
import { NewPasswordField } from '../session/new-password-field.jsx'
import { Button } from '../widgets/button.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { KeptElsewhere } from '../widgets/developer-only.jsx'
import { Confirm, openDialog } from '../widgets/dialog.jsx'
import { Checkbox, Field } from '../widgets/fields.jsx'
import { useFields } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { ListPage, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { counted } from '../wording.js'
import { admin } from './admin.js'
import { nameOf, States } from './user-states.jsx'
import { UserView } from './user-view.jsx'

const about = { title: 'Users', lead: 'Everyone who has an account with the auth backend.' } as const

export function UsersView() {
  const id = useAddress().query.get('user')
  if (useConfig().auth_mode === 'proxy') return <KeptElsewhere {...about} />
  return id === null ? <Users /> : <UserView key={id} id={id} />
}

function Users() {
  const list = useList(routes.people, (query, signal) => control('GET /users', { query, signal }))
  const add = (
    <Button tone="main" icon="plus" onClick={() => openDialog(<AddDialog onAdded={list.reload} />)}>
      Add user
    </Button>
  )
  return (
    <ListPage
      {...about}
      action={list.value && add}
      of={list}
      what="user"
      searches="email addresses, phone numbers, ids and metadata"
      columns={userColumns}
      keyOf={({ id }) => id}
      empty={
        <Empty title="No users yet">
          They appear here as soon as they sign up, in your app or <Link to={routes.connect}>here</Link>.
        </Empty>
      }
    />
  )
}

const userColumns: readonly Column<ListedUser>[] = [
  {
    name: 'User',
    of: user => (
      <>
        <Link to={`${routes.people}?user=${user.id}`} class="row-link">
          {nameOf(user)}
        </Link>
        <span class="row-detail line">
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

/** Creates a user, as the admin of an app would. */
function AddDialog({ onAdded }: { readonly onAdded: () => void }) {
  const { values, field } = useFields({ email: '', password: '', isConfirmed: true })
  const { email, password, isConfirmed } = values
  return (
    <Confirm
      title="Add a user"
      send="Add user"
      onSend={() => admin('POST', 'admin/users', { email, ...(password && { password }), email_confirm: isConfirmed })}
      onDone={onAdded}
      said={`${email} was added.`}
    >
      <Field label="Email" type="email" {...field('email')} />
      <NewPasswordField
        required={false}
        {...field('password')}
        note="Leave it empty for a user who signs in by link or code."
      />
      <Checkbox label="The email address is confirmed" {...field('isConfirmed')} />
    </Confirm>
  )
}
