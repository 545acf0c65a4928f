/** Every operation of the control API: those of the parts, and what belongs to the platform as a whole. */
import * as v from 'valibot'
import { type Of, operation } from '../api/operation.js'
import { number, object, objectOf, oneOf, optional, scopeQuery, text, yesOrNo } from '../api/shapes.js'
import { isMoment } from '../check/formats.js'
import { modeOperations, steeringOperations } from '../config/operations.js'
import { violationOperations } from '../contract/operations.js'
import { type Clock, isOnClock } from '../core/clock.js'
import { invalidRequest } from '../core/errors.js'
import { type Mode, modes } from '../core/exchange.js'
import { faultOperations } from '../faults/operations.js'
import { journalOperations } from '../journal/operations.js'
import { allKeyOperations } from '../keys/operations.js'
import { metricOperations } from '../metrics/operations.js'
import { recordingOperations, runOperations } from '../recordings/operations.js'
import { draftOperations, ruleOperations } from '../replies/operations.js'
import { stateOperations } from '../state/operations.js'
import { outboxOperations, sessionOperations, tokenOperations, userOperations } from '../supabase/operations.js'

interface PlatformParts {
  /** What anyone may know who reaches the address: no keys. */
  readonly readiness: () => { readonly mode: Mode; readonly url: string; readonly version: string }
  readonly reset: (options: {
    readonly scope?: string | undefined
    readonly state?: boolean | undefined
  }) => Promise<void>
  readonly clock: Clock
  /** The keys that the banner prints. */
  readonly credentials: () => Promise<Credentials>
  /** OpenAPI, of the configuration in force; made when it is asked for. */
  readonly document: () => Promise<object>
}

const credentials = object({ anonKey: text, serviceKey: text, apiKey: text, publishableKey: text, secretKey: text })
type Credentials = Of<typeof credentials>

const aMoment = 'a moment from 1970 to 9000, such as 2030-01-31T12:00:00Z, or milliseconds since 1970'

/** NaN for what is no moment. */
function msOf(written: string | number): number {
  if (typeof written === 'number') return Number.isInteger(written) ? written : Number.NaN
  return isMoment(written) ? Date.parse(written) : Number.NaN
}

const moment = v.pipe(
  v.union([text, number], aMoment),
  v.check(written => isOnClock(msOf(written)), aMoment),
  v.transform(msOf),
)

const milliseconds = 'a whole number of milliseconds'

/** Done in this order. */
const clockRequest = object({
  now: optional(moment, 'What the clock is to show: an ISO 8601 moment, or milliseconds since 1970.'),
  advanceMs: optional(
    v.pipe(v.number(milliseconds), v.safeInteger(milliseconds)),
    'How far it is moved on; negative for back.',
  ),
  frozen: optional(yesOrNo, 'Whether it stands still.'),
  reset: optional(v.literal(true, 'true, or left out'), 'Makes it the real time again, running.'),
})

/** All of what is asked, or nothing of it. */
function turn(clock: Clock, { now, advanceMs, frozen, reset }: v.InferOutput<typeof clockRequest>): void {
  if (advanceMs !== undefined && !isOnClock((now ?? clock.now()) + advanceMs)) {
    throw invalidRequest(`advanceMs must lead to a moment from 1970 to 9000, and ${advanceMs} does not.`)
  }
  // Stopped before it is set, so that it shows the time it was set to and no millisecond more.
  if (frozen === true) clock.freeze()
  if (now !== undefined) clock.set(now)
  if (advanceMs !== undefined) clock.advance(advanceMs)
  if (frozen === false) clock.run()
  if (reset) clock.reset()
}

const clockState = object({ now: text, frozen: yesOrNo, offsetMs: number })
const clockAnswer = 'What it shows, whether it stands still, and how far it is ahead of the real time.'

const platformOperations = ({ readiness, reset, clock, credentials: current, document }: PlatformParts) => ({
  getReady: operation({
    at: 'GET /ready',
    does: 'Answers as soon as the platform is ready.',
    access: 'anyone',
    returns: object({ ready: v.literal(true), mode: oneOf(modes), url: text, version: text }),
    answer: 'It is ready.',
    run: () => ({ ready: true as const, ...readiness() }),
  }),
  reset: operation({
    at: 'POST /reset',
    does: 'Goes back to the start: for a scope its rules, what rules remember, faults, turns of recordings and journal; without a scope also pace, limits, faults by chance, mode and clock, and, where the state is in memory, users, sessions, keys and messages.',
    query: scopeQuery,
    body: object({
      ...scopeQuery.entries,
      state: optional(yesOrNo, 'False to keep users, sessions, keys and messages.'),
    }),
    isBodyOptional: true,
    answer: 'It is forgotten.',
    run: ({ body, scope }) => reset({ scope: body.scope ?? scope, state: body.state }),
  }),
  getClock: operation({
    at: 'GET /clock',
    does: 'Returns the clock by which tokens, keys, sessions, codes and limits expire.',
    returns: clockState,
    answer: clockAnswer,
    run: () => clock.state(),
  }),
  setClock: operation({
    at: 'PUT /clock',
    does: 'Changes the clock.',
    body: clockRequest,
    returns: clockState,
    answer: clockAnswer,
    run({ body }) {
      turn(clock, body)
      return clock.state()
    },
  }),
  getCredentials: operation({
    at: 'GET /credentials',
    does: 'Returns the keys that the start prints.',
    returns: credentials,
    answer:
      'The anon and the service key, the first configured API key that works, and the keys of newer Supabase clients; empty where there is none.',
    run: current,
  }),
  getDocument: operation({
    at: 'GET /openapi.json',
    does: 'Returns this OpenAPI document.',
    returns: objectOf(),
    answer: 'A document of OpenAPI 3.1.',
    run: document,
  }),
})

export type ControlParts = PlatformParts &
  Parameters<typeof journalOperations>[0] &
  Parameters<typeof runOperations>[0] &
  Parameters<typeof violationOperations>[0] &
  Parameters<typeof outboxOperations>[0] &
  Parameters<typeof userOperations>[0] &
  Parameters<typeof allKeyOperations>[0] &
  Parameters<typeof metricOperations>[0] &
  Parameters<typeof modeOperations>[0] &
  Parameters<typeof faultOperations>[0] &
  Parameters<typeof steeringOperations>[0] &
  Parameters<typeof recordingOperations>[0] &
  Parameters<typeof sessionOperations>[0] &
  Parameters<typeof draftOperations>[0] &
  Parameters<typeof ruleOperations>[0] &
  Parameters<typeof stateOperations>[0] &
  Parameters<typeof tokenOperations>[0]

export const controlOperations = (parts: ControlParts) => ({
  ...platformOperations(parts),
  ...journalOperations(parts),
  ...runOperations(parts),
  ...violationOperations(parts),
  ...outboxOperations(parts),
  ...userOperations(parts),
  ...allKeyOperations(parts),
  ...metricOperations(parts),
  ...modeOperations(parts),
  ...faultOperations(parts),
  ...steeringOperations(parts),
  ...recordingOperations(parts),
  ...sessionOperations(parts),
  ...draftOperations(parts),
  ...ruleOperations(parts),
  ...stateOperations(parts),
  ...tokenOperations(parts),
})

/** What the dashboard's page and tests call. */
export type ControlOperations = ReturnType<typeof controlOperations>
