/** All users with an account, page by page. */
import { useCallback } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import type { ListedUser } from '../../supabase/operations.js'
import { useDeveloperApi } from '../api.js'
import { useListing } from '../listing.js'
import { navigate, useAddress } from '../routing.js'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Link } from '../widgets/link.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Pager } from '../widgets/search-field.jsx'
import { Empty } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { DeveloperOnly, UnlessKeptElsewhere } from './developer-only.jsx'

const LIMIT = 20
const EVERY_MS = 5000

export function UsersView() {
  return (
    <View title="Users" lead="Everybody who has an account with the auth backend.">
      <UnlessKeptElsewhere>
        <Users />
      </UnlessKeptElsewhere>
    </View>
  )
}

function Users() {
  const api = useDeveloperApi()
  const page = Math.max(1, Math.floor(Number(useAddress().query.get('page'))) || 1)
  const offset = (page - 1) * LIMIT
  // `begin` belongs to the loaded page: it stays visible until the next one has loaded, and its position must stay right.
  const load = useCallback(
    async (signal: AbortSignal) => {
      const query = { limit: String(LIMIT), offset: String(offset) }
      return { ...(await api('GET /users', { query, signal })), begin: offset }
    },
    [api, offset],
  )
  const loaded = useListing(load, EVERY_MS)
  const move = (to: number) => navigate(`${routes.users}?page=${to / LIMIT + 1}`)
  return (
    <DeveloperOnly of={loaded}>
      {({ data, total, begin }) => (
        <>
          {data.length > 0 && <UserTable users={data} />}
          {total === 0 && (
            <Empty title="No users yet">
              <p>
                They appear here as soon as they sign up, in your app or <Link to={routes.signUp}>here</Link>.
              </p>
            </Empty>
          )}
          <Pager offset={begin} limit={LIMIT} total={total} onMove={move} />
        </>
      )}
    </DeveloperOnly>
  )
}

/** The states of a user, in one word each. */
function statesOf(person: ListedUser): readonly (readonly [Tone, string])[] {
  const banned = person.banned_until !== undefined && Date.parse(person.banned_until) > Date.now()
  return [
    ...(person.deleted_at ? [['danger', 'Deleted'] as const] : []),
    ...(banned ? [['danger', 'Banned'] as const] : []),
    person.is_anonymous
      ? ['plain', 'Anonymous']
      : person.confirmed_at
        ? ['good', 'Confirmed']
        : ['care', 'Unconfirmed'],
  ]
}

/** The users of the app. */
function UserTable({ users }: { readonly users: readonly ListedUser[] }) {
  return (
    <table class="table table-stacking users-table">
      <caption class="unseen">Users</caption>
      <thead>
        <tr>
          <th scope="col">User</th>
          <th scope="col">State</th>
          <th scope="col">Created</th>
          <th scope="col">Last sign-in</th>
        </tr>
      </thead>
      <tbody>
        {users.map(person => (
          <tr key={person.id}>
            <th scope="row">
              {person.email || person.phone || 'No address'}
              <span class="user-id">
                <code>{person.id}</code>
                <CopyButton text={person.id} what={`the id of ${person.email || person.phone || 'this user'}`} bare />
              </span>
            </th>
            <td>
              <span class="badges">
                {statesOf(person).map(([tone, word]) => (
                  <Badge key={word} tone={tone}>
                    {word}
                  </Badge>
                ))}
              </span>
            </td>
            <td data-label="Created">
              <Moment at={person.created_at} />
            </td>
            <td data-label="Last sign-in">
              {person.last_sign_in_at ? <Moment at={person.last_sign_in_at} /> : 'never'}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
