/** A part of a platform that tests side by side have for themselves. */

import { SCOPE_HEADER } from '../core/scope.js'
import type { Platform as OpenPlatform } from '../platform.js'
import type { Miss } from '../recordings/index.js'
import { type FailNext, failing } from './fail.js'
import { giving, type Reply } from './give.js'
import { startOfNew } from './idle.js'
import { createTestJournal, type TestJournal } from './journal.js'
import type { KeyOptions, Keys } from './keys.js'
import type { Unanswered } from './unanswered.js'

/** What is set and seen here is of requests in this scope alone. */
export interface Scope {
  readonly name: string
  /** What an app's client has to send for its requests to belong here. */
  readonly headers: { readonly [SCOPE_HEADER]: string }
  /** An API key whose requests belong here, for apps that cannot send headers. */
  readonly apiKey: string
  /** As on the platform. */
  readonly reply: Reply
  /** As on the platform. */
  readonly failNext: FailNext
  readonly journal: TestJournal
  misses(): readonly Miss[]
  expectNoMisses(): void
  /** A further key whose requests belong here. */
  createKey(options?: KeyOptions): Promise<string>
  /** Forgets replies, faults, sequences, misses and journal of this scope. */
  reset(): Promise<void>
}

interface Parts {
  readonly platform: OpenPlatform
  readonly keys: Keys
  readonly unanswered: Unanswered
  readonly sinceMs: () => number
}

export function createScope(name: string, { platform, keys, unanswered, sinceMs }: Parts): Scope {
  let ownSinceMs = 0
  return {
    name,
    headers: { [SCOPE_HEADER]: name },
    apiKey: keys.ofScope(name),
    reply: giving(platform, name),
    failNext: failing(platform, name),
    journal: createTestJournal({
      journal: platform.journal,
      scope: name,
      sinceMs: () => Math.max(ownSinceMs, sinceMs()),
    }),
    misses: () => unanswered.misses(name),
    expectNoMisses: () => unanswered.expectNone(name),
    createKey: options => keys.create({ ...options, scope: name }),
    async reset() {
      ownSinceMs = startOfNew(platform.forTests.traffic)
      unanswered.forget(name)
      await platform.forTests.traffic.hold(() => platform.reset(name))
    },
  }
}
