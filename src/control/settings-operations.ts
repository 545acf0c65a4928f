/** The operations on the mode and the settings: what can be changed while the platform runs, and how the configuration has it. */
import * as v from 'valibot'
import {
  arrayOf,
  boolean,
  closed,
  described,
  isMoment,
  map,
  number,
  optional,
  optionalMember,
  text,
  wholeNumber,
  word,
} from '../check/forms.js'
import { ProblemsError } from '../check/problem.js'
import { type Clock, isOnClock } from '../core/clock.js'
import { invalidRequest, refusal } from '../core/errors.js'
import { type Mode, modes } from '../core/exchange.js'
import { randomFaultSchema, randomFaults } from '../core/fault.js'
import { operation, type Schema, type ValueOf } from '../core/operation.js'
import { paceChange, paceInput } from '../core/pace.js'
import { modeSwitch } from '../http/modes.js'
import { type Changeable, type Changes, limitsChange, type Setting } from '../limits/options.js'

const currentModes = closed({ mode: word(modes), modes: map(text, word(modes), 'an object') })
/** The mode, and the modes of single endpoints by their patterns, such as `GET /v1/*`. */
type CurrentModes = ValueOf<typeof currentModes>

interface ModeSwitch {
  current(): CurrentModes
  /** Throws a ProblemsError for a mode that cannot work. */
  change(mode: Mode, modes: CurrentModes['modes']): void
  configured(): CurrentModes
  /** Why a mode cannot work for all endpoints, in sentences; `undefined` if it can. */
  impossible(mode: Mode): readonly string[] | undefined
}

interface RuntimeSettings {
  setting<Name extends keyof Changeable>(name: Name): Setting<Changeable[Name]>
  /** Throws a ProblemsError for a model that does not exist. */
  requireValid(changes: Changes): void
  /** `undefined` restores the configured value. */
  change(changes: Changes): void
  /** What each credential has used of its limits in the current minute. */
  usage(): Promise<readonly NamedUsage[]>
}

const pace = closed({
  firstTokenMs: number,
  tokensPerSecond: number,
  jitter: number,
  models: map(text, paceInput, 'an object'),
})
const limits = closed({
  bodyBytes: wholeNumber,
  requestsPerMinute: wholeNumber,
  tokensPerMinute: wholeNumber,
})

/** The usage of a credential in the current minute, with a name for it that is not secret. */
const usage = closed({
  /** `apiKey`, `user`, `anon`, `service`, or `stranger`, for one that only the live platform can check. */
  kind: text,
  /** The id of the key or of the user. */
  id: optionalMember(text),
  /** The name of the key, or the address of the user. */
  name: optionalMember(text),
  /** The first characters of the key. */
  start: optionalMember(text),
  requests: wholeNumber,
  tokens: wholeNumber,
  refused: wholeNumber,
  resetMs: number,
})
export type NamedUsage = ValueOf<typeof usage>

export const clockState = closed({ now: text, frozen: boolean, offsetMs: number })

const settingOf = <S extends Schema>(shape: S) => ({ inForce: shape, configured: shape, isChanged: boolean })

const settings = closed({
  /** Of streams, and of single models. */
  pace: closed(settingOf(pace)),
  /** Of each credential. */
  limits: closed({ ...settingOf(limits), used: arrayOf(usage) }),
  random: closed(settingOf(arrayOf(randomFaultSchema))),
  /** By which tokens, keys, sessions, codes and limits expire. */
  clock: clockState,
})

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
const clockChange = closed({
  now: optional(moment, 'The time to set: an ISO 8601 time, or milliseconds since 1970.'),
  advanceMs: optional(
    v.pipe(v.number(millisecondsForm), v.safeInteger(millisecondsForm)),
    'How far to move the clock forward; negative for backward.',
  ),
  frozen: optional(boolean, 'Whether the clock is stopped.'),
  reset: optional(v.literal(true, 'true, or left out'), 'Sets the clock to the real time again and lets it run.'),
})
type ClockChange = v.InferOutput<typeof clockChange>

