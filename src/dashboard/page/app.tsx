/** The page: its frame, and the view for the current address. */
import { useEffect } from 'preact/hooks'
import { viewAt } from '../routes.js'
import { dashboardApi, notLoaded } from './api.js'
import { ConfigProvider, useConfigChanges } from './config.jsx'
import { Frame } from './frame.jsx'
import { WatchLive } from './live/live.js'
import { useAddress } from './routing.jsx'
import { WatchSession } from './session/session.js'
import { useView } from './views.js'
import { OpenDialog } from './widgets/dialog.jsx'
import { EVERY_MS, useIsAnswering, useResource } from './widgets/resource.js'
import { Announcer, FailureNote, Waiting } from './widgets/states.jsx'

/** An empty frame until the configuration has loaded. The page's HTML contains the same. */
const Skeleton = () => (
  <div class="frame">
    <div class="bar" />
    <main>
      <Waiting />
    </main>
  </div>
)

const loadConfig = (signal: AbortSignal) => dashboardApi()('GET /config', { signal })

export function App() {
  const { value: config, failure, reload } = useResource(loadConfig, [], EVERY_MS)
  useConfigChanges(reload)
  const isAnswering = useIsAnswering()
  // Views that load nothing themselves would not notice that Standin is running again.
  useEffect(() => {
    if (!isAnswering) reload()
  }, [isAnswering, reload])
  const view = viewAt(useAddress().path)
  const { Content, isFailed } = useView(view)
  if (!config) return failure ? <FailureNote failure={failure} retry={reload} /> : <Skeleton />
  return (
    <ConfigProvider value={config}>
      <WatchSession />
      <WatchLive />
      <Frame view={view}>
        {isFailed && <FailureNote failure={notLoaded()} retry={() => location.reload()} />}
        {Content ? <Content key={view} /> : !isFailed && <Waiting />}
      </Frame>
      <OpenDialog />
      <Announcer />
    </ConfigProvider>
  )
}
