/** Operations on rules: lists, adds, changes and removes them, and drafts new ones. */
import * as v from 'valibot'
import { operation, type ValueOf } from '../api/operation.js'
import {
  boolean,
  dataOf,
  described,
  type ListingQuery,
  listingQuery,
  listOf,
  object,
  objectOf,
  oneOf,
  optional,
  optionalMember,
  orNull,
  scopeQuery,
  searchFor,
  text,
  wholeNumber,
} from '../api/shapes.js'
import { blockYaml } from '../check/yaml.js'
import { invalidRequest, noSuchExchange, noSuchRule } from '../core/errors.js'
import { jsonText, MOST_VALUES_OF_RULES, parseExact, requireModestJson } from '../core/json.js'
import type { Draft, DraftSource } from './draft.js'
import type { TriedRequest } from './http/route.js'
import type { SentRules } from './load.js'
import type { RuleEdit } from './rule-files.js'
import { type RuleInput, ruleByCall, sentRules } from './rules.js'

export type { Draft } from './draft.js'

/** Rules may contain long texts. */
export const RULES_LIMIT_BYTES = 4_194_304
/** Parsing YAML takes far longer than parsing JSON. */
export const RULE_TEXT_LIMIT_BYTES = 1_048_576

const listedFields = {
  /**
   * The id for changing it; `null` for a rule written in code. The id of a rule in a file is valid while the file does
   * not change.
   */
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
  /** Whether it is switched on. */
  enabled: boolean,
  /** The directions in which it can be moved, past a rule of the same file or scope and the same priority. */
  moves: listOf(oneOf(['up', 'down'])),
  /** The rule as its author wrote it. */
  rule: objectOf<RuleInput>(),
}
export type ListedRule = ValueOf<ReturnType<typeof object<typeof listedFields>>>

const ids = dataOf(object({ id: text }))

const exchangeId = 'the id of an exchange in the journal, such as 17'
const exchange = described(
  v.pipe(v.string(exchangeId), v.regex(/^\d{1,15}$/, exchangeId)),
  'The id of the exchange in the journal.',
)
const aName = 'a name of small letters, digits and single dashes, such as greeting-in-french'
const yaml = described(v.pipe(v.string('YAML'), v.nonEmpty('YAML')), 'A list of rules as in a file.')
const readsYaml = { bytes: RULE_TEXT_LIMIT_BYTES }

const ruleChange = v.pipe(
  object({
    yaml: optionalMember(yaml),
    enabled: optional(boolean, 'Whether it may answer.'),
    move: optional(
      oneOf(['up', 'down']),
      'Moves it past its neighbour of the same file or scope and the same priority.',
    ),
    before: optional(yaml, 'Rules to add before it, as in a file.'),
  }),
  v.check(changes => Object.keys(changes).length === 1, 'must have exactly one of yaml, enabled, move and before.'),
)

function editIn({ yaml, enabled, move, before }: ValueOf<typeof ruleChange>): RuleEdit {
  if (yaml !== undefined) return { kind: 'replace', yaml }
  if (before !== undefined) return { kind: 'before', yaml: before }
  return move === undefined ? { kind: 'switch', enabled: enabled === true } : { kind: 'move', to: move }
}

const attempt = object({
  prompt: optional(
    v.pipe(text, v.maxLength(20_000, 'a string of at most 20000 characters')),
    'What the user says, or a call of an MCP server: tools/call get_weather {"city":"Oslo"}.',
  ),
  model: optional(text, 'The requested model. Defaults to the first one.'),
  exchange: optionalMember(exchange),
  request: optional(
    object({
      method: text,
      path: described(text, 'With its query.'),
      headers: optional(v.record(v.string(), text), 'Its headers.'),
      body: optional(v.unknown(), 'A text, or a value that is sent as JSON.'),
    }),
    'A request for a path that rules answer, in place of a prompt.',
  ),
  yaml: optional(yaml, 'Rules to use for this explanation, before all others.'),
  id: optional(text, 'The rule that those of yaml replace.'),
  scope: optional(text, 'The scope of the request.'),
})

