/** The floors of the source and the importers of each package, as rules over source files. */
import { isBuiltin } from 'node:module'
import path from 'node:path/posix'
import { parseSync } from 'rolldown/utils'

/** A source file: its path inside src/, and its text. */
export interface Source {
  readonly file: string
  readonly text: string
}

/** From the ground up. Folders and files of one floor do not import each other. */
const floors: readonly (readonly string[])[] = [
  ['check'],
  ['core'],
  // What is shaped like OpenAI, connections to other servers, and what rows a state has.
  ['chat', 'outgoing', 'state'],
  // What is documented, as one record each: all floors above ask these, and compare no paths.
  ['redact', 'endpoints'],
  ['environment', 'faults', 'holds', 'recordings', 'scopes'],
  ['keys', 'replies', 'journal', 'limits', 'contract', 'prompts'],
  ['adversary', 'run', 'repairs', 'situation', 'supabase', 'tables', 'mcp', 'resources', 'openapi'],
  ['http'],
  ['control'],
  ['dashboard', 'version.ts'],
  ['platform.ts', 'platform'],
  ['testing', 'dashboard/page'],
  ['index.ts', 'vitest.ts', 'jest.ts', 'playwright.ts', 'test-runner.ts', 'cli.ts', 'cli'],
]

/** The lines that each folder may have. A new ability in one of them needs an old one to go, or a reason for more. */
export const budgets: Readonly<Record<string, number>> = {
  // 2026-11-28: 500 before runs at once, which end all that they start, and three more groups of faults.
  // 2026-11-29: 210 for what happens to sessions, with six verdicts.
  adversary: 1700,
  // 2026-11-28: 2100 before all that OpenAI's description refuses came in, and what the user really said; pieces of a text that its
  // answers share, and counting megabytes of data. What spoils answers went to faults.
  chat: 2160,
  // 2026-11-28: which Node is needed, for every entry point; lists that may be written as one text.
  check: 1940,
  // 2026-11-28: exec, env and init say what still points elsewhere; config check names files without rules.
  // 2026-11-29: 200 for receipts of shards, and joining them.
  // 2026-11-29: 20 for groups of faults, and where each verdict is explained.
  // 2026-11-29: 10 for an exec below another one.
  // 2026-11-29: 20 for faults that a run has no call for, and why.
  // 2026-11-29: 20 for V8's space for new objects, which was one line in the way of speed.
  cli: 4830,
  contract: 2060,
  // 2026-11-29: the control API came from http; the declaration of operations and their client went to core.
  control: 660,
  // 2026-11-28: which test is running, what an observer hears after the client has left; the words and the old names of faults.
  // What is between an answer and its client, for faults and holds, came from http; the life of a part, from platform.
  // 2026-11-29: the declaration of operations and their client came from control, for all parts have some.
  core: 3020,
  dashboard: 260,
  'dashboard/page': 5920,
  endpoints: 450,
  // 2026-11-28: the names that projects use for the addresses and keys, their .env files, and what still points elsewhere.
  environment: 430,
  // 2026-11-28: what a fault does to a request and its answer came from http and chat; what a hold does, from http.
  // 2026-11-29: 60 for answers that are lost after the effect, and the Idempotency-Key that finds them.
  // 2026-11-29: 280 for what a hostile model says: tools without end, a planted call, a canary.
  faults: 1120,
  holds: 620,
  http: 3300,
  // 2026-11-29: which repairs a row offers, the runs of requests in flight, and pictures as they are.
  // 2026-11-29: 60 for the sessions of requests, by which tokens can be told apart.
  journal: 2180,
  keys: 700,
  limits: 400,
  mcp: 2070,
  openapi: 1200,
  outgoing: 250,
  // 2026-11-29: the generated OpenAPI document is gone; 20 more for what tests take from the run of exec. The user's own paths came from endpoints.
  // 2026-11-29: 20 for refusing replies of MCP that could not be sent, 10 for noting what is saved.
  // 2026-11-29: 10 for the pace of single models in the situation, and the caller of a path that nobody answers.
  // 2026-11-29: 10 for faults of sessions.
  platform: 3070,
  // 2026-11-28: what tests use prompts for, apart from recordings.
  // Following tests came from platform.
  // 2026-11-29: 20 for knowing its own file, which is kept up to date because it is there, in place of an option.
  prompts: 600,
  // 2026-11-28: 300 more for HAR files of Polly and Playwright, and for naming files of other tools; 950 more for recordings
  // that know their tests, receipts that can be joined, repair, and what is said on the day of recording.
  // The recordings of a process came from platform.
  recordings: 6730,
  // 2026-11-28: secrets by their names in any text, known ones in any mix of escapes, and streams of any API in pieces.
  redact: 2020,
  // 2026-11-28: repairs computed in the server, which the page had before.
  // 2026-11-29: 190 for what a save changes.
  repairs: 680,
  replies: 6890,
  resources: 1140,
  // 2026-11-28: new; what the processes of a run tell each other.
  run: 260,
  scopes: 240,
  situation: 200,
  state: 1290,
  // 2026-11-28: 200 more for ID tokens of other providers, and for phone numbers that are off. Keys have 100 less.
  // 2026-11-29: 120 for what faults do to sessions: used tokens, a new key, a clock that is ahead.
  supabase: 5780,
  // 2026-11-28: 1,600 were planned. Embedding, aggregates and spreads as the client's own tests ask, and folders and servers beside PGlite's memory, take the rest.
  // 2026-11-29: 10 for the schemas of config.toml, in place of an option.
  tables: 3270,
  // 2026-11-28: 90 more for the names of variables that a project uses, and for rows of tables.
  // 2026-11-28: 130 for taking part in the run of exec, and reporting to it.
  // 2026-11-29: 180 for which tools an agent has called; 20 for what became of a test; 300 less for one client in place of two.
  testing: 2850,
}

