/** Connects a test to a platform in another process: a server started before all tests, or a container. */
import * as v from 'valibot'
import { closed, optional } from '../check/forms.js'
import { plainJson } from '../check/plain-json.js'
import { ProblemsError } from '../check/problem.js'
import { type Client, createClient } from '../control/client.js'
import { requireClockTime, requireStep } from '../core/clock.js'
import { stringifyExact } from '../core/json.js'
import { DASHBOARD, TEST_HEADER } from '../core/paths.js'
import { SCOPE_HEADER } from '../core/scope.js'
import { environmentFor } from '../environment/index.js'
import type { ControlOperations } from '../http/operations.js'
import type { JournalEntry } from '../journal/index.js'
import { baggageOf } from '../scopes/baggage.js'
import { resourceOf, type SharedAbilities, type SharedScope, scopeInput, type UserScope } from './abilities.js'
import { accountOptions, idTokenOptions, keyOptions, signInOptions, testSessionOf } from './credentials.js'
import { type ExchangeQuery, entryParts, splitQuery } from './exchange-filter.js'
import { type HoldInput, heldBy, requireReached, type SharedHeldRequests } from './hold.js'
import { aText, inputCheck, resetOptions } from './input-check.js'
import { createJournalView, createWaitFor, type JournalView, type SharedJournal } from './journal.js'
import type { RemoteReceiver } from './matchers.js'
import { requireNone } from './misses.js'
import { outboxOf } from './outbox.js'
import type { SharedClock, SharedPlatform, TestEnvironment } from './platform.js'
import { type AddReply, type FailNext, ruleFrom, type SharedAddedReply } from './reply.js'
import { createTestTables } from './tables.js'
import { createTools } from './tools.js'

export interface ConnectOptions {
  /** The control token. Only needed if the platform can be reached from other machines. */
  readonly controlToken?: string | undefined
}

/** A platform in another process. Its matchers return promises. */
export interface ConnectedPlatform extends SharedPlatform, RemoteReceiver {
  readonly journal: ConnectedJournal
  scope(of: string | UserScope): Promise<ConnectedScope>
}

export interface ConnectedScope extends SharedScope, RemoteReceiver {
  readonly journal: ConnectedJournal
  /** With what became of the test: recordings that one which passed no longer asks for are removed when it is recorded again. */
  close(result?: 'passed' | 'failed'): Promise<void>
}

type ConnectedJournal = SharedJournal & RemoteReceiver['journal']

type Control = Client<ControlOperations>

