/** Sessions, a row each. */
import { Moment } from '../widgets/moment.jsx'
import { TableHead } from '../widgets/table-head.jsx'
import { nameOf, type SessionJson } from './sessions-client.js'

interface Props {
  readonly sessions: readonly SessionJson[]
  readonly onSignOut: (session: SessionJson) => void
}

export function SessionTable({ sessions, onSignOut }: Props) {
  return (
    <table class="table table-stacking sessions-table">
      <caption class="unseen">Sessions</caption>
      <TableHead columns={['User', 'Signed in', 'Refreshed', 'Token expires']} />
      <tbody>
        {sessions.map(session => (
          <tr key={session.id}>
            <th scope="row">
              {nameOf(session)}
              <span class="row-detail">
                {session.aal}, with {session.methods.join(' and ')}
              </span>
            </th>
            <td data-label="Signed in">
              <Moment at={session.created_at} />
            </td>
            <td data-label="Refreshed">{session.refreshed_at ? <Moment at={session.refreshed_at} /> : 'never'}</td>
            <td data-label="Token expires">
              <Moment at={session.token_expires_at} />
            </td>
            <td class="row-actions">
              <span class="row-buttons">
                <button type="button" class="button button-small button-warns" onClick={() => onSignOut(session)}>
                  Sign out<span class="unseen"> {nameOf(session)}</span>
                </button>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