/** Files that may import from a folder of their own floor: the folder holds the rest of them. */
const sameFloor: Readonly<Record<string, string>> = { 'cli.ts': 'cli', 'platform.ts': 'platform' }

/** The files that may import each package, or folders with a trailing slash. */
const importersOf: Readonly<Record<string, readonly string[]>> = {
  express: ['http/', 'control/', 'dashboard/'],
  'http-proxy-middleware': ['http/proxy/middleware-client.ts'],
  undici: [
    'outgoing/dispatcher.ts',
    'http/proxy/live-client.ts',
    'supabase/callers.ts',
    'cli/drift.ts',
    'cli/ready.ts',
    'contract/target.ts',
  ],
  jose: ['supabase/tokens.ts'],
  dotenv: ['environment/dot-env.ts'],
  yaml: ['check/'],
  '@faker-js/faker': ['replies/fake.ts'],
  tinyglobby: ['replies/load.ts'],
  liquidjs: ['replies/templates/'],
  '@cfworker/json-schema': ['check/json-schema.ts'],
  randexp: ['replies/structured/'],
  'safe-regex2': ['check/endless.ts'],
  // The dashboard's page, which is a separate bundle.
  preact: ['dashboard/page/'],
  'eventsource-parser': ['dashboard/page/'],
  'jsonc-parser': ['check/json-places.ts'],
  'lru-cache': ['recordings/', 'chat/tokens/'],
  pg: ['state/postgres.ts', 'tables/engine.ts'],
  'gpt-tokenizer': ['chat/tokens/'],
  'prom-client': ['journal/metrics.ts'],
  '@redocly/openapi-core': ['openapi/'],
  'fastest-levenshtein': ['check/suggest.ts'],
  'pretty-bytes': ['cli/output.ts'],
  'pretty-ms': ['cli/output.ts'],
  // Installed by the user, and only needed with this entry point.
  '@electric-sql/pglite': ['tables/pglite-worker.ts'],
  vitest: ['vitest.ts'],
  '@playwright/test': ['playwright.ts', 'testing/browser-session.ts'],
  // Types only.
  expect: ['jest.ts'],
  '@valibot/to-json-schema': ['check/form-schema.ts'],
  // Describes requests, options and rules.
  valibot: [
    'control/',
    'check/',
    'core/',
    'chat/',
    'platform/config/',
    'replies/',
    'recordings/',
    'prompts/',
    'journal/',
    'contract/',
    'testing/',
    'keys/',
    'supabase/',
    'resources/',
    'tables/',
    'dashboard/',
    'http/',
    'limits/',
    'mcp/',
    'run/',
    'openapi/',
    'endpoints/',
    'holds/',
    'scopes/',
    'environment/names.ts',
    'repairs/',
  ],
}

