/** Who is signed in, and signing them out. */
import { useCallback, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { useListing } from '../listing.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { UnlessKeptElsewhere } from '../people/unless-kept-elsewhere.jsx'
import { useSearch } from '../search.js'
import { Empty } from '../widgets/empty.jsx'
import { Link } from '../widgets/link.jsx'
import { Pager } from '../widgets/pager.jsx'
import { counted, SearchField } from '../widgets/search-field.jsx'
import { View } from '../widgets/view.jsx'
import { SessionTable } from './session-table.jsx'
import { type SessionJson, useSessionsClient } from './sessions-client.js'
import { SignOutDialog } from './sign-out-dialog.jsx'

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
  const sessions = useSessionsClient()
  const { words, query, limit, offset, setWords, move } = useSearch(routes.sessions)
  const load = useCallback(
    async (signal: AbortSignal) => ({ ...(await sessions.list(query, signal)), begin: offset }),
    [sessions, query],
  )
  const loaded = useListing(load, EVERY_MS)
  const [leaving, setLeaving] = useState<SessionJson>()
  return (
    <DeveloperOnly of={loaded}>
      {({ data, total, begin }) => (
        <>
          {(total > 0 || words !== '') && (
            <SearchField label="Search users" value={words} onChange={setWords} found={counted(total, 'session')} />
          )}
          {data.length > 0 && <SessionTable sessions={data} onSignOut={setLeaving} />}
          {total === 0 && (
            <Empty title={words === '' ? 'Nobody is signed in' : 'No session is of such a user'}>
              <p>
                {words === '' ? (
                  <>
                    A session appears here as soon as somebody signs in, in your app or{' '}
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
              sessions={sessions}
              onDone={loaded.reload}
              onClosed={() => setLeaving(undefined)}
            />
          )}
        </>
      )}
    </DeveloperOnly>
  )
}
