/** The page's own addresses, for the page itself and for the server that answers a reload there. */

/** Each view of the page with its address. */
export const routes = {
  connect: '/dashboard',
  requests: '/dashboard/requests',
  keys: '/dashboard/keys',
  playground: '/dashboard/playground',
  controls: '/dashboard/controls',
  recordings: '/dashboard/recordings',
  replies: '/dashboard/replies',
  resources: '/dashboard/resources',
  mcp: '/dashboard/mcp',
  users: '/dashboard/users',
  outbox: '/dashboard/outbox',
  signIn: '/dashboard/sign-in',
  signUp: '/dashboard/sign-up',
  forgotPassword: '/dashboard/forgot-password',
  newPassword: '/dashboard/new-password',
} as const

export type View = keyof typeof routes

/** The address that opens the playground with the request of an exchange, ready to be changed and sent. */
export const playgroundWith = (exchange: string) => `${routes.playground}?${new URLSearchParams({ exchange })}`

/** The address that shows a rule. Its place may have changed since it answered, so it is also known by its title. */
export const ruleAt = ({ title, place }: { readonly title: string; readonly place: string }) =>
  `${routes.replies}?${new URLSearchParams({ rule: title, at: place })}`

/** The address that shows the rows of a resource. */
export const resourceAt = (path: string) => `${routes.resources}?${new URLSearchParams({ path })}`

/** The address that shows a tool of an MCP server. */
export const toolAt = (tool: { readonly server: string; readonly tool: string }) =>
  `${routes.mcp}?${new URLSearchParams(tool)}`

/** The address that shows a recording. */
export const recordingAt = (file: string) => `${routes.recordings}?${new URLSearchParams({ file })}`

/** The view at an address; `undefined` where there is none. */
export function viewAt(path: string): View | undefined {
  const plain = path.replace(/\/$/, '')
  return (Object.keys(routes) as View[]).find(view => routes[view] === plain)
}
