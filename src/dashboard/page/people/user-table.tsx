/** The users of the app. */
import type { PersonJson } from '../../wire.js'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { Moment } from '../widgets/moment.jsx'

/** What there is to know of a user in one word each. */
function statesOf(person: PersonJson): readonly (readonly [Tone, string])[] {
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

export function UserTable({ users }: { readonly users: readonly PersonJson[] }) {
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
