/** Limits: the options, and the same where they are changed while it runs. */
import * as v from 'valibot'
import { closed, described } from '../check/check.js'
import type { RandomFault } from '../core/fault.js'
import type { Pace, PaceInput } from '../core/pace.js'
import { group, integer } from './forms.js'

const most = integer(0, 1_000_000_000)

const limits = {
  bodyBytes: described(integer(1, 2 ** 30), 'Largest request body, in bytes; above that 413.'),
  requestsPerMinute: described(most, 'Requests of one credential in a minute; above that 429. 0 means no limit.'),
  tokensPerMinute: described(
    most,
    'Tokens of one credential in a minute, of prompts and answers (in mode proxy of prompts only); above that 429. 0 means no limit.',
  ),
  concurrentStreams: described(most, 'Streams of one credential at the same time; above that 429. 0 means no limit.'),
  maxPromptTokens: described(most, 'Tokens of one prompt; above that 400. A model can have its own. 0 means no limit.'),
} as const

export const limitOptions = group(
  {
    bodyBytes: v.optional(limits.bodyBytes, 4_194_304),
    requestsPerMinute: v.optional(limits.requestsPerMinute, 0),
    tokensPerMinute: v.optional(limits.tokensPerMinute, 0),
    concurrentStreams: v.optional(limits.concurrentStreams, 0),
    maxPromptTokens: v.optional(limits.maxPromptTokens, 0),
  },
  'What is too much.',
)

/** What the control API takes to change limits; what is left out is as the configuration says. */
export const limitsChange = closed({
  bodyBytes: v.optional(limits.bodyBytes),
  requestsPerMinute: v.optional(limits.requestsPerMinute),
  tokensPerMinute: v.optional(limits.tokensPerMinute),
  concurrentStreams: v.optional(limits.concurrentStreams),
  maxPromptTokens: v.optional(limits.maxPromptTokens),
})

export type LimitsChange = v.InferOutput<typeof limitsChange>

/** The usual pace of streams, and those of models that have one of their own. */
export interface PaceSettings extends Pace {
  readonly models: Readonly<Record<string, PaceInput>>
}

/** What can be changed while it runs, and what is in force then. */
export interface LimitsInForce {
  readonly bodyBytes: number
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  readonly concurrentStreams: number
  readonly maxPromptTokens: number
}

/** What can be changed. */
export interface Changeable {
  readonly pace: PaceSettings
  readonly limits: LimitsInForce
  /** Faults by chance. */
  readonly random: readonly RandomFault[]
}

/** One of them: as it is, as the configuration has it, and whether it was changed since. */
export interface Setting<Settings> {
  readonly inForce: Settings
  readonly configured: Settings
  readonly isChanged: boolean
}