const explained = object({
  /** The rule that answers, and why; `null` if none does. */
  rule: orNull(object({ title: text, place: text, why: text })),
  /** `canned reply`, or another source; `null` if the request is refused. */
  source: orNull(text),
  /** The reply that would be sent, or the error message if the request is refused. */
  reply: text,
  /** What may be wrong with the reply, or which rule came nearest. */
  hint: orNull(text),
  /** Why the other rules do not answer, in the order in which they are tried. Rules that match too have no reasons. */
  others: listOf(object({ title: text, place: text, isBefore: boolean, reasons: listOf(text) })),
  /** The number of other rules. */
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
  /** Rules that are not active, and the id of the rule that they replace. */
  readonly draft?: { readonly yaml: string; readonly instead?: string | undefined } | undefined
}

/** Rejects with a 400 that names the line and column of the first mistake. */
export async function goodRules(drafts: Pick<Drafts, 'read'>, yaml: string): Promise<readonly RuleInput[]> {
  const { problems, rules } = await drafts.read(yaml)
  const [first] = problems
  if (!first) return rules
  throw invalidRequest(`Line ${first.line ?? 1}, column ${first.column ?? 1}: ${first.sentence}`)
}

/** The rules of a running platform. */
export interface RunningRules {
  /** The active rules in the order in which they are tried: those for a scope, or all without one. */
  list(scope?: string): Promise<readonly ListedRule[]>
  /** Adds one or several rules, which keep their order. Rejects with a ProblemsError for mistakes. */
  addSent(sent: RuleInput | readonly RuleInput[], scope?: string): Promise<readonly { readonly id: string }[]>
  /** The text of a rule in its file, or as it would be in a file. Rejects if there is no rule with this id. */
  read(id: string): Promise<string>
  /** Changes a rule in its file, or among the added ones. Returns its new id. */
  change(id: string, change: RuleEdit): Promise<string>
  /** The rule files, relative to the configuration. */
  files(): Promise<readonly string[]>
  /** Adds rules before all others in a file. */
  addToFile(file: string, yaml: string): Promise<void>
  /** The mistakes that a rule or its file would have with this text. */
  problems(yaml: string, id?: string): Promise<SentRules['problems']>
  /** Explains what would be answered, and why. Rejects with a PlatformError for an invalid draft or request. */
  explain(attempt: Attempt): Promise<Explained>
  /** Returns how many there were. */
  remove(which: { readonly id?: string; readonly scope?: string | undefined }): Promise<number>
}

interface RuleParts {
  readonly rules: RunningRules
  readonly drafts: Drafts
}

export const ruleOperations = (parts: RuleParts) => ({
  ...operationsOnList(parts),
  ...operationsOnFiles(parts),
  ...operationsOnRule(parts),
})

const operationsOnList = ({ rules, drafts }: RuleParts) => ({
  listRules: operation({
    at: 'GET /replies',
    does: 'Lists the rules in the order in which they are tried. Search, limit and offset select a part of them.',
    query: object({ ...scopeQuery.entries, ...listingQuery.entries }),
    returns: object({
      data: listOf(object({ ...listedFields, yaml: optionalMember(text) })),
      total: optionalMember(wholeNumber),
    }),
    run: async ({ query, scope }) => partOf(await rules.list(scope), query),
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
  addWrittenRules: operation({
    at: 'POST /replies/written',
    does: 'Adds rules from YAML text, before all others, until they are removed.',
    body: object({ yaml, scope: optional(text, 'The scope whose requests they answer; by default, all requests.') }),
    bodyReading: { bytes: RULE_TEXT_LIMIT_BYTES },
    returns: ids,
    status: 201,
    run: async ({ body, scope }) => ({
      data: await rules.addSent(await goodRules(drafts, body.yaml), body.scope ?? scope),
    }),
  }),
})

const operationsOnFiles = ({ rules }: RuleParts) => ({
  listRuleFiles: operation({
    at: 'GET /replies/files',
    does: 'Lists the files that rules are read from.',
    returns: dataOf(text),
    run: async () => ({ data: await rules.files() }),
  }),
  addToRuleFile: operation({
    at: 'PUT /replies/files/{file}',
    does: 'Adds rules before all others in a file. The rest of the file stays unchanged. Encode the slashes in its name as %2F.',
    body: object({ yaml }),
    bodyReading: { bytes: RULE_TEXT_LIMIT_BYTES },
    run: async ({ file, body }) => rules.addToFile(file, body.yaml),
  }),
})

const operationsOnRule = ({ rules }: RuleParts) => ({
  readRule: operation({
    at: 'GET /replies/{id}',
    does: 'Returns the text of a rule, with its comments if it is in a file.',
    returns: object({ yaml: text }),
    run: async ({ id }) => ({ yaml: await rules.read(id) }),
  }),
  changeRule: operation({
    at: 'PUT /replies/{id}',
    does: 'Changes the text of a rule, switches it on or off, or moves it. The rest of its file stays as it is.',
    body: ruleChange,
    bodyReading: { bytes: RULE_TEXT_LIMIT_BYTES },
    returns: object({ id: text }),
    run: async ({ id, body }) => ({ id: await rules.change(id, editIn(body)) }),
  }),
  removeRules: operation({
    at: 'DELETE /replies',
    does: 'Removes the rules that were added, or those of one scope.',
    query: scopeQuery,
    run: async ({ scope }) => void (await rules.remove({ scope })),
  }),
  removeRule: operation({
    at: 'DELETE /replies/{id}',
    does: 'Removes a rule, also from its file.',
    query: scopeQuery,
    async run({ id, scope }) {
      if ((await rules.remove({ id, scope })) === 0) throw noSuchRule(id)
    },
  }),
})

function parseRules(body: Buffer): unknown {
  requireModestJson(body, MOST_VALUES_OF_RULES)
  return parseExact(jsonText(body))
}

/** The default page size. */
const PAGE = 100

/** A page of the matching rules, each with its text for a file. Without a query, all rules. */
function partOf(all: readonly ListedRule[], query: ListingQuery) {
  if (query.search === undefined && query.limit === undefined && query.offset === undefined) return { data: all }
  const { search, limit = PAGE, offset = 0 } = query
  const isWanted = searchFor(search)
  const matching = search?.trim()
    ? all.filter(({ title, place, rule }) => isWanted([title, place, ...textsIn(rule)]))
    : all
  const data = matching.slice(offset, offset + limit).map(rule => ({ ...rule, yaml: fileOf(rule) }))
  return { data, total: matching.length }
}

/** The text of a rule for a file, without empty conditions. */
export function fileOf({ rule: { when, ...fields } }: Pick<ListedRule, 'rule'>): string {
  const { name, ...rest } = fields
  const conditions = when && Object.keys(when).length > 0 ? { when } : {}
  return blockYaml([{ ...(name !== undefined && { name }), ...conditions, ...rest }])
}

/** All texts in a value. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) yield* textsIn(part)
}

const ruleProblem = object({ line: wholeNumber, column: wholeNumber, sentence: text })
/** A mistake in rules, and its position. */
export type RuleProblem = ValueOf<typeof ruleProblem>

/** Rules that are not in a file yet. */
export interface Drafts {
  /**
   * Drafts a rule that repeats a reply; `redact` removes secrets from texts. Rejects with a PlatformError that says why that is not
   * possible.
   */
  draft(source: DraftSource, redact: (text: string) => string): Promise<Draft>
  /** The rules in a text, or its mistakes. */
  read(yaml: string): Promise<SentRules>
  /** Saves rules to a new file and returns its name. Rejects with a PlatformError that says why that failed. */
  keep(yaml: string, name: string): Promise<string>
}

interface DraftParts {
  readonly drafts: Drafts
  readonly rules: Pick<RunningRules, 'problems' | 'explain'>
  readonly journal: {
    get(id: string, shownBytes?: number): DraftSource | undefined
    redaction(id: string): ((text: string) => string) | undefined
  }
}

export const draftOperations = (parts: DraftParts) => ({ ...operationsOnDrafts(parts), ...operationsWithRules(parts) })

const operationsOnDrafts = ({ drafts, rules, journal }: DraftParts) => ({
  draftRule: operation({
    at: 'POST /replies/draft',
    does: 'Drafts a rule that repeats the answer of an exchange in the journal.',
    body: object({ exchange }),
    returns: object({ yaml: text, name: text, remarks: listOf(text) }),
    run({ body: { exchange } }) {
      const entry = journal.get(exchange, Number.POSITIVE_INFINITY)
      const redact = journal.redaction(exchange)
      if (!entry || !redact) throw noSuchExchange(exchange)
      return drafts.draft(entry, redact)
    },
  }),
  checkRules: operation({
    at: 'POST /replies/check',
    does: 'Checks rules without adding them. With an id, checks them as the new text of that rule.',
    body: object({ yaml, id: optional(text, 'The rule that is being changed.') }),
    bodyReading: readsYaml,
    returns: object({ problems: listOf(ruleProblem) }),
    async run({ body }) {
      const problems = await rules.problems(body.yaml, body.id)
      return { problems: problems.map(({ line = 1, column = 1, sentence }) => ({ line, column, sentence })) }
    },
  }),
})

const operationsWithRules = ({ drafts, rules, journal }: DraftParts) => ({
  tryRules: operation({
    at: 'POST /replies/try',
    does: 'Explains which rule would answer a prompt, an MCP call, an HTTP request or the request of an exchange, with which reply, and why other rules do not match. Nothing is sent or added.',
    body: attempt,
    bodyReading: readsYaml,
    returns: explained,
    async run({ body: { exchange, yaml, id, request, ...attempt }, scope }) {
      const entry = exchange === undefined ? undefined : journal.get(exchange, Number.POSITIVE_INFINITY)
      if (exchange !== undefined && !entry) throw noSuchExchange(exchange)
      const draft = yaml === undefined ? undefined : { yaml, instead: id }
      return rules.explain({ scope, ...attempt, request: entry?.request ?? request, draft })
    },
  }),
  keepRules: operation({
    at: 'POST /replies/keep',
    does: 'Saves rules to a new file in the folder that the option replies names. The command reads it as soon as it exists.',
    body: object({
      yaml,
      name: described(
        v.pipe(v.string(aName), v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, aName), v.maxLength(80, aName)),
        'The name of the file, without its extension.',
      ),
    }),
    bodyReading: readsYaml,
    returns: object({ file: text }),
    status: 201,
    async run({ body: { yaml, name } }) {
      await goodRules(drafts, yaml)
      return { file: await drafts.keep(yaml, name) }
    },
  }),
})
