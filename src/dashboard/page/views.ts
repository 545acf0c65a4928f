/** The views of the page. Small ones are bundled with it; large ones are loaded when they are opened. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { View } from '../routes.js'
import { ConnectView } from './connect/connect-view.jsx'
import { KeysView } from './keys/keys-view.jsx'
import { SignIn, SignUp } from './session/sign-in.jsx'
import { NotFound } from './widgets/states.jsx'

const loaded: Partial<Record<View, ComponentType>> = {
  connect: ConnectView,
  keys: KeysView,
  signIn: SignIn,
  signUp: SignUp,
}

const later: Partial<Record<View, () => Promise<ComponentType>>> = {
  requests: async () => (await import('./requests/requests-view.jsx')).RequestsView,
  playground: async () => (await import('./playground/playground-view.jsx')).PlaygroundView,
  controls: async () => (await import('./controls/controls-view.jsx')).ControlsView,
  recordings: async () => (await import('./recordings/recordings-view.jsx')).RecordingsView,
  users: async () => (await import('./people/users-view.jsx')).UsersView,
  outbox: async () => (await import('./people/outbox-view.jsx')).OutboxView,
  replies: async () => (await import('./replies/replies-view.jsx')).RepliesView,
}

/** Loads a view unless it is loaded already. Rejects if it cannot be loaded. */
export async function load(view: View): Promise<void> {
  const get = later[view]
  if (!loaded[view] && get) loaded[view] = await get()
}

/** Loads the remaining views in advance, so that they open at once. */
async function loadTheRest(): Promise<void> {
  for (const view of Object.keys(later) as View[]) await load(view)
}

/** Loads the view for an address; `undefined` for an address without one. */
export function useView(view: View | undefined) {
  const [, setLoaded] = useState<View>()
  const [failed, setFailed] = useState<View>()
  useEffect(() => {
    if (!view) return
    load(view).then(
      () => {
        setLoaded(view)
        // A failure is ignored here. It is shown when the view is opened.
        setTimeout(() => loadTheRest().catch(() => {}), 500)
      },
      () => setFailed(view),
    )
  }, [view])
  const Content = view ? loaded[view] : NotFound
  return { Content, isFailed: !Content && failed === view }
}