/** A change, or null. */
const orConfigured = <const S extends v.GenericSchema>(change: S, meaning: string) =>
  v.optional(described(v.nullable(change), `${meaning} What it leaves out is as configured; null restores all of it.`))

const settingsChange = closed({
  pace: orConfigured(paceChange, 'The pace of streams and of single models.'),
  limits: orConfigured(limitsChange, 'The limits of each credential.'),
  random: orConfigured(randomFaults, 'All random faults. They replace the previous ones.'),
  clock: optional(clockChange, 'Changes of the clock.'),
})

function requireOnClock(clock: Clock, { now, advanceMs }: ClockChange): void {
  if (advanceMs !== undefined && !isOnClock((now ?? clock.now()) + advanceMs))
    throw invalidRequest(`clock.advanceMs must lead to a time from 1970 to 9000; ${advanceMs} does not.`)
}

function changeClock(clock: Clock, { now, advanceMs, frozen, reset }: ClockChange): void {
  // Freezes the clock before setting it, so that it stays at exactly that time.
  if (frozen === true) clock.freeze()
  if (now !== undefined) clock.set(now)
  if (advanceMs !== undefined) clock.advance(advanceMs)
  if (frozen === false) clock.run()
  if (reset) clock.reset()
}

function changeModes(switcher: ModeSwitch, { mode, modes = {} }: v.InferOutput<typeof modeSwitch>): CurrentModes {
  try {
    switcher.change(mode, modes)
  } catch (error) {
    throw error instanceof ProblemsError ? modeNotPossible(error.problems.map(({ sentence }) => sentence)) : error
  }
  return switcher.current()
}

export const modeOperations = ({ modes: switcher }: { readonly modes: ModeSwitch }) => ({
  getMode: operation({
    at: 'GET /mode',
    does: 'Returns the mode, the configured one, and which are possible.',
    returns: closed({
      ...currentModes.entries,
      configured: currentModes,
      /** All modes, and why one is not possible. */
      choices: arrayOf(closed({ mode: word(modes), reason: optionalMember(text) })),
    }),
    run() {
      // The configuration has more than these.
      const { mode, modes: byEndpoint } = switcher.configured()
      const choices = modes.map(mode => {
        const sentences = switcher.impossible(mode)
        return sentences ? { mode, reason: sentences.join(' ') } : { mode }
      })
      return { ...switcher.current(), configured: { mode, modes: byEndpoint }, choices }
    },
  }),
  setMode: operation({
    at: 'PUT /mode',
    does: 'Changes the mode. It applies from the next request on.',
    body: modeSwitch,
    returns: currentModes,
    run: ({ body }) => changeModes(switcher, body),
  }),
})

interface SettingsParts {
  readonly settings: RuntimeSettings
  readonly clock: Clock
}

export const settingsOperations = ({ settings: runtime, clock }: SettingsParts) => {
  const current = async (): Promise<ValueOf<typeof settings>> => ({
    pace: runtime.setting('pace'),
    limits: { ...runtime.setting('limits'), used: await runtime.usage() },
    random: runtime.setting('random'),
    clock: clock.state(),
  })

  return {
    getSettings: operation({
      at: 'GET /settings',
      does: 'Returns what else can be changed while Standin runs.',
      returns: settings,
      run: current,
    }),
    changeSettings: operation({
      at: 'PUT /settings',
      does: 'Changes the settings that are sent. They apply from the next request on; all of them, or none.',
      body: settingsChange,
      returns: settings,
      async run({ body }) {
        const { pace, limits, random, clock: clockChange = {} } = body
        const changes: Changes = {
          ...(pace !== undefined && { pace: pace ?? undefined }),
          ...(limits !== undefined && { limits: limits ?? undefined }),
          ...(random !== undefined && { random: random ?? undefined }),
        }
        requireOnClock(clock, clockChange)
        runtime.requireValid(changes)
        runtime.change(changes)
        changeClock(clock, clockChange)
        return current()
      },
    }),
  }
}

const modeNotPossible = (sentences: readonly string[]) => refusal(409, 'mode_not_possible', sentences.join(' '))