/** Parts that others import only through index.ts or operations.ts. */
const partsWithIndex: readonly string[] = ['replies', 'limits', 'recordings', 'journal']

/** Further entry points, for what is useful without the rest of a part. */
const otherEntries: readonly string[] = [
  'journal/curl.ts',
  'journal/filter.ts',
  'journal/metrics.ts',
  'recordings/part.ts',
  'recordings/process.ts',
]

const namesThatSayNothing = new Set(['utils', 'helpers', 'common', 'lib', 'manager', 'data', 'misc', 'types'])

interface Import {
  readonly file: string
  /** As it is written. */
  readonly name: string
}

/** Every broken rule, as one sentence each; `dependencies` are those of package.json. */
export function violations(sources: readonly Source[], dependencies: readonly string[]): readonly string[] {
  const imports = sources.flatMap(importsOf)
  return [
    ...sources.flatMap(opening),
    ...sources.flatMap(({ file }) => naming(file)),
    ...sources.flatMap(({ file }) => (floorOf(file) < 0 ? [`${file} is on no floor.`] : [])),
    ...imports.flatMap(floorRule),
    ...imports.flatMap(indexRule),
    ...imports.flatMap(packageRule),
    ...sources.flatMap(internals),
    ...cycles(sources, imports),
    ...unused(dependencies, imports),
  ]
}

/** Places in `importersOf` that do not import their package, as one sentence each. */
export function unusedPlaces(sources: readonly Source[], allowed = importersOf): readonly string[] {
  const imports = sources.flatMap(importsOf)
  return Object.entries(allowed).flatMap(([name, places]) => {
    const files = imports.filter(imported => packageOf(imported.name) === name).map(({ file }) => file)
    return places
      .filter(place => !files.some(file => isInPlace(file, place)))
      .map(place => `${place} may import ${name}, but does not.`)
  })
}

/** Whether a file is this one, or is in this folder. */
const isInPlace = (file: string, place: string) => (place.endsWith('/') ? file.startsWith(place) : file === place)

interface Node {
  readonly type: string
  readonly source?: unknown
  readonly expression?: unknown
}

/** What each file imports, which both the rules and the weight need. */
const importsBySource = new WeakMap<Source, readonly Import[]>()

/** Static, type-only and dynamic imports, re-exports, and imports inside types. */
function importsOf(source: Source): readonly Import[] {
  const found = importsBySource.get(source) ?? importsIn(source)
  importsBySource.set(source, found)
  return found
}

function importsIn(source: Source): readonly Import[] {
  const { file } = source
  const found: Import[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null) return
    const { type, source, expression } = node as Node
    const from = type === 'TSExternalModuleReference' ? expression : source
    if (typeof from === 'object' && from !== null && 'value' in from) found.push({ file, name: String(from.value) })
    // The target of a computed import cannot be checked, so none is allowed.
    else if (type === 'ImportExpression') found.push({ file, name: '(computed)' })
    Object.values(node).forEach(visit)
  }
  visit(parsed(source).program.body)
  return found
}

/** Parsing takes most of the time, and several rules look at each file. */
const parses = new WeakMap<Source, ReturnType<typeof parseSync>>()

function parsed(source: Source) {
  const { file, text } = source
  const result = parses.get(source) ?? parseSync(file, text, { lang: file.endsWith('.tsx') ? 'tsx' : 'ts' })
  parses.set(source, result)
  if (result.errors.length > 0) throw new SyntaxError(`${file}: ${result.errors[0]?.message}`)
  return result
}

