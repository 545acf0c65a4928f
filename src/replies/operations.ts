/** Operations on rules: lists, tries, adds and removes them, and drafts new ones. */
import * as v from 'valibot'
import {
  arrayOf,
  boolean,
  closed,
  described,
  objectOf,
  optional,
  optionalMember,
  orNull,
  text,
  wholeNumber,
} from '../check/forms.js'
import { blockYaml } from '../check/yaml.js'
import { noSuchExchange, noSuchRule, notFound } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { jsonText, MOST_VALUES_OF_RULES, parseExact, requireModestJson } from '../core/json.js'
import {
  dataOf,
  type ListingQuery,
  listingQuery,
  operation,
  scopeQuery,
  searchFor,
  TextAnswer,
  type ValueOf,
} from '../core/operation.js'
import { testOf } from './as-test.js'
import type { Draft, DraftSource } from './draft.js'
import type { TriedRequest } from './http/route.js'
import { type RuleInput, ruleByCall, sentRules } from './rules.js'

export type { Draft } from './draft.js'

/** Rules may contain long texts. */
const RULES_LIMIT_BYTES = 4_194_304

const listedFields = {
  /** The id for removing it; `null` unless it was added at run time. */
  id: orNull(text),
  /** The name in the log, such as `rule "weather"`. */
  title: text,
  /** For example `replies/a.yaml:5`, `rules[0]` or `at run time #3`. */
  place: text,
  /** Its file, relative to the configuration; `null` if it is in none. */
  file: orNull(text),
  /** The scope of its requests; `null` for all requests. */
  scope: orNull(text),
  /** How often it has answered since it was loaded or added. */
  answered: wholeNumber,
  enabled: boolean,
  /** The rule as its author wrote it. */
  rule: objectOf<RuleInput>(),
}
export type ListedRule = ValueOf<ReturnType<typeof closed<typeof listedFields>>>

const ids = dataOf(closed({ id: text }))

const exchangeId = 'the id of an exchange in the journal, such as 17'
const exchange = described(
  v.pipe(v.string(exchangeId), v.regex(/^\d{1,15}$/, exchangeId)),
  'The id of the exchange in the journal.',
)
const attempt = closed({
  prompt: optional(
    v.pipe(text, v.maxLength(20_000, 'a string of at most 20000 characters')),
    'What the user says, or a call of an MCP server: tools/call get_weather {"city":"Oslo"}.',
  ),
  model: optional(text, 'The requested model. Defaults to the first one.'),
  exchange: optionalMember(exchange),
  request: optional(
    closed({
      method: text,
      path: described(text, 'With its query.'),
      headers: optional(v.record(v.string(), text), 'Its headers.'),
      body: optional(v.unknown(), 'A text, or a value that is sent as JSON.'),
    }),
    'A request for a path that rules answer, in place of a prompt.',
  ),
  scope: optional(text, 'The scope of the request.'),
})

const explained = closed({
  /** The rule that answers, and why; `null` if none does. */
  rule: orNull(closed({ title: text, place: text, why: text })),
  /** `canned reply`, or another source; `null` if the request is refused. */
  source: orNull(text),
  /** The reply that would be sent, or the error message if the request is refused. */
  reply: text,
  /** What may be wrong with the reply, or which rule came nearest. */
  hint: orNull(text),
  /** Why the other rules do not answer, in the order in which they are tried. Rules that match too have no reasons. */
  others: arrayOf(closed({ title: text, place: text, isBefore: boolean, reasons: arrayOf(text) })),
  total: wholeNumber,
})
export type Explained = ValueOf<typeof explained>

/** A request to explain, which is not sent. */
export interface Attempt {
  readonly prompt?: string | undefined
  readonly model?: string | undefined
  readonly scope?: string | undefined
  /** A request that an app has sent, instead of a prompt. */
  readonly request?: TriedRequest | undefined
}

/** The rules of a running platform. */
interface RunningRules {
  /** The active rules in the order in which they are tried: those for a scope, or all without one. */
  list(scope?: string): readonly ListedRule[]
  /** Adds one or several rules, which keep their order. Rejects with a ProblemsError for mistakes. */
  addSent(sent: RuleInput | readonly RuleInput[], scope?: string): Promise<readonly { readonly id: string }[]>
  /** Explains what would be answered, and why. Rejects with a PlatformError for an invalid request. */
  explain(attempt: Attempt): Promise<Explained>
  /** Returns how many there were. */
  remove(which: { readonly id?: string; readonly scope?: string | undefined }): number
}

interface RuleParts {
  readonly rules: RunningRules
}

export const ruleOperations = ({ rules }: RuleParts) => ({
  listRules: operation({
    at: 'GET /replies',
    does: 'Lists the rules in the order in which they are tried.',
    query: closed({ ...scopeQuery.entries, ...listingQuery.entries }),
    returns: closed({
      data: arrayOf(closed({ ...listedFields, yaml: optionalMember(text) })),
      total: optionalMember(wholeNumber),
    }),
    run: ({ query, scope }) => partOf(rules.list(scope), query),
  }),
  addRules: operation({
    at: 'POST /replies',
    does: 'Adds a rule, or several, before all others.',
    query: scopeQuery,
    body: sentRules,
    takes: ruleByCall,
    bodyReading: { bytes: RULES_LIMIT_BYTES, parse: parseRules },
    returns: ids,
    status: 201,
    async run({ body, scope: usual }) {
      if (Array.isArray(body)) return { data: await rules.addSent(body as readonly RuleInput[], usual) }
      const { scope = usual, ...rule } = body
      return { data: await rules.addSent(rule, scope) }
    },
  }),
  removeRule: operation({
    at: 'DELETE /replies/{id}',
    does: 'Removes a rule that was added.',
    query: scopeQuery,
    async run({ id, scope }) {
      if (rules.remove({ id, scope }) === 0) throw noSuchRule(id)
    },
  }),
})

