/** Connects a test to a platform in another process: a server started before all tests, or a container. */
import * as v from 'valibot'
import { type Client, createClient } from '../api/client.js'
import { closed, optional } from '../check/check.js'
import { missText } from '../check/miss-text.js'
import { plainJson } from '../check/plain-json.js'
import { ProblemsError } from '../check/problem.js'
import { requireClockTime, requireStep } from '../core/clock.js'
import { stringifyExact } from '../core/json.js'
import { DASHBOARD } from '../core/paths.js'
import { SCOPE_HEADER } from '../core/scope.js'
import { memoized } from '../core/work.js'
import type { ControlOperations } from '../http/operations.js'
import type { JournalEntry } from '../journal/index.js'
import { environmentOf } from '../platform/platform.js'
import type { SharedAbilities } from './abilities.js'
import { checking, resetOptions, text } from './checked.js'
import { keyOptions, signedInWith, signInOptions } from './credentials.js'
import { type ExchangeQuery, entryParts, wantedBy } from './exchange-filter.js'
import { type JournalNow, journalNow, type SharedJournal, waiting } from './journal.js'
import { outboxOf } from './outbox.js'
import type { SharedClock, SharedPlatform, TestEnvironment } from './platform.js'
import type { RemoteReceiver } from './received.js'
import { type FailNext, type ReplyWith, ruleFrom, type SharedAddedReply } from './reply.js'
import { resourceOf } from './resource.js'
import { type SharedScope, scopeName } from './scope.js'
import { createTools, type ListSource } from './tools.js'
import { requireNone } from './unanswered.js'

export interface ConnectOptions {
  /** The control token. Only needed if the platform can be reached from other machines. */
  readonly controlToken?: string | undefined
}

/** A platform in another process. Its matchers return promises. */
export interface ConnectedPlatform extends SharedPlatform, RemoteReceiver {
  readonly journal: ConnectedJournal
  scope(name: string): Promise<ConnectedScope>
}

export interface ConnectedScope extends SharedScope, RemoteReceiver {
  readonly journal: ConnectedJournal
}

type ConnectedJournal = SharedJournal & RemoteReceiver['journal']

type Control = Client<ControlOperations>

