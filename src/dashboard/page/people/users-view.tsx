/** Everybody who has an account, page by page. */
import { useCallback } from 'preact/hooks'
import { routes } from '../../routes.js'
import { useListing } from '../listing.js'
import { navigate, useAddress } from '../routing.js'
import { Empty } from '../widgets/empty.jsx'
import { Link } from '../widgets/link.jsx'
import { Pager } from '../widgets/pager.jsx'
import { View } from '../widgets/view.jsx'
import { DeveloperOnly } from './developer-only.jsx'
import { usePeopleClient } from './people-client.js'
import { UnlessKeptElsewhere } from './unless-kept-elsewhere.jsx'
import { UserTable } from './user-table.jsx'

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
  const people = usePeopleClient()
  const page = Math.max(1, Math.floor(Number(useAddress().query.get('page'))) || 1)
  const offset = (page - 1) * LIMIT
  // With where it begins: the last page stays until the next one is here, and must not be counted as that.
  const load = useCallback(
    async (signal: AbortSignal) => ({ ...(await people.users({ limit: LIMIT, offset }, signal)), begin: offset }),
    [people, offset],
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
                They appear here as soon as somebody signs up, in your app or <Link to={routes.signUp}>here</Link>.
              </p>
            </Empty>
          )}
          <Pager offset={begin} limit={LIMIT} total={total} onMove={move} />
        </>
      )}
    </DeveloperOnly>
  )
}
