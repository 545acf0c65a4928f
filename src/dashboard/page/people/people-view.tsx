/** Everyone who uses the platform: users, what was sent to them, their sessions and their API keys. */
import type { ListedUser } from '../../../supabase/operations.js'
import { routes } from '../../routes.js'
import { askAsAdmin, control } from '../api.js'
import { useConfig } from '../config.jsx'
import { Link, useAddress } from '../routing.jsx'
import { SearchList, useSearch } from '../search-list.jsx'
import { useAction } from '../widgets/action.js'
import { Button } from '../widgets/button.jsx'
import { Dialog, openDialog } from '../widgets/dialog.jsx'
import { Checkbox, Field, Form, useFields } from '../widgets/fields.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty, FailureNote } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { Tabs, View } from '../widgets/view.jsx'
import { AllSessions, Keys } from './access.jsx'
import { Messages } from './messages.jsx'
import { nameOf, requestsOf, States, signInAs, userAt } from './user-states.jsx'
import { UserView } from './user-view.jsx'

export function PeopleView() {
  const user = useAddress().query.get('user')
  if (useConfig().auth_mode === 'proxy') {
    return (
      <View title="People">
        <Empty title="Managed by the live backend">
          With <code>auth.mode: proxy</code>, users and messages stay in the live backend. See its own dashboard.
        </Empty>
        <Keys />
      </View>
    )
  }
  if (user !== null) return <UserView key={user} id={user} />
  const tabs = [
    { name: 'Users', content: <Users /> },
    { name: 'Messages', content: <Messages /> },
    { name: 'Sessions', content: <AllSessions /> },
    { name: 'Keys', content: <Keys /> },
  ]
  return (
    <View
      title="People"
      lead="Who has an account here, and what a live backend would have sent them. Nothing leaves this machine."
    >
      <Tabs label="People" at="tab" tabs={tabs} />
    </View>
  )
}

function Users() {
  const list = useSearch((query, signal) => control('GET /users', { query, signal }))
  const { failure, run } = useAction()
  return (
    <SearchList
      of={list}
      what="user"
      searches="email addresses, phone numbers, ids and metadata"
      action={
        <>
          <Button tone="main" icon="plus" onClick={() => openDialog(<AddDialog onAdded={list.reload} />)}>
            Add user
          </Button>
          <FailureNote failure={failure} />
        </>
      }
      empty={
        <Empty title="No users yet">
          They appear here as soon as they sign up, in your app or under <Link to={routes.connect}>Connect</Link>.
        </Empty>
      }
    >
      {users => (
        <Table
          caption="Users"
          columns={userColumns}
          rows={users}
          keyOf={({ id }) => id}
          actionsWidth="8rem"
          actions={user => (
            <Button small about={nameOf(user)} onClick={() => run(() => signInAs(user).then(list.reload))}>
              Sign in as
            </Button>
          )}
        />
      )}
    </SearchList>
  )
}

const userColumns: readonly Column<ListedUser>[] = [
  {
    name: 'User',
    of: user => (
      <Link to={userAt(user.id)} class="long-name">
        {nameOf(user)}
      </Link>
    ),
  },
  { name: 'State', width: '16%', plain: true, of: user => <States of={user} /> },
  { name: 'Sessions', width: '10%', of: ({ sessions }) => sessions },
  { name: 'Last sign-in', width: '15%', of: ({ last_sign_in_at }) => <Moment at={last_sign_in_at} /> },
  { name: 'Did', width: '12%', of: user => <Link to={requestsOf(user)}>requests</Link> },
]

/** Creates a user, as the admin of an app would. */
function AddDialog({ onAdded }: { readonly onAdded: () => void }) {
  const { password_rule = '' } = useConfig()
  const { values, field } = useFields({ email: '', password: '', isConfirmed: true })
  const { email, password, isConfirmed } = values
  const add = async () => {
    const body = { email, ...(password && { password }), email_confirm: isConfirmed }
    await askAsAdmin('admin/users', { body })
    onAdded()
  }
  return (
    <Dialog title="Add a user">
      <Form send="Add user" onSend={add} said={`${email} was added.`}>
        <Field label="Email" type="email" {...field('email')} />
        <Field
          label="Password"
          type="password"
          required={false}
          autocomplete="new-password"
          hint={`${password_rule} Leave it empty for a user who signs in by link or code.`}
          {...field('password')}
        />
        <Checkbox label="The email address is confirmed" {...field('isConfirmed')} />
      </Form>
    </Dialog>
  )
}
