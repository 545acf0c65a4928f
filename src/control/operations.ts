/** All operations of the control API: those of the parts, and those for the platform as a whole. */
import * as v from 'valibot'
import { boolean, closed, objectOf, optional, text, word } from '../check/forms.js'
import { type Mode, modes } from '../core/exchange.js'
import { operation, scopeQuery, type ValueOf } from '../core/operation.js'
import { ownNames } from '../environment/names.js'
import { faultOperations } from '../faults/operations.js'
import { holdOperations } from '../holds/operations.js'
import { journalOperations, metricOperations } from '../journal/operations.js'
import { allKeyOperations } from '../keys/operations.js'
import { mcpOperations } from '../mcp/operations.js'
import { recordingOperations, runOperations } from '../recordings/operations.js'
import { repairOperations } from '../repairs/operations.js'
import { exchangeOperations, ruleOperations } from '../replies/operations.js'
import { resourceOperations } from '../resources/operations.js'
import { sharedRunOperations } from '../run/operations.js'
import { scopeOperations } from '../scopes/operations.js'
import { situationOperations } from '../situation/operations.js'
import { accountOperations, outboxOperations, sessionOperations, userOperations } from '../supabase/operations.js'
import { tableOperations } from '../tables/operations.js'
import { modeOperations, settingsOperations } from './settings-operations.js'

interface PlatformParts {
  /** Public to anyone who can reach the address, so it contains no keys. */
  readonly readiness: () => { readonly mode: Mode; readonly url: string; readonly version: string }
  readonly reset: (options: {
    readonly scope?: string | undefined
    readonly state?: boolean | undefined
  }) => Promise<void>
  /** The keys that the banner prints. */
  readonly credentials: () => Promise<Credentials>
  /** The OpenAPI document of the current configuration, made on request. */
  readonly document: () => Promise<object>
}

const keys = { anonKey: text, serviceKey: text, apiKey: text, publishableKey: text, secretKey: text }
const credentials = closed({ ...keys, env: ownNames })
type Credentials = ValueOf<typeof credentials>

const platformOperations = ({ readiness, reset, credentials: printed, document }: PlatformParts) => ({
  getReady: operation({
    at: 'GET /ready',
    does: 'Answers as soon as the platform is ready.',
    access: 'anyone',
    returns: closed({ ready: v.literal(true), mode: word(modes), url: text, version: text }),
    run: () => ({ ready: true as const, ...readiness() }),
  }),
  reset: operation({
    at: 'POST /reset',
    does: 'Resets the platform. With a scope, resets its rules and their state, its faults and holds, replay positions and journal. Without one, also resets pace, limits, random faults, mode and clock, and, if the state is in memory, users, sessions, keys and messages.',
    query: scopeQuery,
    body: closed({
      ...scopeQuery.entries,
      state: optional(boolean, 'False to keep users, sessions, keys and messages.'),
    }),
    isBodyOptional: true,
    run: ({ body, scope }) => reset({ scope: body.scope ?? scope, state: body.state }),
  }),
  getCredentials: operation({
    at: 'GET /credentials',
    does: 'Returns the keys that the banner prints, and the option env.',
    returns: credentials,
    run: printed,
  }),
  getDocument: operation({
    at: 'GET /openapi.json',
    does: "Returns an OpenAPI document of the platform's endpoints, the auth backend and your own paths.",
    returns: objectOf(),
    run: document,
  }),
})

const groups = [
  platformOperations,
  scopeOperations,
  journalOperations,
  runOperations,
  sharedRunOperations,
  outboxOperations,
  userOperations,
  allKeyOperations,
  metricOperations,
  modeOperations,
  settingsOperations,
  situationOperations,
  faultOperations,
  holdOperations,
  recordingOperations,
  repairOperations,
  accountOperations,
  sessionOperations,
  exchangeOperations,
  ruleOperations,
  resourceOperations,
  mcpOperations,
  tableOperations,
] as const
type Group = (typeof groups)[number]

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** The operations that the dashboard and tests call. */
export type ControlOperations = Intersection<ReturnType<Group>>

export const controlOperations = (parts: Intersection<Parameters<Group>[0]>): ControlOperations =>
  Object.assign({}, ...groups.map(operationsOf => operationsOf(parts)))
