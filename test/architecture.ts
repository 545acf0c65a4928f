/** The floors of the house and the doors of its packages, as rules over source files. */
import { isBuiltin } from 'node:module'
import path from 'node:path/posix'
import { parseSync } from 'rolldown/utils'

/** A source file: its path inside src/, and what is in it. */
export interface Source {
  readonly file: string
  readonly text: string
}

/** From the ground up. Folders and files of one floor are strangers to one another. */
const floors: readonly (readonly string[])[] = [
  ['check'],
  ['core'],
  ['redact', 'completions', 'rpc'],
  // What operations are, for the parts that declare theirs.
  ['api'],
  ['config', 'keys', 'replies', 'journal', 'state', 'limits', 'faults', 'recordings', 'metrics', 'contract'],
  ['platform-api', 'supabase', 'mcp', 'resources', 'openapi'],
  ['http'],
  ['dashboard', 'version.ts', 'compiled.ts'],
  ['platform.ts', 'platform'],
  ['testing', 'page'],
  ['index.ts', 'vitest.ts', 'jest.ts', 'test-runner.ts', 'worker.ts', 'cli.ts', 'cli'],
]

/** What is one thing in two parts: where it begins, and the folder of the rest. */
const sameFloor: Readonly<Record<string, string>> = { 'cli.ts': 'cli', 'platform.ts': 'platform' }

/** Where each package comes in: files, or folders with a slash at their end. */
const doors: Readonly<Record<string, readonly string[]>> = {
  express: ['http/', 'dashboard/'],
  'http-proxy-middleware': ['http/proxy/engine.ts'],
  jose: ['supabase/tokens.ts'],
  yaml: ['check/'],
  '@faker-js/faker': ['replies/fake.ts'],
  tinyglobby: ['replies/load.ts'],
  liquidjs: ['replies/templates/'],
  '@cfworker/json-schema': ['check/json-schema.ts'],
  randexp: ['replies/structured/'],
  'fastest-levenshtein': ['check/suggest.ts'],
  // The dashboard's page, which is a bundle of its own.
  preact: ['page/'],
  '@codemirror/autocomplete': ['page/editor/'],
  '@codemirror/commands': ['page/editor/'],
  '@codemirror/lang-yaml': ['page/editor/'],
  '@codemirror/language': ['page/editor/'],
  '@codemirror/lint': ['page/editor/'],
  '@codemirror/state': ['page/editor/'],
  '@codemirror/view': ['page/editor/'],
  '@lezer/highlight': ['page/editor/'],
  'eventsource-parser': ['page/'],
  'jsonc-parser': ['page/playground/settings.ts', 'check/json-places.ts'],
  '@supabase/auth-js': ['page/session/auth-client.ts', 'cli/login.ts'],
  // The three of the state: what both databases are asked with, and the two databases.
  'lru-cache': ['recordings/', 'completions/tokens/', 'supabase/', 'keys/', 'faults/'],
  kysely: ['state/'],
  libsql: ['state/sqlite.ts'],
  pg: ['state/postgres.ts', 'state/postgres-trouble.ts', 'state/notifications.ts'],
  'hash-wasm': ['supabase/passwords.ts'],
  'gpt-tokenizer': ['completions/tokens/'],
  'prom-client': ['metrics/exposition.ts'],
  '@redocly/openapi-core': ['openapi/'],
  picocolors: ['cli/output.ts'],
  'fast-string-truncated-width': ['cli/format.ts'],
  'fast-wrap-ansi': ['cli/format.ts'],
  'pretty-bytes': ['cli/format.ts'],
  'pretty-ms': ['cli/format.ts'],
  // The user's own, needed only by those who import this entry point.
  vitest: ['vitest.ts'],
  // Its types alone.
  expect: ['jest.ts'],
  '@valibot/to-json-schema': ['config/json-schema.ts'],
  // The language in which requests, options and rules say what they are.
  valibot: [
    'api/',
    'check/',
    'core/',
    'completions/',
    'config/',
    'replies/',
    'recordings/',
    'journal/',
    'contract/',
    'testing/',
    'keys/',
    'supabase/',
    'resources/',
    'state/',
    'dashboard/',
    'http/',
  ],
}

/** Parts that are entered through their index.ts only. */
const withFrontDoor: readonly string[] = ['replies', 'state', 'limits', 'faults', 'recordings', 'journal', 'metrics']

/** Entries beside index.ts, for what is wanted without the rest of a part. */
const sideDoors: readonly string[] = ['journal/curl.ts', 'journal/filter.ts']

