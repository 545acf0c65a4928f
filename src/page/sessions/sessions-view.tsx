/** The open sessions, and signing users out. */
import { useCallback, useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import type { OpenSession } from '../../supabase/operations.js'
import { useControl } from '../api.js'
import { useListing } from '../listing.js'
import { DeveloperOnly, UnlessKeptElsewhere } from '../people/developer-only.jsx'
import { useSearch } from '../search.js'
import { announce } from '../widgets/announcer.jsx'
import { Dialog } from '../widgets/dialog.jsx'
import { Form } from '../widgets/form.jsx'
import { Link } from '../widgets/link.jsx'
import { Moment } from '../widgets/moment.jsx'
import { counted, Pager, SearchField } from '../widgets/search-field.jsx'
import { Empty } from '../widgets/states.jsx'
import { TableHead } from '../widgets/table-head.jsx'
import { goOnFromHeading, View } from '../widgets/view.jsx'

const EVERY_MS = 5000

export function SessionsView() {
  return (
    <View title="Sessions" lead="Who is signed in with the auth backend, in which browsers and apps.">
      <UnlessKeptElsewhere>
        <Sessions />
      </UnlessKeptElsewhere>
    </View>
  )
}

function Sessions() {
  const control = useControl()
  const { words, query, limit, offset, setWords, move } = useSearch(routes.sessions)
  const load = useCallback(
    async (signal: AbortSignal) => ({ ...(await control('GET /sessions', { query, signal })), begin: offset }),
    [control, query],
  )
  const loaded = useListing(load, EVERY_MS)
  const [leaving, setLeaving] = useState<OpenSession>()
  return (
    <DeveloperOnly of={loaded}>
      {({ data, total, begin }) => (
        <>
          {(total > 0 || words !== '') && (
            <SearchField label="Search users" value={words} onChange={setWords} found={counted(total, 'session')} />
          )}
          {data.length > 0 && <SessionTable sessions={data} onSignOut={setLeaving} />}
          {total === 0 && (
            <Empty title={words === '' ? 'No open sessions' : 'No session is of such a user'}>
              <p>
                {words === '' ? (
                  <>
                    A session appears here as soon as a user signs in, in your app or{' '}
                    <Link to={routes.signIn}>here</Link>.
                  </>
                ) : (
                  'The search looks at addresses, phone numbers and ids of users.'
                )}
              </p>
            </Empty>
          )}
          <Pager offset={begin} limit={limit} total={total} onMove={move} />
          {leaving && (
            <SignOutDialog
              of={leaving}
              onSend={everywhere =>
                everywhere
                  ? control('DELETE /sessions', { query: { user: leaving.user_id } })
                  : control('DELETE /sessions/{id}', { id: leaving.id })
              }
              onDone={loaded.reload}
              onClosed={() => setLeaving(undefined)}
            />
          )}
        </>
      )}
    </DeveloperOnly>
  )
}

/** The name of the session's user. */
const nameOf = ({ email, phone, is_anonymous }: OpenSession) =>
  email || phone || (is_anonymous ? 'Anonymous user' : 'No address')

interface Props {
  readonly sessions: readonly OpenSession[]
  readonly onSignOut: (session: OpenSession) => void
}

/** A table of sessions. */
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

interface SignOutDialogProps {
  readonly of: OpenSession
  readonly onSend: (everywhere: boolean) => Promise<void>
  readonly onDone: () => void
  readonly onClosed: () => void
}

/** Asks for confirmation, then signs a user out, in this session or everywhere. */
export function SignOutDialog({ of: session, onSend, onDone, onClosed }: SignOutDialogProps) {
  const [everywhere, setEverywhere] = useState(false)
  const name = nameOf(session)
  const choices = [
    ['This session', false],
    ['All sessions of this user', true],
  ] as const
  return (
    <Dialog title={`Sign out ${name}?`} onClosed={onClosed}>
      {close => (
        <Form
          send="Sign out"
          tone="danger"
          onSend={async () => {
            await onSend(everywhere)
            close()
            goOnFromHeading()
            onDone()
            announce(`${name} is signed out.`)
          }}
          beside={
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
          }
        >
          <fieldset>
            <legend>What ends</legend>
            {choices.map(([label, value]) => (
              <label key={label} class="choice">
                <input
                  type="radio"
                  name="everywhere"
                  checked={everywhere === value}
                  onChange={() => setEverywhere(value)}
                />
                {label}
              </label>
            ))}
          </fieldset>
          <p>Its access token is refused from now on, and it cannot be refreshed.</p>
        </Form>
      )}
    </Dialog>
  )
}