const isOurs = (name: string) => name.startsWith('.')

/** The file inside src/ that a relative import refers to. */
const target = ({ file, name }: Import) => path.join(path.dirname(file), name).replace(/\.js(x?)$/, '.ts$1')

/** The page is a program of its own, for browsers. */
const PAGE = 'dashboard/page'

/** The folder or file of src/ itself that a file belongs to, or the page. */
export const part = (file: string) => (file.startsWith(PAGE) ? PAGE : (file.split('/', 1)[0] ?? file))

const floorOf = (file: string) => floors.findIndex(floor => floor.includes(part(file)))

function floorRule(imported: Import): readonly string[] {
  const { file, name } = imported
  if (!isOurs(name)) return []
  const to = target(imported)
  if (part(to) === '..') return [`${file} imports ${name}, which is outside of src.`]
  const [own, other] = [floorOf(file), floorOf(to)]
  if (own < 0 || other < 0) return []
  if (other > own) return [`${file} imports ${name}: up, from floor ${own} to floor ${other}.`]
  if (other < own || part(file) === part(to) || sameFloor[part(file)] === part(to)) return []
  return [`${file} imports ${name}: sideways, from ${part(file)} to ${part(to)}.`]
}

function indexRule(imported: Import): readonly string[] {
  const { file, name } = imported
  if (!isOurs(name)) return []
  const to = target(imported)
  const inside = part(to)
  // Operations are loaded with the control API, which is later than the rest of a part.
  const entries = [`${inside}/index.ts`, `${inside}/operations.ts`, `${inside}/options.ts`, ...otherEntries]
  if (part(file) === inside || !partsWithIndex.includes(inside) || entries.includes(to) || to.endsWith('.json'))
    return []
  return [`${file} imports ${name}: only ${inside}/index.ts and ${inside}/operations.ts may be imported from outside.`]
}

/** `@faker-js/faker` of `@faker-js/faker/locale/en`. */
const packageOf = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

function packageRule({ file, name }: Import): readonly string[] {
  if (isOurs(name) || (name.startsWith('node:') && isBuiltin(name))) return []
  const allowed = importersOf[packageOf(name)]
  if (!allowed) return [`${file} imports ${name}, which no file may import.`]
  if (allowed.some(place => isInPlace(file, place))) return []
  return [`${file} imports ${name}, which only ${allowed.join(', ')} may import.`]
}

/** Members that only the source of Node knows, and ways to change objects and classes that are not ours. */
const internalMembers = new Set(['setPrototypeOf', '__proto__', 'binding', 'chunkedEncoding'])
/** Fields that a protocol or a format has defined with an underscore. */
const documentedUnderscores: Readonly<Record<string, readonly string[]>> = {
  'the Model Context Protocol': ['_meta'],
  'HAR of browsers, Playwright and Polly': ['_error', '_resourceType', '_file', '_isBinary'],
  'queries of json-server': ['_sort', '_order', '_page', '_limit'],
  'the types of @cfworker/json-schema': ['__absolute_ref__'],
}
const allowedUnderscores = new Set(Object.values(documentedUnderscores).flat())
/** What objects of Node are called here. Their methods are not replaced. */
const objectsOfNode = /^(request|response|req|res|socket|server|client|upstream)$/

const isInternal = (name: string) => internalMembers.has(name) || (/^_\w/.test(name) && !allowedUnderscores.has(name))

interface Member {
  readonly type: string
  readonly computed?: boolean
  readonly key?: Named
  readonly property?: Named
  readonly object?: Named
  readonly left?: Member
  readonly right?: Named
}

interface Named {
  readonly type: string
  readonly name?: string
}

/** The name that a node uses as a member, in an access, a pattern, a class or a type. */
function memberName({ type, computed, key, property }: Member): string | undefined {
  if (computed) return undefined
  if (type === 'MemberExpression') return property?.name
  return key && /Property|MethodDefinition|TSMethodSignature/.test(type) ? key.name : undefined
}

