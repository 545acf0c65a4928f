/** What a test can do with a platform, and in the same way with one of its scopes. */
import type { Platform } from '../platform.js'
import type { Miss } from '../recordings/index.js'
import type { KeyOptions, TestKeys } from './credentials.js'
import { type Awaitable, createTestJournal, type SharedJournal, type TestJournal } from './journal.js'
import type { TestMisses } from './misses.js'
import { type AddReply, createAddReply, createFailNext, type FailNext, type SharedAddedReply } from './reply.js'
import { type TestResource, testResource } from './resource.js'
import { createTools, type TestTools, testLists } from './tools.js'

/** For a platform in this process or in another one. */
export interface SharedAbilities {
  /**
   * Adds a reply for the model, which takes precedence over all earlier ones. It is a text, an object like a rule's `reply`, a list
   * of these for successive answers, or a rule:
   *
   * ```ts
   * await platform.reply('Sunny.')
   * await platform.reply({ toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] }, { when: { user: 'Oslo' }, times: 1 })
   * await platform.reply(['First.', 'Then.'])
   * await platform.reply({ when: { user: /weather/i }, reply: { text: 'Rain.' } })
   * ```
   *
   * The result counts how often the reply was used, and can remove it. Requests sent after the call wait until the reply is in place,
   * even if the call is not awaited. Rejects with a `ProblemsError` for an invalid rule.
   */
  readonly reply: AddReply<SharedAddedReply>
  /**
   * Makes the next request fail in this way, or the next `times` requests: to any endpoint of the platform, or to paths that match
   * `path` (`*` matches any text), and only with `method` if that is given.
   *
   * ```ts
   * platform.failNext({ status: 429, retryAfter: 1 }, { times: 2 })
   * platform.failNext({ cutAfterChunks: 3 }, { path: '/v1/chat/completions' })
   * ```
   *
   * `when` limits the fault to chat completions that match its conditions, as in rules. `scope` limits it to requests of a scope.
   *
   * Several faults are queued. Requests that are refused for their credential, or that request a fault themselves, do not count.
   * Throws a `ProblemsError` for an invalid fault.
   */
  readonly failNext: FailNext<Awaitable<void>>
  /**
   * The requests since the last reset, with their answers.
   *
   * ```ts
   * const { request } = await platform.journal.waitFor({ path: '/v1/chat/completions', body: { stream: true } })
   * expect(platform.journal.count({ status: '4xx' })).toBe(0)
   * ```
   *
   * Queries match the original requests. Secrets are removed from the returned entries.
   */
  readonly journal: SharedJournal
  /** Tools of MCP servers: `platform.mcp.tool('get_weather').reply('Sunny.')`, and `.calls()`. */
  readonly mcp: TestTools
  /** The latest requests without a matching recording, the newest first, each compared with the closest recording. */
  misses(): Awaitable<readonly Miss[]>
  /**
   * Throws, or rejects with, an Error that lists the requests since the last reset that no recording or, with `strict`, no rule
   * matched. Misses that `recordings.onMiss` answers in another way do not count.
   */
  expectNoMisses(): Awaitable<void>
  /** An API key for `/v1`: of the user with the address `user`, or of no user. */
  createKey(options?: KeyOptions): Promise<string>
  /**
   * The rows of a resource, whatever user they belong to; `path` is that of the configuration.
   *
   * ```ts
   * await platform.resource('/builder/projects').insert({ name: 'Atlas' })
   * ```
   */
  resource(path: string): TestResource
}

/** For a platform in this process. */
export interface Abilities extends SharedAbilities {
  readonly reply: AddReply
  readonly failNext: FailNext
  readonly journal: TestJournal
  misses(): readonly Miss[]
  expectNoMisses(): void
}

interface Parts {
  readonly platform: Platform
  readonly keys: TestKeys
  readonly testMisses: TestMisses
}

/** Creates the abilities of a scope; without `scope`, those of the whole platform. */
export function createAbilities({ platform, keys, testMisses }: Parts, scope?: string): Abilities {
  const reply = createAddReply(platform, scope)
  const journal = createTestJournal(platform.journal, platform.forTests.traffic.pending, scope)
  return {
    ...{ reply, journal, mcp: createTools({ reply, journal, lists: testLists(platform, scope) }) },
    failNext: createFailNext(platform, scope),
    misses: () => testMisses.misses(scope),
    expectNoMisses: () => testMisses.expectNone(scope),
    createKey: options => keys.create(options, scope),
    resource: path => testResource(platform, path, scope),
  }
}
