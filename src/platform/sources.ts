/** What a platform is made from. */
import type { ConfigSources } from '../config/load.js'
import type { RuleInput } from '../replies/index.js'

export interface PlatformSources extends ConfigSources {
  /** Rules written in code; they stand before those of the files. */
  readonly rules?: readonly RuleInput[]
  /** False where no port is opened: then only its handler answers. */
  readonly listen?: boolean
  /** Told of errors that are ours, not a client's. */
  readonly report?: (error: unknown) => void
  /** Told in a sentence of what is not quite right. */
  readonly warn?: (sentence: string) => void
}