/** Only what Node and packages document may be used. */
function internals(source: Source): readonly string[] {
  const found = new Set<string>()
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null) return
    const member = node as Member
    const name = memberName(member)
    if (name === 'parser' && objectsOfNode.test(member.object?.name ?? ''))
      found.add(`${source.file} uses the parser of ${member.object?.name}, which is internal.`)
    if (name !== undefined && isInternal(name)) found.add(`${source.file} uses ${name}, which is internal.`)
    const { type, left, right } = member
    const isFunction = /^(Arrow)?Function/.test(right?.type ?? '')
    if (type === 'AssignmentExpression' && isFunction && objectsOfNode.test(left?.object?.name ?? ''))
      found.add(`${source.file} replaces ${left?.property?.name} of ${left?.object?.name}.`)
    Object.values(node).forEach(visit)
  }
  visit(parsed(source).program.body)
  return [...found]
}

/** Type imports count too: a reader goes round in circles all the same. */
function cycles(sources: readonly Source[], imports: readonly Import[]): readonly string[] {
  const found: string[] = []
  const done = new Set<string>()
  const walk = (file: string, above: readonly string[]): void => {
    const seenAt = above.indexOf(file)
    if (seenAt >= 0) found.push(`${[...above.slice(seenAt), file].join(' imports ')}: a cycle.`)
    if (seenAt >= 0 || done.has(file)) return
    const next = imports.filter(imported => imported.file === file && isOurs(imported.name)).map(target)
    for (const to of new Set(next)) walk(to, [...above, file])
    done.add(file)
  }
  for (const { file } of sources) walk(file, [])
  return found
}

function opening(source: Source): readonly string[] {
  const { file, text } = source
  const { program, comments } = parsed(source)
  const hashbang = program.hashbang?.end ?? 0
  const [first] = comments
  const opens = first?.value.startsWith('*') && text.slice(hashbang, first.start).trim() === ''
  const sentence = first?.value.replace(/^[\s*]+|[\s*]+$/g, '') ?? ''
  return opens && /^\S.*[.!?]$/s.test(sentence) ? [] : [`${file} does not open with a comment of one sentence.`]
}

function naming(file: string): readonly string[] {
  const empty = file.split('/').find(name => namesThatSayNothing.has(name.split('.', 1)[0] ?? ''))
  return empty === undefined ? [] : [`${file}: the name ${empty} says nothing.`]
}

function unused(dependencies: readonly string[], imports: readonly Import[]): readonly string[] {
  const used = new Set(imports.map(({ name }) => packageOf(name)))
  return dependencies.filter(name => !used.has(name)).map(name => `package.json depends on ${name}, which is not used.`)
}

/** A file with fewer lines that only its neighbour imports belongs in that neighbour. */
const CRUMB = 40

/** What a small file says in its opening comment when it is separate on purpose. */
const ownFile = /\ba[\s*]+separate file/i

/** Needless weight in the source, as one sentence each. */
export function weightOf(
  sources: readonly Source[],
  linesOf: Readonly<Record<string, number>> = {},
): readonly string[] {
  const importers = new Map<string, Set<string>>()
  for (const imported of sources.flatMap(importsOf).filter(({ name }) => isOurs(name))) {
    const to = target(imported)
    importers.set(to, (importers.get(to) ?? new Set()).add(imported.file))
  }
  const whoImports = (file: string) => [...(importers.get(file) ?? [])]
  return [
    ...typesOfOneName(sources),
    ...crowdedCore(sources),
    ...overBudget(sources, linesOf),
    ...sources.flatMap(({ file }) => ofOneFolder(file, whoImports(file))),
    ...sources.flatMap(source => crumb(source, whoImports(source.file))),
    ...sources.flatMap(longFunctions),
  ]
}

/** A type name must be unambiguous to the reader. */
function typesOfOneName(sources: readonly Source[]): readonly string[] {
  const files = new Map<string, string[]>()
  for (const source of sources)
    for (const name of exportedTypes(source)) files.set(name, [...(files.get(name) ?? []), source.file])
  return [...files]
    .filter(([, declared]) => declared.length > 1)
    .map(([name, declared]) => `The type ${name} is declared in ${declared.join(' and ')}.`)
}

