/** The addresses of the page's views, for the page and for the server, which serves the page at each. */

/** The address of each view. */
export const routes = {
  connect: '/dashboard',
  requests: '/dashboard/requests',
  keys: '/dashboard/keys',
  playground: '/dashboard/playground',
  controls: '/dashboard/controls',
  recordings: '/dashboard/recordings',
  replies: '/dashboard/replies',
  users: '/dashboard/users',
  outbox: '/dashboard/outbox',
  signIn: '/dashboard/sign-in',
  signUp: '/dashboard/sign-up',
} as const

export type View = keyof typeof routes

/** Addresses of earlier versions, which may be bookmarked, and the views that they lead to now. */
export const formerRoutes: Readonly<Record<string, View>> = {
  '/dashboard/resources': 'requests',
  '/dashboard/mcp': 'requests',
  '/dashboard/forgot-password': 'signIn',
  '/dashboard/new-password': 'signIn',
}

/** The address that opens the playground with the request of an exchange. */
export const playgroundWith = (exchange: string) => `${routes.playground}?${new URLSearchParams({ exchange })}`

/** The address that shows a rule. It has the title too, because the place of the rule may have changed since it answered. */
export const ruleAt = ({ title, place }: { readonly title: string; readonly place: string }) =>
  `${routes.replies}?${new URLSearchParams({ rule: title, at: place })}`

/** The address that shows a recording. */
export const recordingAt = (file: string) => `${routes.recordings}?${new URLSearchParams({ file })}`

/** The view at an address; `undefined` if there is none. */
export function viewAt(path: string): View | undefined {
  const plain = path.replace(/\/$/, '')
  return (Object.keys(routes) as View[]).find(view => routes[view] === plain) ?? formerRoutes[plain]
}
