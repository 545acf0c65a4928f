/** Every operation of the dashboard's API: what the page has to know, the keys of a user, and what only the developer sees. */
import * as v from 'valibot'
import { type Of, operation } from '../api/operation.js'
import { listOf, maybe, object, oneOf, text } from '../api/shapes.js'
import { keyOperations } from '../keys/operations.js'
import { peopleOperations } from '../supabase/operations.js'

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
  /** The development user, to sign in with at once. */
  sign_in: maybe(object({ email: text, password: text })),
})
/** What the page has to know before anyone signs in. Secrets are not in it: they are in the terminal. */
export type ConfigJson = Of<typeof config>

interface ConfigParts {
  /** Asked each time, since a reload may change it. */
  readonly config: () => Promise<ConfigJson>
}

const configOperations = ({ config: current }: ConfigParts) => ({
  getConfig: operation({
    at: 'GET /config',
    does: 'Returns what the page needs before anyone signs in.',
    access: 'anyone',
    returns: config,
    answer: 'Addresses, the public key, and what can be asked.',
    run: current,
  }),
})

export type DashboardApiParts = ConfigParts &
  Parameters<typeof keyOperations>[0] &
  Parameters<typeof peopleOperations>[0]

export const dashboardOperations = (parts: DashboardApiParts) => ({
  ...configOperations(parts),
  ...keyOperations(parts),
  ...peopleOperations(parts),
})

/** What the page calls. */
export type DashboardOperations = ReturnType<typeof dashboardOperations>