const anAddress = 'the address of a running Standin, such as http://127.0.0.1:4100'
const address = checking('connect', v.pipe(v.string(anAddress), v.regex(/^https?:\/\//i, anAddress)))

const connectOptions = checking('connect', closed({ controlToken: optional(text, 'The control token.') }))

/** How often to poll while waiting. */
const EVERY_MS = 50

/**
 * Connects to a platform that runs in another process. A test can use it like one from `startPlatform()`, but has to await
 * what is fetched over HTTP.
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
  const base = address(url).replace(/\/+$/, '')
  const control: Control = createClient<ControlOperations>(`${base}/__standin`, {
    bearer: () => controlToken,
    failed: ({ status, message, cause }) => failure(base, status, message, cause),
    stringify: stringifyExact,
  })
  const { publishableKey, secretKey, ...keys } = await control('GET /credentials')
  // Other servers may answer with a page or other JSON.
  if (publishableKey === undefined) throw failure(base, 0)
  const auth = { publishableKey, secretKey }
  const addressed = { url: base, authUrl: base, ...keys }
  const scopes = new Map<string, Promise<ConnectedScope>>()
  return {
    ...addressed,
    ...abilities(control, undefined),
    dashboardUrl: base + DASHBOARD,
    env: Object.fromEntries(environmentOf({ ...addressed, loaded: { config: { auth } } })) as TestEnvironment,
    get mode() {
      return control('GET /mode').then(({ mode }) => mode)
    },
    signIn: async (user = {}) => signedInWith(await control('POST /sessions', { body: signInOptions(user) })),
    outbox: outboxOf({
      messages: async () => (await control('GET /outbox')).data,
      clear: () => control('DELETE /outbox'),
      watch: everySoOften,
    }),
    clock: clockOf(control),
    scope(given) {
      const name = scopeName(given)
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
  // Standin always says why it refuses.
  if (typeof message !== 'string') return new Error(`No Standin answers at ${url}.`, { cause })
  if (status === 400) return new ProblemsError([{ origin: url, sentence: message }])
  return new Error(`${url} answers ${status}: ${message}`, { cause })
}

/** What a platform and its scopes have in common. */
function abilities(control: Control, scope: string | undefined) {
  const own = scope === undefined ? {} : { scope }
  const misses = async () => (await control('GET /misses', { query: own })).data
  const journal = journalOf(control, own)
  const reply = replying(control, own)
  return {
    ...{ reply, journal, misses, mcp: createTools({ reply, journal, lists: remoteLists(control, own) }) },
    failNext: failing(control, own),
    async expectNoMisses() {
      const unmatched = await journal.find(({ code }) => code === 'no_rule_matches')
      const failed = await journal.count(({ code }) => code === 'no_recording')
      const missed = failed === 0 ? [] : (await misses()).toReversed()
      requireNone([
        ...unmatched.map(({ request, error }) => `${request.method} ${request.path}: ${error}`),
        ...missed.map(miss => missText(miss)),
      ])
    },
    resource: path => remoteResource(control, path, own),
    createKey: async (options = {}) => (await control('POST /keys', { body: { ...keyOptions(options), ...own } })).key,
  } satisfies SharedAbilities
}

const remoteLists = (control: Control, query: Own): ListSource => ({
  list: async () => (await control('GET /mcp', { query })).data,
  change: (server, body) => control('PUT /mcp/{server}', { server, query, body }),
})

const remoteResource = (control: Control, resource: string, query: Own) =>
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
    ...{ name, headers: { [SCOPE_HEADER]: name }, apiKey: key },
    reset: () => control('POST /reset', { body: { scope: name } }),
  }
}

interface Own {
  readonly scope?: string
}

const replying =
  (control: Control, own: Own): ReplyWith<SharedAddedReply> =>
  async (reply, options) => {
    const rule = plainJson(ruleFrom(reply, options), { origin: 'the rule', isRule: true })
    const { data } = await control('POST /replies', { query: own, body: rule as never })
    const id = data[0]?.id ?? ''
    const current = async () => (await control('GET /replies', { query: own })).data.find(rule => rule.id === id)
    return {
      id,
      get count() {
        return current().then(rule => rule?.answered ?? 0)
      },
      // It may be gone already, after a reset.
      remove: async () => void ((await current()) && (await control('DELETE /replies/{id}', { id }))),
    }
  }

const failing =
  (control: Control, own: Own): FailNext<Promise<void>> =>
  async (fault, options = {}) => {
    const call = plainJson({ ...own, ...options, fault }, { origin: 'failNext', isRule: true })
    await control('POST /faults', { body: call as never })
  }

/** At most this many queries are cached. */
const MOST_REMEMBERED = 50

function journalOf(control: Control, own: Own): ConnectedJournal {
  const matchesOf = memoized((part: string) => matches(control, { ...own, ...JSON.parse(part) }), MOST_REMEMBERED)
  /** The exchanges that match a part of a query that only the platform can evaluate; all of them without one. */
  const matching = (part: object) => matchesOf(JSON.stringify(part))()

  /** All exchanges, and which of them match each part of the query. */
  async function fetched(query: ExchangeQuery): Promise<JournalNow> {
    const entries = await matching({})
    const judged = Object.entries(wantedBy(query).filter).map(async ([name, wanted]) => {
      const ids = new Set((await matching({ [name]: wanted })).map(({ id }) => id))
      return [name, ids] as const
    })
    const fitting = new Map(await Promise.all(judged))
    return journalNow({
      fitting: filter =>
        entries
          .filter(({ id }) => Object.keys(filter).every(name => fitting.get(name)?.has(id)))
          .map(entry => ({ id: entry.id, parts: () => entryParts(entry) })),
      get: id => entries.find(entry => entry.id === id),
      underWay: () => 0,
    })
  }

  return {
    fetched,
    find: async (query = {}) => (await fetched(query)).find(query),
    count: async (query = {}) => (await fetched(query)).count(query),
    last: async (query = {}) => (await fetched(query)).last(query),
    waitFor: waiting(fetched, everySoOften),
  }
}

/**
 * Fetches the matches, oldest first. They are cached, so that the next call only fetches the last one and newer ones.
 * If the last one or any other is gone, something was reset, and everything is fetched again.
 */
function matches(control: Control, filter: object) {
  let found: readonly JournalEntry[] = []
  let latest = Promise.resolve(found)

  async function after(id: string): Promise<readonly JournalEntry[]> {
    const entries: JournalEntry[] = []
    for (let after = id; ; ) {
      const { data, next } = await control('POST /journal/find', { body: { ...filter, after, whole: true } })
      entries.push(...data)
      if (next === undefined) return entries
      after = next
    }
  }

  async function ask(): Promise<readonly JournalEntry[]> {
    const last = found.at(-1)
    const before = found.at(-2)
    const fresh = await after(before?.id ?? '0')
    if (!before) found = fresh
    else {
      const { count } = await control('POST /journal/count', { body: filter })
      // After a restart, another exchange can have the same id.
      const isSame = last?.id === fresh[0]?.id && last?.at === fresh[0]?.at
      const all = [...found.slice(0, -1), ...fresh]
      found = isSame && all.length === count ? all : await after('0')
    }
    return found
  }

  return () => {
    // One after the other, since each fetch continues where the previous one ended.
    latest = latest.catch(() => found).then(ask)
    return latest
  }
}

function everySoOften(changed: () => void): () => void {
  const timer = setInterval(changed, EVERY_MS)
  return () => clearInterval(timer)
}

function clockOf(control: Control): SharedClock {
  const state = () => control('GET /clock')
  const turn = async (body: { now?: number; advanceMs?: number; frozen?: boolean; reset?: true }) =>
    void (await control('PUT /clock', { body }))
  return {
    now: async () => Date.parse((await state()).now),
    set: async time => turn({ now: requireClockTime(time) }),
    advance: async ms => turn({ advanceMs: requireStep(ms) }),
    freeze: () => turn({ frozen: true }),
    run: () => turn({ frozen: false }),
    reset: () => turn({ reset: true }),
    state,
  }
}