const namesThatSayNothing = new Set(['utils', 'helpers', 'common', 'lib', 'manager', 'data', 'misc', 'types'])

interface Import {
  readonly file: string
  /** As it is written. */
  readonly name: string
}

/** Everything that is wrong with the house, a sentence each; `dependencies` are those of package.json. */
export function violations(sources: readonly Source[], dependencies: readonly string[]): readonly string[] {
  const imports = sources.flatMap(importsOf)
  return [
    ...sources.flatMap(opening),
    ...sources.flatMap(({ file }) => naming(file)),
    ...sources.flatMap(({ file }) => (floorOf(file) < 0 ? [`${file} is on no floor.`] : [])),
    ...imports.flatMap(staircase),
    ...imports.flatMap(frontDoor),
    ...imports.flatMap(packageDoor),
    ...cycles(sources, imports),
    ...unused(dependencies, imports),
  ]
}

interface Node {
  readonly type: string
  readonly source?: unknown
  readonly expression?: unknown
}

/** What each file imports: both the rules and the weight ask for it. */
const importsBySource = new WeakMap<Source, readonly Import[]>()

/** Static, type-only and dynamic imports, re-exports, and types that import in their midst. */
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
    // Where a computed import leads cannot be checked, so none is allowed.
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

/** The file inside src/ that a relative import means. */
const target = ({ file, name }: Import) => path.join(path.dirname(file), name).replace(/\.js(x?)$/, '.ts$1')

/** The folder or file of src/ itself that a file belongs to. */
const part = (file: string) => file.split('/', 1)[0] ?? file

const floorOf = (file: string) => floors.findIndex(floor => floor.includes(part(file)))

function staircase(imported: Import): readonly string[] {
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

function frontDoor(imported: Import): readonly string[] {
  const { file, name } = imported
  if (!isOurs(name)) return []
  const to = target(imported)
  const inside = part(to)
  // Operations are loaded with the control API, which is later than the rest of a part.
  const entries = [`${inside}/index.ts`, `${inside}/operations.ts`, ...sideDoors]
  if (part(file) === inside || !withFrontDoor.includes(inside) || entries.includes(to) || to.endsWith('.json'))
    return []
  return [`${file} imports ${name}: ${inside} is entered through ${inside}/index.ts or ${inside}/operations.ts only.`]
}

/** `@faker-js/faker` of `@faker-js/faker/locale/en`. */
const packageOf = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

function packageDoor({ file, name }: Import): readonly string[] {
  if (isOurs(name) || (name.startsWith('node:') && isBuiltin(name))) return []
  const allowed = doors[packageOf(name)]
  if (!allowed) return [`${file} imports ${name}, for which there is no door.`]
  if (allowed.some(door => (door.endsWith('/') ? file.startsWith(door) : file === door))) return []
  return [`${file} imports ${name}: a second door. It comes in through ${allowed.join(', ')}.`]
}

/** Imports of types count: a reader goes round in circles all the same. */
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

/** A file of fewer lines that only its neighbour imports is a part of that neighbour. */
const CRUMB = 40

/** How a small file says that it is one on purpose, in its opening comment. */
const ownFile = /\ba[\s*]+separate file/i

/** What makes the source heavier than it has to be, a sentence each. */
export function weightOf(sources: readonly Source[]): readonly string[] {
  const importers = new Map<string, Set<string>>()
  for (const imported of sources.flatMap(importsOf).filter(({ name }) => isOurs(name))) {
    const to = target(imported)
    importers.set(to, (importers.get(to) ?? new Set()).add(imported.file))
  }
  const whoImports = (file: string) => [...(importers.get(file) ?? [])]
  return [
    ...typesOfOneName(sources),
    ...crowdedCore(sources),
    ...sources.flatMap(({ file }) => ofOneFolder(file, whoImports(file))),
    ...sources.flatMap(source => crumb(source, whoImports(source.file))),
  ]
}

/** A reader who meets a type has to know which one it is. */
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

/** More than a reader can learn on the first day. */
const MOST_IN_CORE = 15

function crowdedCore(sources: readonly Source[]): readonly string[] {
  const count = sources.filter(({ file }) => part(file) === 'core').length
  return count > MOST_IN_CORE ? [`core/ has ${count} files; at most ${MOST_IN_CORE}.`] : []
}

/** What core/ has is spoken of in several folders. */
function ofOneFolder(file: string, importers: readonly string[]): readonly string[] {
  const folders = new Set(importers.map(part).filter(folder => folder !== 'core'))
  if (part(file) !== 'core' || folders.size !== 1) return []
  return [`${file} is used by ${[...folders][0]} alone.`]
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