const exportedTypes = (source: Source): readonly string[] =>
  parsed(source).program.body.flatMap(statement => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null
    const isType = /^(TSInterface|TSTypeAlias|Class)Declaration$/.test(declared?.type ?? '')
    return isType && declared && 'id' in declared && declared.id && 'name' in declared.id ? [declared.id.name] : []
  })

/** As many as a reader can learn on the first day. 2026-11-28: two more, for what is between an answer and its client, and for the life of a part. 2026-11-29: two for operations and their client. */
const MOST_IN_CORE = 19

function crowdedCore(sources: readonly Source[]): readonly string[] {
  const count = sources.filter(({ file }) => part(file) === 'core').length
  return count > MOST_IN_CORE ? [`core/ has ${count} files; at most ${MOST_IN_CORE}.`] : []
}

/** A folder that grows says what goes out for it, or a reviewer raises its budget. */
const overBudget = (sources: readonly Source[], linesOf: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(linesOf).flatMap(([folder, most]) => {
    const lines = sources
      .filter(({ file }) => part(file) === folder)
      .reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
    return lines > most ? [`${folder}/ has ${lines} lines, and its budget is ${most}.`] : []
  })

/** A file in core/ is for several folders. */
function ofOneFolder(file: string, importers: readonly string[]): readonly string[] {
  // A file beside its folder, such as platform.ts, counts as a part of it.
  const users = importers.map(importer => sameFloor[part(importer)] ?? part(importer))
  const folders = [...new Set(users)].filter(folder => folder !== 'core')
  if (part(file) !== 'core' || folders.length > 1) return []
  return [folders.length === 0 ? `${file} is used by no folder.` : `${file} is used by ${folders[0]} alone.`]
}

function crumb(source: Source, importers: readonly string[]): readonly string[] {
  const { file, text } = source
  const [only] = importers
  const isNeighbour = importers.length === 1 && path.dirname(only ?? '') === path.dirname(file)
  if (!isNeighbour || text.trimEnd().split('\n').length >= CRUMB) return []
  if (ownFile.test(parsed(source).comments[0]?.value ?? '')) return []
  return [
    `${file} is short, and only ${only} imports it. Merge them, or let its first comment say why it is a separate file.`,
  ]
}

/** Longer functions do not fit on a screen. */
const MOST_LINES = 60

/** What the comment directly above a longer function says. */
const longReason = /\blong because\b/i

function longFunctions(source: Source): readonly string[] {
  const { file, text } = source
  const { program, comments } = parsed(source)
  const lineAt = (position: number) => text.slice(0, position).split('\n').length
  const reasons = comments.filter(({ value }) => longReason.test(value)).map(({ end }) => lineAt(end))
  return functionsIn(program.body).flatMap(({ start, end }) => {
    const [first, last] = [lineAt(start), lineAt(end)]
    const lines = last - first + 1
    if (lines <= MOST_LINES || reasons.includes(first - 1)) return []
    return [`${file}:${first} is a function of ${lines} lines; say above it "Long because …", or split it.`]
  })
}

interface FunctionNode {
  readonly start: number
  readonly end: number
}

/** All functions in a tree, also those inside of others. */
function functionsIn(node: unknown): readonly FunctionNode[] {
  if (Array.isArray(node)) return node.flatMap(functionsIn)
  if (typeof node !== 'object' || node === null) return []
  const { type } = node as Node
  const isFunction = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type)
  return [...(isFunction ? [node as unknown as FunctionNode] : []), ...Object.values(node).flatMap(functionsIn)]
}

/** The regular expressions of a file. */
export function expressionsOf(source: Source): readonly RegExp[] {
  const found: RegExp[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null) return
    const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } }
    if (regex) found.push(new RegExp(regex.pattern, regex.flags))
    else Object.values(node).forEach(visit)
  }
  visit(parsed(source).program.body)
  return found
}