const expectedAddress = 'the address of a running Standin, such as http://127.0.0.1:4100'
const address = inputCheck('connect', v.pipe(v.string(expectedAddress), v.regex(/^https?:\/\//i, expectedAddress)))

const connectOptions = inputCheck('connect', closed({ controlToken: optional(aText, 'The control token.') }))

/** How often the platform is polled while a test waits. */
const POLL_INTERVAL_MS = 50

/**
 * Connects to a platform that runs in another process. A test can use it like one from `startPlatform()`, but has to await
 * everything that is fetched over HTTP.
 *
 * ```ts
 * const platform = await connect('http://127.0.0.1:4100')
 * await platform.reply('Sunny.')
 * …
 * await expect(platform).toHaveReceived({ path: '/v1/chat/completions' })
 * ```
 *
 * Rejects with an Error if nothing answers at the address, or if a control token is missing.
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<ConnectedPlatform> {
  const { controlToken } = connectOptions(options)
  const base = address(url).replace(/(?<!\/)\/+$/, '')
  const control: Control = createClient<ControlOperations>(`${base}/__standin`, {
    bearer: () => controlToken,
    headers: { [TEST_HEADER]: 'yes' },
    failed: ({ status, message, cause }) => failure(base, status, message, cause),
    stringify: stringifyExact,
  })
  const { publishableKey, secretKey, env, ...keys } = await control('GET /credentials')
  // Another server may answer with a page, or with other JSON.
  if (publishableKey === undefined) throw failure(base, 0)
  const connection = { url: base, authUrl: base, ...keys }
  const loaded = { config: { auth: { publishableKey, secretKey }, env } }
  const scopes = new Map<string, Promise<ConnectedScope>>()
  return {
    ...connection,
    ...abilities(control, undefined),
    ...createTestTables({
      rows: async table => (await control('GET /tables/{table}/rows', { table })).data,
      sql: async (text, values) => (await control('POST /tables/sql', { body: { text, values } })).data,
    }),
    dashboardUrl: base + DASHBOARD,
    env: Object.fromEntries(
      environmentFor({ ...connection, loaded }, { folders: ['.'], env: process.env }).variables,
    ) as TestEnvironment,
    get mode() {
      return control('GET /mode').then(({ mode }) => mode)
    },
    signIn: async (user = {}) => testSessionOf(await control('POST /sessions', { body: signInOptions(user) })),
    signInWith: async (provider, account = {}) =>
      testSessionOf(await control('POST /sessions', { body: accountOptions({ ...account, provider }) })),
    idToken: async (provider, account = {}) =>
      (await control('POST /id-tokens', { body: idTokenOptions({ ...account, provider }) })).token,
    outbox: outboxOf({
      messages: async () => (await control('GET /outbox')).data,
      clear: () => control('DELETE /outbox'),
      watch: poll,
    }),
    clock: clockOf(control),
    async scope(input) {
      const of = scopeInput(input)
      const name = typeof of === 'string' ? of : (await control('POST /scopes', { body: of })).scope
      const scope = scopes.get(name) ?? openScope(control, name)
      scopes.set(name, scope)
      scope.catch(() => scopes.delete(name))
      return scope
    },
    reset: async (options = {}) => control('POST /reset', { body: resetOptions(options) }),
    receipt: async () => (await control('GET /receipt')) ?? undefined,
    violations: async () => (await control('GET /violations')).data,
    switchMode: async (mode, modes = {}) => void (await control('PUT /mode', { body: { mode, modes } })),
  }
}

/** Turns an error answer into an Error with the platform's own sentence. A 400 becomes a ProblemsError, as with `startPlatform()`. */
function failure(url: string, status: number, message?: unknown, cause?: unknown): Error {
  // Standin's errors always have a message.
  if (typeof message !== 'string') return new Error(`No Standin answers at ${url}.`, { cause })
  if (status === 400) return new ProblemsError([{ origin: url, sentence: message }])
  return new Error(`${url} answers ${status}: ${message}`, { cause })
}

/** The abilities of a scope; without `scope`, those of the whole platform. */
function abilities(control: Control, scope: string | undefined) {
  const scopeQuery = scope === undefined ? {} : { scope }
  const misses = async () => (await control('GET /misses', { query: scopeQuery })).data
  const journal = journalOf(control, scopeQuery)
  const reply = createRemoteAddReply(control, scopeQuery)
  return {
    reply,
    journal,
    misses,
    mcp: createTools({ reply, journal }),
    failNext: createRemoteFailNext(control, scopeQuery),
    hold: createRemoteHold(control, scopeQuery),
    expectHoldsReached: async () => requireReached((await control('GET /holds', { query: scopeQuery })).data),
    async expectNoMisses() {
      const unmatched = await journal.find(({ code }) => code === 'no_rule_matches')
      const failed = await journal.count(({ code }) => code === 'no_recording')
      requireNone({
        unmatched: unmatched.map(({ request, error }) => `${request.method} ${request.path}: ${error}`),
        missed: (await misses()).toReversed().filter(({ changed }) => changed || failed > 0),
      })
    },
    resource: path => remoteResource(control, path, scopeQuery),
    createKey: async (options = {}) =>
      (await control('POST /keys', { body: { ...keyOptions(options), ...scopeQuery } })).key,
  } satisfies SharedAbilities
}

const remoteResource = (control: Control, resource: string, query: ScopeQuery) =>
  resourceOf({
    page: (limit, offset) =>
      control('GET /resources/{resource}/rows', { resource, query: { ...query, limit, offset } }),
    insert: row => control('POST /resources/{resource}/rows', { resource, query, body: row }),
    change: (id, changes) => control('PUT /resources/{resource}/rows/{id}', { resource, id, query, body: changes }),
    remove: id => control('DELETE /resources/{resource}/rows/{id}', { resource, id, query }),
  })

async function openScope(control: Control, name: string): Promise<ConnectedScope> {
  const { key } = await control('POST /keys', { body: { scope: name } })
  return {
    ...abilities(control, name),
    name,
    headers: { [SCOPE_HEADER]: name },
    baggage: baggageOf(name),
    apiKey: key,
    reset: () => control('POST /reset', { body: { scope: name } }),
    close: result => control('DELETE /scopes/{name}', { name, query: result === undefined ? {} : { result } }),
  }
}

interface ScopeQuery {
  readonly scope?: string
}

const createRemoteAddReply =
  (control: Control, scopeQuery: ScopeQuery): AddReply<SharedAddedReply> =>
  async (reply, options) => {
    const rule = plainJson(ruleFrom(reply, options), { origin: 'the rule', isRule: true })
    const { data } = await control('POST /replies', { query: scopeQuery, body: rule as never })
    const id = data[0]?.id ?? ''
    const current = async () => (await control('GET /replies', { query: scopeQuery })).data.find(rule => rule.id === id)
    return {
      id,
      get count() {
        return current().then(rule => rule?.answered ?? 0)
      },
      // A reset may have removed the rule already.
      remove: async () => void ((await current()) && (await control('DELETE /replies/{id}', { id }))),
    }
  }

const createRemoteFailNext =
  (control: Control, scopeQuery: ScopeQuery): FailNext<Promise<void>> =>
  async (fault, options = {}) => {
    const call = plainJson({ ...scopeQuery, ...options, fault }, { origin: 'failNext', isRule: true })
    await control('POST /faults', { body: call as never })
  }

const createRemoteHold =
  (control: Control, scopeQuery: ScopeQuery) =>
  async (input: HoldInput = {}): Promise<SharedHeldRequests> => {
    const call = plainJson({ ...scopeQuery, ...input }, { origin: 'hold', isRule: true })
    const { id } = await control('POST /holds', { body: call as never })
    return heldBy<Promise<void>>(id, {
      wait: query => control('GET /holds/{id}', { id, query }),
      act: body => control('POST /holds/{id}', { id, body }),
      // A reset may have removed the hold already.
      async remove() {
        const { data } = await control('GET /holds')
        if (data.some(hold => hold.id === id)) await control('DELETE /holds/{id}', { id })
      },
    })
  }

function journalOf(control: Control, scopeQuery: ScopeQuery): ConnectedJournal {
  /** The exchanges that match one part of a query, which only the platform can evaluate. An empty part matches all. */
  async function matching(part: object): Promise<readonly JournalEntry[]> {
    const entries: JournalEntry[] = []
    for (let after = '0'; ; ) {
      const body = { ...scopeQuery, ...part, after, whole: true }
      const { data, next } = await control('POST /journal/find', { body })
      entries.push(...data)
      if (next === undefined) return entries
      after = next
    }
  }

  /** Fetches all exchanges, and the ids of those that match each part of the query. */
  async function fetched(query: ExchangeQuery): Promise<JournalView> {
    const entries = await matching({})
    const idLists = Object.entries(splitQuery(query).filter).map(async ([name, wanted]) => {
      const ids = new Set((await matching({ [name]: wanted })).map(({ id }) => id))
      return [name, ids] as const
    })
    const idsByPart = new Map(await Promise.all(idLists))
    return createJournalView({
      matching: filter =>
        entries
          .filter(({ id }) => Object.keys(filter).every(name => idsByPart.get(name)?.has(id)))
          .map(entry => ({ id: entry.id, parts: () => entryParts(entry) })),
      get: id => entries.find(entry => entry.id === id),
      underWay: () => 0,
    })
  }

  /** Calls back when the newest exchange is another one, since fetching them all each time would be too much. */
  function watch(changed: () => void): () => void {
    let newest: string | undefined
    const look = async () => {
      const { data } = await control('GET /journal', { query: { ...scopeQuery, limit: 1, brief: true } })
      const [last] = data
      const seen = last && `${last.id} ${last.at}`
      if (seen !== newest) changed()
      newest = seen
    }
    return poll(() => void look().catch(changed))
  }

  return {
    fetched,
    find: async (query = {}) => (await fetched(query)).find(query),
    count: async (query = {}) => (await fetched(query)).count(query),
    last: async (query = {}) => (await fetched(query)).last(query),
    waitFor: createWaitFor(fetched, watch),
  }
}

function poll(changed: () => void): () => void {
  const timer = setInterval(changed, POLL_INTERVAL_MS)
  return () => clearInterval(timer)
}

function clockOf(control: Control): SharedClock {
  const state = () => control('GET /settings').then(({ clock }) => clock)
  const change = async (clock: { now?: number; advanceMs?: number; frozen?: boolean; reset?: true }) =>
    void (await control('PUT /settings', { body: { clock } }))
  return {
    now: async () => Date.parse((await state()).now),
    set: async time => change({ now: requireClockTime(time) }),
    advance: async ms => change({ advanceMs: requireStep(ms) }),
    freeze: () => change({ frozen: true }),
    run: () => change({ frozen: false }),
    reset: () => change({ reset: true }),
    state,
  }
}
