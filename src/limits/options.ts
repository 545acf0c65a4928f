/** Limits: the options, and the form in which they are changed at run time. */
import type * as v from 'valibot'
import { closed, described, group, integer, optionalEach, withDefaults } from '../check/forms.js'
import type { RandomFault } from '../core/fault.js'
import type { Pace, PaceChange, PaceInput } from '../core/pace.js'

const limit = integer(0, 1_000_000_000)

const limits = {
  bodyBytes: described(integer(1, 2 ** 30), 'Maximum size of a request body, in bytes; larger ones get a 413.'),
  requestsPerMinute: described(
    limit,
    'Requests per minute for each credential; further ones get a 429. 0 means no limit.',
  ),
  tokensPerMinute: described(
    limit,
    'Tokens per minute for each credential, in prompts and answers (in mode proxy, only in prompts); above that, requests get a 429. 0 means no limit.',
  ),
} as const

export const limitOptions = group(
  withDefaults(limits, {
    bodyBytes: 4_194_304,
    requestsPerMinute: 0,
    tokensPerMinute: 0,
  }),
  'Limits of requests and tokens.',
)

/** What the control API accepts to change limits. Anything left out is as configured. */
export const limitsChange = closed(optionalEach(limits))

export type LimitsChange = v.InferOutput<typeof limitsChange>

/** The default pace of streams, and the paces of single models. */
interface PaceSettings extends Pace {
  readonly models: Readonly<Record<string, PaceInput>>
}

/** The settings that can be changed at run time, with their current values. */
type CurrentLimits = { readonly [Name in keyof typeof limits]: number }

export interface Changeable {
  readonly pace: PaceSettings
  readonly limits: CurrentLimits
  readonly random: readonly RandomFault[]
}

/** The changes. Anything absent is as configured. */
export interface Changes {
  readonly pace?: PaceChange | undefined
  readonly limits?: LimitsChange | undefined
  readonly random?: readonly RandomFault[] | undefined
}

/** A setting: its current value, its configured value, and whether it was changed. */
export interface Setting<Settings> {
  readonly inForce: Settings
  readonly configured: Settings
  readonly isChanged: boolean
}
