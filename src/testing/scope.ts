/** Isolated parts of a platform, for tests that run side by side. */
import * as v from 'valibot'
import { passedMs } from '../core/clock.js'
import { SCOPE_HEADER } from '../core/scope.js'
import type { Platform as OpenPlatform } from '../platform.js'
import type { Miss } from '../recordings/index.js'
import { checking } from './checked.js'
import type { KeyOptions, TestKeys } from './credentials.js'
import { type Awaitable, createTestJournal, type SharedJournal, type TestJournal } from './journal.js'
import { type FailNext, failing, giving, type ReplyWith, type SharedAddedReply } from './reply.js'
import { type TestResource, testResource } from './resource.js'
import { createTools, type TestTools, testLists } from './tools.js'
import type { Unanswered } from './unanswered.js'

/** Its settings and its journal only concern requests of this scope, in any process. */
export interface SharedScope {
  readonly name: string
  /** Headers that an app's client must send for its requests to belong to the scope. */
  readonly headers: { readonly [SCOPE_HEADER]: string }
  /** An API key whose requests belong to the scope, for apps that cannot send extra headers. */
  readonly apiKey: string
  /** As on the platform. */
  readonly reply: ReplyWith<SharedAddedReply>
  /** As on the platform. */
  readonly failNext: FailNext<Awaitable<void>>
  readonly journal: SharedJournal
  /** As on the platform, for calls of this scope. */
  readonly mcp: TestTools
  misses(): Awaitable<readonly Miss[]>
  expectNoMisses(): Awaitable<void>
  /** A further key whose requests belong to the scope. */
  createKey(options?: KeyOptions): Promise<string>
  /** The rows of a resource in this scope. */
  resource(path: string): TestResource
  /** Removes the replies, faults, sequences, misses and journal of this scope, and brings back the rows of resources. */
  reset(): Promise<void>
}

/** The same for a platform in this process. */
export interface Scope extends SharedScope {
  readonly reply: ReplyWith
  readonly failNext: FailNext
  readonly journal: TestJournal
  misses(): readonly Miss[]
  expectNoMisses(): void
}

const aName = 'a name of printable ASCII characters'

interface Parts {
  readonly platform: OpenPlatform
  readonly keys: TestKeys
  readonly unanswered: Unanswered
  readonly sinceMs: () => number
}

/** Characters that a header value can contain unencoded. */
export const scopeName = checking('scope', v.pipe(v.string(aName), v.regex(/^[!-~]([ -~]*[!-~])?$/, aName)))

export function createScope(given: string, { platform, keys, unanswered, sinceMs }: Parts): Scope {
  const name = scopeName(given)
  let ownSinceMs = 0
  const reply = giving(platform, name)
  const journal = createTestJournal({
    journal: platform.journal,
    scope: name,
    sinceMs: () => Math.max(ownSinceMs, sinceMs()),
    underWay: platform.forTests.traffic.underWay,
  })
  return {
    name,
    headers: { [SCOPE_HEADER]: name },
    apiKey: keys.ofScope(name),
    ...{ reply, journal, mcp: createTools({ reply, journal, lists: testLists(platform, name) }) },
    failNext: failing(platform, name),
    resource: path => testResource(platform, path, name),
    misses: () => unanswered.misses(name),
    expectNoMisses: () => unanswered.expectNone(name),
    createKey: options => keys.create({ ...options, scope: name }),
    async reset() {
      ownSinceMs = passedMs()
      unanswered.forget(name)
      await platform.reset({ scope: name })
    },
  }
}
