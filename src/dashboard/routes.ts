/** The addresses of the page's views, for the page and for the server, which serves the page at each. */

export const routes = {
  activity: '/dashboard',
  answers: '/dashboard/answers',
  people: '/dashboard/people',
  connect: '/dashboard/connect',
} as const

export type View = keyof typeof routes

/** Addresses of earlier versions, which may be bookmarked, and where they lead now. Their queries are kept. */
export const formerRoutes: Readonly<Record<string, string>> = {
  '/dashboard/requests': routes.activity,
  '/dashboard/resources': routes.activity,
  '/dashboard/mcp': routes.activity,
  '/dashboard/controls': routes.activity,
  '/dashboard/playground': routes.activity,
  '/dashboard/try': routes.activity,
  '/dashboard/replies': routes.answers,
  '/dashboard/recordings': `${routes.answers}?tab=recordings`,
  '/dashboard/users': routes.people,
  '/dashboard/outbox': `${routes.people}?tab=messages`,
  '/dashboard/keys': `${routes.connect}#keys`,
  '/dashboard/sign-in': routes.connect,
  '/dashboard/sign-up': routes.connect,
  '/dashboard/forgot-password': routes.connect,
  '/dashboard/new-password': routes.connect,
}

/** The address that shows an exchange. */
export const exchangeAt = (id: string) => `${routes.activity}?${new URLSearchParams({ id })}`

/** The address that shows a rule. It has the title too, because the place of the rule may have changed since it answered. */
export const ruleAt = ({ title, place }: { readonly title: string; readonly place: string }) =>
  `${routes.answers}?${new URLSearchParams({ rule: title, at: place })}`

/** The address that shows a recording. */
export const recordingAt = (file: string) => `${routes.answers}?${new URLSearchParams({ tab: 'recordings', file })}`

/** The address that shows a message, or those of a recipient. */
export const messagesAt = (query: { readonly message: string } | { readonly to: string }) =>
  `${routes.people}?${new URLSearchParams({ tab: 'messages', ...query })}`

/** The view at an address; `undefined` if there is none. */
export function viewAt(path: string): View | undefined {
  const plain = path.replace(/\/$/, '')
  return (Object.keys(routes) as View[]).find(view => routes[view] === plain)
}

/** Where an address of an earlier version leads now; `undefined` for any other. */
export function movedTo({ pathname, search, hash }: Pick<URL, 'pathname' | 'search' | 'hash'>): string | undefined {
  const now = formerRoutes[pathname.replace(/\/$/, '')]
  if (now === undefined) return
  const to = new URL(now, 'http://page')
  for (const [name, value] of new URLSearchParams(search)) to.searchParams.set(name, value)
  return to.pathname + to.search + (to.hash || hash)
}
