/** The life of a part, and the steps that all parts take together. */
import type { ConfigSources, LoadedConfig } from '../config/load.js'
import { inTurns } from '../core/work.js'
import type { RuleInput } from '../replies/index.js'

export interface ResetOptions {
  /** Only what belongs to this scope; everything without one. */
  readonly scope?: string | undefined
  /** False to keep users, sessions, keys and messages. */
  readonly state?: boolean | undefined
}

/** A feature of the platform. Each step is there only where the part has something to do in it. */
export interface Part {
  /** Loads what requests would otherwise have to wait for. */
  open?(): Promise<unknown>
  /**
   * Makes ready what a new configuration says, and changes nothing yet. May refuse by rejecting; the function that it resolves to puts the
   * new configuration in force, and cannot fail.
   */
  prepare?(next: LoadedConfig): Promise<() => void>
  /** Forgets what came since the start: in a scope, or in all of them. */
  reset?(options: ResetOptions): void | Promise<void>
  /** Lets go of everything; what is still under way has `graceMs` to end. */
  close?(graceMs: number): unknown
}

export interface Parts {
  open(): Promise<void>
  /** Replaces everything by what the configuration says, or nothing. */
  reload(next: LoadedConfig): Promise<void>
  reset(options?: ResetOptions): Promise<void>
  close(graceMs: number): Promise<void>
}

/** Parts in their order: reloads and resets go from the first to the last, closing from the last to the first. */
export const createParts = (parts: readonly Part[]): Parts => ({
  open: async () => void (await inTurns(parts.flatMap(part => part.open ?? []))),
  async reload(next) {
    const puts: ((() => void) | undefined)[] = []
    for (const part of parts) puts.push(await part.prepare?.(next))
    for (const put of puts) put?.()
  },
  async reset(options = {}) {
    for (const part of parts) await part.reset?.(options)
  },
  async close(graceMs) {
    for (const part of parts.toReversed()) await part.close?.(graceMs)
  },
})

/** What a platform is made from. */
export interface PlatformSources extends ConfigSources {
  /** Rules written in code; they stand before those of the files. */
  readonly rules?: readonly RuleInput[]
  /** False where no port is opened: then only its handler answers. */
  readonly listen?: boolean
  /** Called with errors that are ours, not a client's. */
  readonly report?: (error: unknown) => void
  /** Called with a sentence about what is not quite right. */
  readonly warn?: (sentence: string) => void
}
