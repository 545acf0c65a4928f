/** The operations of the dashboard's API: the configuration of the page, and the keys of a user. */
import * as v from 'valibot'
import { arrayOf, closed, optionalMember, orNull, text, wholeNumber, word } from '../check/forms.js'
import { clockState } from '../control/settings-operations.js'
import { operation, type ValueOf } from '../core/operation.js'
import { isLoopback } from '../core/origins.js'
import { keyOperations } from '../keys/operations.js'

const config = closed({
  url: text,
  /** The URL for Supabase's `createClient`. */
  auth_url: text,
  anon_key: text,
  /** Whether Standin is the auth backend, or forwards to a live one. */
  auth_mode: word(['local', 'proxy']),
  /** Where answers come from. */
  mode: text,
  version: text,
  models: arrayOf(text),
  /** Everything that clients can request, with the credentials that each accepts. */
  endpoints: arrayOf(
    closed({
      method: text,
      path: text,
      access: v.union([v.literal('anyone'), arrayOf(text)]),
      /** Of a documented endpoint. */
      name: optionalMember(text),
      callsModel: optionalMember(v.literal(true)),
    }),
  ),
  /** The credentials of the development user. */
  sign_in: optionalMember(closed({ email: text, password: text })),
  /** The public development key, if it works here and the request was made on this machine. */
  development_key: optionalMember(text),
  /** The folders to which the places of rules and the files of recordings are relative, for links that open them in an editor; only on this machine. */
  folders: optionalMember(closed({ rules: text, recordings: text })),
  /** The requirements for a new password; absent if a live backend checks it. */
  password_rule: optionalMember(text),
  /** The clock for everything that expires. */
  clock: clockState,
  /** Changes when sessions are gone because Standin was restarted (`run`) or its state was replaced. */
  users: closed({ run: orNull(text), replaced: wholeNumber }),
})
/** What the page needs before a user signs in. It has no secrets; those are only printed in the terminal. */
export type ConfigJson = ValueOf<typeof config>

export type DashboardApiParts = Parameters<typeof keyOperations>[0] & {
  /** Called for each request, because a reload may change it. `isLocal`: the request came over loopback, and to a loopback host. */
  readonly config: (isLocal?: boolean) => Promise<ConfigJson>
}

export const dashboardOperations = (parts: DashboardApiParts) => ({
  getConfig: operation({
    at: 'GET /config',
    does: 'Returns what the dashboard needs before a user signs in.',
    access: 'anyone',
    returns: config,
    run: ({ headers: { host = '' }, remoteAddress }) =>
      parts.config(isLoopback(remoteAddress ?? '') && isLoopback(host.replace(/:\d*$/, ''))),
  }),
  ...keyOperations(parts),
})

/** The type for the page's client. */
export type DashboardOperations = ReturnType<typeof dashboardOperations>
