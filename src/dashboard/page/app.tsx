/** The page: its frame, and the view that its address asks for. */
import type { ComponentType } from 'preact'
import { type View, viewAt } from '../routes.js'
import type { ConfigJson } from '../wire.js'
import { ask } from './ask.js'
import { ConfigProvider, useConfigChanges } from './config.jsx'
import { ConnectView } from './connect/connect-view.jsx'
import { FreshKeyProvider } from './connect/fresh-key.jsx'
import { ControlsView } from './controls/controls-view.jsx'
import { KeysView } from './keys/keys-view.jsx'
import { useListing } from './listing.js'
import { OutboxView } from './people/outbox-view.jsx'
import { RefusalsView } from './people/refusals-view.jsx'
import { ServiceKeyProvider } from './people/service-key.jsx'
import { UsersView } from './people/users-view.jsx'
import { PlaygroundView } from './playground/playground-view.jsx'
import { RecordingsView } from './recordings/recordings-view.jsx'
import { RepliesView } from './replies/replies-view.jsx'
import { RequestsView } from './requests/requests-view.jsx'
import { useAddress } from './routing.js'
import { ForgotPassword } from './session/forgot-password.jsx'
import { NewPassword } from './session/new-password.jsx'
import { SessionProvider } from './session/session.jsx'
import { SignIn } from './session/sign-in.jsx'
import { SignUp } from './session/sign-up.jsx'
import { SessionsView } from './sessions/sessions-view.jsx'
import { Frame } from './shell/frame.jsx'
import { Announcer } from './widgets/announcer.jsx'
import { FailureNote } from './widgets/failure-note.jsx'

const views: Record<View, ComponentType> = {
  connect: ConnectView,
  requests: RequestsView,
  keys: KeysView,
  playground: PlaygroundView,
  controls: ControlsView,
  recordings: RecordingsView,
  replies: RepliesView,
  users: UsersView,
  sessions: SessionsView,
  outbox: OutboxView,
  refusals: RefusalsView,
  signIn: SignIn,
  signUp: SignUp,
  forgotPassword: ForgotPassword,
  newPassword: NewPassword,
}

const loadConfig = (signal: AbortSignal) => ask<ConfigJson>('/config', { signal })

export function App() {
  const { listing, reload } = useListing(loadConfig)
  useConfigChanges(reload)
  const view = viewAt(useAddress().path) ?? 'connect'
  const Content = views[view]
  if (listing.kind === 'loading') return null
  if (listing.kind === 'failed') return <FailureNote failure={listing.failure} retry={reload} />
  return (
    <ConfigProvider value={listing.value}>
      <SessionProvider>
        <FreshKeyProvider>
          <ServiceKeyProvider>
            <Frame view={view}>
              <Content key={view} />
            </Frame>
            <Announcer />
          </ServiceKeyProvider>
        </FreshKeyProvider>
      </SessionProvider>
    </ConfigProvider>
  )
}
