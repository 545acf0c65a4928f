/** Every operation of the dashboard's API: what the page has to know, and the keys of a user. */
import * as v from 'valibot'
import { type Of, operation } from '../api/operation.js'
import { listOf, maybe, object, oneOf, orNull, text, whole } from '../api/shapes.js'
import { isLoopback } from '../core/origins.js'
import { clockState } from '../http/operations.js'
import { keyOperations } from '../keys/operations.js'

const config = object({
  /** The platform's base URL. */
  url: text,
  /** What `createClient` takes. */
  auth_url: text,
  anon_key: text,
  /** Who the auth backend is: Standin, or a live one behind it. */
  auth_mode: oneOf(['local', 'proxy']),
  /** Where answers come from. */
  mode: text,
  /** Standin's own version. */
  version: text,
  models: listOf(text),
  /** Which credentials open each endpoint. */
  endpoints: listOf(object({ method: text, path: text, access: v.union([v.literal('anyone'), listOf(text)]) })),
  /** MCP servers. The revision changes with the tools that a server offers. */
  mcp: listOf(object({ path: text, revision: text })),
  /** The development user, to sign in with at once. */
  sign_in: maybe(object({ email: text, password: text })),
  /** The public development key, if it works here and the request came over loopback. */
  development_key: maybe(text),
  /** What a new password must be; absent if a live backend decides. */
  password_rule: maybe(text),
  /** The clock by which things expire. */
  clock: clockState,
  /** Changes when sessions are gone because Standin was restarted (`run`) or its state was replaced. */
  users: object({ run: orNull(text), replaced: whole }),
})
/** What the page has to know before anyone signs in. Secrets are not in it: they are in the terminal. */
export type ConfigJson = Of<typeof config>

export type DashboardApiParts = Parameters<typeof keyOperations>[0] & {
  /** Asked each time, since a reload may change it. `isLocal`: the request came over loopback, and to a name of this machine. */
  readonly config: (isLocal?: boolean) => Promise<ConfigJson>
}

export const dashboardOperations = (parts: DashboardApiParts) => ({
  getConfig: operation({
    at: 'GET /config',
    does: 'Returns what the dashboard needs before a user signs in.',
    access: 'anyone',
    returns: config,
    answer: 'The addresses, the public key, the models and the endpoints.',
    run: ({ headers: { host = '' }, remoteAddress }) =>
      parts.config(isLoopback(remoteAddress ?? '') && isLoopback(host.replace(/:\d*$/, ''))),
  }),
  ...keyOperations(parts),
})

/** What the page calls. */
export type DashboardOperations = ReturnType<typeof dashboardOperations>
