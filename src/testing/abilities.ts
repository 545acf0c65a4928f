/** What a test can do with a platform, and in the same way with one of its scopes. */
import { closed, oneForm, optional } from '../check/forms.js'
import { plainJson } from '../check/plain-json.js'
import { isObject } from '../core/json.js'
import { SCOPE_HEADER } from '../core/scope.js'
import type { Miss } from '../recordings/index.js'
import { baggageOf } from '../scopes/baggage.js'
import { type ScopedUser, scopedUser, scopeName } from '../scopes/users.js'
import type { Json } from '../state/rows.js'
import { type KeyOptions, keyOptions } from './credentials.js'
import type { Door, ScopeQuery } from './door.js'
import { createHoldAbility, type HeldRequests, type HoldInput, unreachedHolds } from './hold.js'
import { inputCheck } from './input-check.js'
import { createTestJournal, type TestJournal } from './journal.js'
import { isUnprepared, requireNone, unpreparedIn } from './misses.js'
import { type AddReply, createAddReply, createFailNext, type FailNext } from './reply.js'
import { createTools, type TestTools } from './tools.js'

/** The same for a platform in this process and in another one. */
export interface Abilities {
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
  readonly reply: AddReply
  /**
   * Makes the next request fail in this way, or the next `times` requests: to any endpoint of the platform, or to paths that match
   * `path` (`*` matches any text), and only with `method` if that is given.
   *
   * ```ts
   * await platform.failNext({ status: 429, retryAfter: 1 }, { times: 2 })
   * await platform.failNext({ cut: 3 }, { path: '/v1/chat/completions' })
   * ```
   *
   * `when` limits the fault to chat completions that match its conditions, as in rules. `scope` limits it to requests of a scope.
   *
   * Several faults are queued. Requests that are refused for their credential, or that request a fault themselves, do not count.
   * Requests sent after the call wait until it has taken effect, even if it is not awaited. Rejects with a `ProblemsError` for an invalid fault.
   */
  readonly failNext: FailNext
  /**
   * Holds the next request that matches, or the next `times` requests: before the answer, or after `after` pieces of a stream.
   *
   * ```ts
   * const held = await platform.hold({ when: { user: /weather/ }, after: 3 })
   * await held.reached()   // three pieces have been sent, and the rest waits
   * await page.getByRole('button', { name: 'Stop' }).click()
   * await held.aborted()   // the app has closed the connection
   * ```
   *
   * `on` and `when` are those of rules: without `on`, chat completions; otherwise a path (`GET /builder/projects/:id`) or a call of MCP
   * (`tools/call get_weather`). It works in every mode. Rejects with a `ProblemsError` for unknown conditions.
   */
  hold(input?: HoldInput): Promise<HeldRequests>
  /** Rejects with an Error that names the holds since the last reset that no request has reached. */
  expectHoldsReached(): Promise<void>
  /**
   * The requests since the last reset, with their answers.
   *
   * ```ts
   * const { request } = await platform.journal.waitFor({ path: '/v1/chat/completions', body: { stream: true } })
   * expect(await platform.journal.count({ status: '4xx' })).toBe(0)
   * ```
   *
   * Queries match the original requests. Secrets are removed from the returned entries.
   */
  readonly journal: TestJournal
  /** Tools of MCP servers: `platform.mcp.tool('get_weather').reply('Sunny.')`, and `.calls()`. */
  readonly mcp: TestTools
  /** The latest requests without a matching recording, the newest first, each compared with the closest recording. */
  misses(): Promise<readonly Miss[]>
  /**
   * Rejects with an Error that lists the requests since the last reset that no recording or, with `strict`, no rule
   * matched, each difference once. Misses that `recordings.onMiss` emulates or records do not count.
   */
  expectNoMisses(): Promise<void>
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

/** Creates the abilities of a scope; without one, those of the whole platform. */
export function createAbilities(door: Door, scopeQuery: ScopeQuery = {}): Abilities {
  const { control } = door
  const misses = async () => (await control('GET /receipt', { query: scopeQuery })).misses
  const journal = createTestJournal(door, scopeQuery)
  const reply = createAddReply(door, scopeQuery)
  return {
    reply,
    journal,
    misses,
    mcp: createTools({ reply, journal }),
    failNext: createFailNext(door, scopeQuery),
    hold: createHoldAbility(door, scopeQuery),
    async expectHoldsReached() {
      const sentences = unreachedHolds((await control('GET /holds', { query: scopeQuery })).data)
      if (sentences.length > 0) throw new Error(sentences.join('\n'))
    },
    expectNoMisses: async () => requireNone(unpreparedIn(await misses(), await journal.find(isUnprepared))),
    createKey: async (options = {}) =>
      (await control('POST /keys', { body: { ...keyOptions(options), ...scopeQuery } })).key,
    resource: path => testResource(door, path, scopeQuery),
  }
}

/** A scope of a platform. Its replies, faults, holds and journal only concern its own requests. */
export interface Scope extends Abilities {
  readonly name: string
  /** Headers that an app's client must send for its requests to belong to the scope. */
  readonly headers: { readonly [SCOPE_HEADER]: string }
  /** The value of the W3C header `baggage` for the same, which OpenTelemetry passes on from the page to the app's server and further. */
  readonly baggage: string
  /** An API key whose requests belong to the scope, for apps that cannot send extra headers. */
  readonly apiKey: string
  /** Removes the replies, faults, holds, sequences, misses and journal of this scope, and restores the rows of its resources. */
  reset(): Promise<void>
  /**
   * The same at the end of a test. Requests of the scope's users no longer belong to it, until the scope is opened again. With what became
   * of the test: recordings that one which passed no longer asks for are removed when it is recorded again.
   */
  close(result?: 'passed' | 'failed'): Promise<void>
}

/** The scope of a user. */
export interface UserScope {
  /** An email address, which need not have signed up yet, the id of a user, or the `user` that `signIn` returns. */
  readonly user: ScopedUser
  /** By default the address, or else the id. Users with the same name share a scope. */
  readonly name?: string | undefined
}

/** A name, or a user whose scope it is. */
export const scopeInput = inputCheck(
  'scope',
  oneForm([scopeName, closed({ user: scopedUser, name: optional(scopeName, 'The name.') })], value =>
    isObject(value) ? 1 : 0,
  ),
)

export async function createScope(door: Door, name: string): Promise<Scope> {
  const { control } = door
  const { key } = await control('POST /keys', { body: { scope: name } })
  return {
    ...createAbilities(door, { scope: name }),
    name,
    headers: { [SCOPE_HEADER]: name },
    baggage: baggageOf(name),
    apiKey: key,
    reset: () => control('POST /reset', { body: { scope: name } }),
    close: result => control('DELETE /scopes/{name}', { name, query: { result } }),
  }
}

export interface TestResource {
  /** All rows, in their order. */
  rows(): Promise<readonly Json[]>
  /** Adds a row. Rejects if it does not match the schema, or if its id is taken. */
  insert(row: Json): Promise<Json>
  /** Changes the fields that are given. Rejects if there is no such row. */
  update(id: string | number, changes: Json): Promise<Json>
  /** Rejects if there is no such row. */
  remove(id: string | number): Promise<void>
}

/** The number of rows on a page. */
const PAGE_SIZE = 1000

function testResource({ control }: Pick<Door, 'control'>, resource: string, query: ScopeQuery): TestResource {
  const ROW = '/resources/{resource}/rows/{id}'
  return {
    async rows() {
      const rows: Json[] = []
      for (;;) {
        const page = { ...query, limit: PAGE_SIZE, offset: rows.length }
        const { data, total } = await control('GET /resources/{resource}/rows', { resource, query: page })
        rows.push(...data.map(({ row }) => row))
        if (data.length === 0 || rows.length >= total) return rows
      }
    },
    async insert(row) {
      const body = plainJson(row, { origin: 'insert' }) as Json
      return control('POST /resources/{resource}/rows', { resource, query, body })
    },
    async update(id, changes) {
      const body = plainJson(changes, { origin: 'update' }) as Json
      return control(`PUT ${ROW}`, { resource, id: String(id), query, body })
    },
    remove: id => control(`DELETE ${ROW}`, { resource, id: String(id), query }),
  }
}
