/** What somebody may change while it runs, and what is in force then. */
import type { RandomFault } from './fault.js'
import type { Pace, PaceInput } from './pace.js'

/** The usual pace of streams, and those of models that have one of their own. */
export interface PaceSettings extends Pace {
  readonly models: Readonly<Record<string, PaceInput>>
}

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

/** One of them: as it is, as the configuration has it, and whether somebody has changed it since. */
export interface Setting<Settings> {
  readonly inForce: Settings
  readonly configured: Settings
  readonly isChanged: boolean
}
