/** All operations of the control API: those of the parts, and those for the platform as a whole. */
import * as v from 'valibot'
import { boolean, closed, isMoment, number, objectOf, optional, text, word } from '../check/forms.js'
import { violationOperations } from '../contract/violations.js'
import { operation, scopeQuery, type ValueOf } from '../control/operation.js'
import { type Clock, isOnClock } from '../core/clock.js'
import { invalidRequest } from '../core/errors.js'
import { type Mode, modes } from '../core/exchange.js'
import { ownNames } from '../environment/names.js'
import { faultOperations } from '../faults/operations.js'
import { holdOperations, underWayOperations } from '../holds/operations.js'
import { journalOperations, metricOperations } from '../journal/operations.js'
import { allKeyOperations } from '../keys/operations.js'
import { mcpOperations } from '../mcp/operations.js'
import { recordingOperations, runOperations } from '../recordings/operations.js'
import { repairOperations } from '../repairs/operations.js'
import { draftOperations, ruleOperations, testOperations } from '../replies/operations.js'
import { resourceOperations } from '../resources/operations.js'
import { sharedRunOperations } from '../run/operations.js'
import { scopeOperations } from '../scopes/operations.js'
import { situationOperations } from '../situation/operations.js'
import { accountOperations, outboxOperations, sessionOperations, userOperations } from '../supabase/operations.js'
import { tableOperations } from '../tables/operations.js'
import { modeOperations, steeringOperations } from './mode-operations.js'

interface PlatformParts {
  /** Public to anyone who can reach the address, so it contains no keys. */
  readonly readiness: () => { readonly mode: Mode; readonly url: string; readonly version: string }
  readonly reset: (options: {
    readonly scope?: string | undefined
    readonly state?: boolean | undefined
  }) => Promise<void>
  readonly clock: Clock
  /** The keys that the banner prints. */
  readonly credentials: () => Promise<Credentials>
  /** The OpenAPI document of the current configuration, made on request. */
  readonly document: () => Promise<object>
}

const keys = { anonKey: text, serviceKey: text, apiKey: text, publishableKey: text, secretKey: text }
const credentials = closed({ ...keys, env: ownNames })
type Credentials = ValueOf<typeof credentials>

const momentForm = 'a time from 1970 to 9000, such as 2030-01-31T12:00:00Z, or milliseconds since 1970'

/** NaN if it is not a valid time. */
function msOf(written: string | number): number {
  if (typeof written === 'number') return Number.isInteger(written) ? written : Number.NaN
  return isMoment(written) ? Date.parse(written) : Number.NaN
}

const moment = v.pipe(
  v.union([text, number], momentForm),
  v.check(written => isOnClock(msOf(written)), momentForm),
  v.transform(msOf),
)

const millisecondsForm = 'a whole number of milliseconds'

/** The changes are applied in this order. */
const clockRequest = closed({
  now: optional(moment, 'The time to set: an ISO 8601 time, or milliseconds since 1970.'),
  advanceMs: optional(
    v.pipe(v.number(millisecondsForm), v.safeInteger(millisecondsForm)),
    'How far to move the clock forward; negative for backward.',
  ),
  frozen: optional(boolean, 'Whether the clock is stopped.'),
  reset: optional(v.literal(true, 'true, or left out'), 'Sets the clock to the real time again and lets it run.'),
})

/** Applies all of the changes, or none. */
function changeClock(clock: Clock, { now, advanceMs, frozen, reset }: v.InferOutput<typeof clockRequest>): void {
  if (advanceMs !== undefined && !isOnClock((now ?? clock.now()) + advanceMs)) {
    throw invalidRequest(`advanceMs must lead to a time from 1970 to 9000; ${advanceMs} does not.`)
  }
  // Freezes the clock before setting it, so that it stays at exactly that time.
  if (frozen === true) clock.freeze()
  if (now !== undefined) clock.set(now)
  if (advanceMs !== undefined) clock.advance(advanceMs)
  if (frozen === false) clock.run()
  if (reset) clock.reset()
}

export const clockState = closed({ now: text, frozen: boolean, offsetMs: number })

const platformOperations = ({ readiness, reset, clock, credentials: printed, document }: PlatformParts) => ({
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
  getClock: operation({
    at: 'GET /clock',
    does: 'Returns the clock by which tokens, keys, sessions, codes and limits expire.',
    returns: clockState,
    run: () => clock.state(),
  }),
  setClock: operation({
    at: 'PUT /clock',
    does: 'Changes the clock.',
    body: clockRequest,
    returns: clockState,
    run({ body }) {
      changeClock(clock, body)
      return clock.state()
    },
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
  violationOperations,
  outboxOperations,
  userOperations,
  allKeyOperations,
  metricOperations,
  modeOperations,
  situationOperations,
  faultOperations,
  holdOperations,
  underWayOperations,
  steeringOperations,
  recordingOperations,
  repairOperations,
  accountOperations,
  sessionOperations,
  draftOperations,
  testOperations,
  ruleOperations,
  resourceOperations,
  mcpOperations,
  tableOperations,
] as const
type Group = (typeof groups)[number]

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** What the operations need of the platform. */
export type ControlParts = Intersection<Parameters<Group>[0]>

/** The operations that the dashboard and tests call. */
export type ControlOperations = Intersection<ReturnType<Group>>

export const controlOperations = (parts: ControlParts): ControlOperations =>
  Object.assign({}, ...groups.map(operationsOf => operationsOf(parts)))