function parseRules(body: Buffer): unknown {
  requireModestJson(body, MOST_VALUES_OF_RULES)
  return parseExact(jsonText(body))
}

const PAGE = 100

/** A page of the matching rules, each with its text for a file. Without a query, all rules. */
function partOf(all: readonly ListedRule[], query: ListingQuery) {
  if (query.search === undefined && query.limit === undefined && query.offset === undefined) return { data: all }
  const { search, limit = PAGE, offset = 0 } = query
  const isWanted = searchFor(search)
  const matching = search?.trim()
    ? all.filter(({ title, place, rule }) => isWanted([title, place, ...textsIn(rule)]))
    : all
  const data = matching.slice(offset, offset + limit).map(one => ({ ...one, yaml: yamlOf(one) }))
  return { data, total: matching.length }
}

/** The text of a rule for a file, without empty conditions. */
function yamlOf({ rule: { when, ...fields } }: ListedRule): string {
  const { name, ...rest } = fields
  const conditions = when && Object.keys(when).length > 0 ? { when } : {}
  return blockYaml([{ ...(name !== undefined && { name }), ...conditions, ...rest }])
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) yield* textsIn(part)
}

/** What is known of an exchange in a list. */
interface TestedBrief {
  readonly id: string
  readonly run: string
  readonly prompt: string | null
  readonly method: string
  readonly path: string
}

interface ExchangeParts {
  readonly rules: Pick<RunningRules, 'explain'>
  /** Drafts a rule that repeats the answer to a request. Rejects with a PlatformError that says why that is not possible. */
  readonly draftRule: (exchange: Exchange, source: DraftSource) => Promise<Draft>
  readonly reader: {
    /** Throws a 404 for an exchange that the journal does not have. */
    curl(id: string): string
  }
  readonly journal: {
    find(id: string): { readonly exchange: Exchange } | undefined
    get(id: string, shownBytes?: number): DraftSource | undefined
    briefs(): readonly TestedBrief[]
  }
}

const asText = (text: string) => new TextAnswer('text/plain; charset=utf-8', text)

/** Writes exchanges as rules and tests. */
function writerOf({ draftRule, journal }: Pick<ExchangeParts, 'draftRule' | 'journal'>) {
  function found(id: string) {
    const [kept, source] = [journal.find(id), journal.get(id, Number.POSITIVE_INFINITY)]
    if (!kept || !source) throw noSuchExchange(id)
    return [kept.exchange, source] as const
  }

  async function asRule(id: string): Promise<string> {
    const { yaml, remarks } = await draftRule(...found(id))
    return remarks.map(remark => `# ${remark}\n`).join('') + yaml
  }

  function asTest(id: string, isWholeRun = false): Promise<string> {
    const all = journal.briefs()
    const wanted = all.find(one => one.id === id)
    if (!wanted) throw noSuchExchange(id)
    const steps = all.filter(one => (isWholeRun ? one.run === wanted.run : one.id === id))
    return testOf(
      steps.map(one => {
        const [exchange, source] = found(one.id)
        const title = one.prompt ?? `${one.method} ${one.path}`
        return { source, draft: () => draftRule(asShown(exchange, source), source), title }
      }),
    )
  }

  return { found, asRule, asTest }
}

/** Operations that need the journal, because they are about its exchanges. */
export function exchangeOperations({ rules, reader, ...parts }: ExchangeParts) {
  const { found, asRule, asTest } = writerOf(parts)
  return {
    tryRules: operation({
      at: 'POST /replies/try',
      does: 'Explains which rule would answer a prompt, a call or a request, and why others do not match. Nothing is sent or added.',
      body: attempt,
      returns: explained,
      async run({ body: { exchange, request, ...attempt }, scope }) {
        const sent = exchange === undefined ? request : found(exchange)[1].request
        return rules.explain({ scope, ...attempt, request: sent })
      },
    }),
    getExchangeAs: operation({
      at: 'GET /journal/{id}/{form}',
      does: 'Writes an exchange as `curl`, as a vitest `test` or as a `rule`. The command and the test repeat the request, with credentials from the environment; the rule repeats its answer.',
      query: closed({ run: optional(boolean, 'As a test: all requests of its run.') }),
      returns: 'text/plain',
      async run({ id, form, query }) {
        if (form === 'curl') return asText(reader.curl(id))
        if (form === 'test') return asText(await asTest(id, query.run))
        if (form === 'rule') return asText(await asRule(id))
        throw notFound()
      },
    }),
  }
}

/** The exchange with the request that a test repeats, which is the one without secrets. */
function asShown(exchange: Exchange, { request: { query = '', body } }: DraftSource): Exchange {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { ...exchange.headers, 'content-type': 'application/json' }
  return { ...exchange, query, headers, body: text === undefined ? undefined : Buffer.from(text), chat: undefined }
}
