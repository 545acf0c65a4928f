/** The page: its frame, and the view for the current address. */
import { viewAt } from '../dashboard/routes.js'
import { dashboardApi } from './api.js'
import { ConfigProvider, useConfigChanges } from './config.jsx'
import { FreshKeyProvider } from './connect/fresh-key.jsx'
import { notLoaded } from './failure.js'
import { Frame } from './frame.jsx'
import { useListing } from './listing.js'
import { ServiceKeyProvider } from './people/service-key.jsx'
import { useAddress } from './routing.js'
import { SessionProvider } from './session/session.jsx'
import { useView } from './views.js'
import { Announcer } from './widgets/announcer.jsx'
import { FailureNote, Waiting } from './widgets/states.jsx'

const loadConfig = (signal: AbortSignal) => dashboardApi()('GET /config', { signal })

export function App() {
  const { listing, reload } = useListing(loadConfig)
  useConfigChanges(reload)
  const view = viewAt(useAddress().path) ?? 'connect'
  const shown = useView(view)
  if (listing.kind === 'loading') return null
  if (listing.kind === 'failed') return <FailureNote failure={listing.failure} retry={reload} />
  return (
    <ConfigProvider value={listing.value}>
      <SessionProvider>
        <FreshKeyProvider>
          <ServiceKeyProvider>
            <Frame view={view}>
              {shown.kind === 'ready' && <shown.Content key={view} />}
              {shown.kind === 'loading' && <Waiting />}
              {shown.kind === 'failed' && <FailureNote failure={notLoaded()} retry={() => location.reload()} />}
            </Frame>
            <Announcer />
          </ServiceKeyProvider>
        </FreshKeyProvider>
      </SessionProvider>
    </ConfigProvider>
  )
}
