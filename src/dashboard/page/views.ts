/** The views of the page. The first one is bundled with it; the others are loaded when they are opened. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { View } from '../routes.js'
import { ActivityView } from './activity/activity-view.jsx'
import { NotFound } from './widgets/states.jsx'

const loaded: Partial<Record<View, ComponentType>> = { activity: ActivityView }

const later: Partial<Record<View, () => Promise<ComponentType>>> = {
  answers: async () => (await import('./answers/answers-view.jsx')).AnswersView,
  people: async () => (await import('./people/people-view.jsx')).PeopleView,
  connect: async () => (await import('./connect/connect-view.jsx')).ConnectView,
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
