/** Reads OpenAPI documents and the files that they refer to, and words what is wrong with them. */
import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  BaseResolver,
  bundleDocument,
  createConfig,
  type Document,
  detectSpec,
  getLineColLocation,
  getTypes,
  lintDocument,
  ResolveError,
  type Source,
  YamlParseError,
} from '@redocly/openapi-core'
import { type Path, pathInWords, valueAt } from '../check/check.js'
import { isText, NOT_UTF8, type Problem, unreadable } from '../check/problem.js'
import { readYaml } from '../check/yaml.js'
import { pointerSteps } from './schemas.js'

/** A document to read. All names are absolute. */
export interface ReadInput {
  readonly file: string
  /** Problems name files relative to this folder. */
  readonly dir: string
  /** The folders from which the document may include files. */
  readonly folders: readonly string[]
}

/** A document with all other files included, or its problems. */
type ReadOutput = (
  | { readonly problems: readonly Problem[] }
  | {
      readonly document: ReadonlyDocument
      /** Problems that do not prevent the use of the document. */
      readonly warnings: readonly Problem[]
    }
) & {
  readonly files: readonly string[]
}

const MOST_PROBLEMS = 20

export async function readDocument({ file, dir, folders }: ReadInput): Promise<ReadOutput> {
  const resolver = new LocalResolver(folders, dir)
  const read = await readWith(resolver, file).catch(error => ({ problems: [problemOf(error, file, resolver)] }))
  return { ...read, files: [...resolver.getFiles()] }
}

async function readWith(resolver: LocalResolver, file: string) {
  const config = await createConfig({ rules: { struct: 'error', 'no-unresolved-refs': 'error' } })
  const document = await rootOf(resolver, file)
  if ('problems' in document) return document
  const all = await lintDocument({ document, config, externalRefResolver: resolver })
  const found = all.filter(
    ({ location: [at], message }) => !isSchemaName(at?.pointer) && !message.includes('`function`'),
  )
  const { misplaced, others } = await byReference(found, resolver)
  const fatal = others.filter(problem => !isHarmless(problem, file))
  const sentences = (some: readonly LintProblem[], most: number) =>
    Promise.all(some.slice(0, most).map(one => problemAt(one, resolver)))
  if (fatal.length > 0) return { problems: listedProblems(await sentences(fatal, MOST_PROBLEMS), fatal.length) }
  const types = getTypes(detectSpec(document.parsed))
  const { bundle } = await bundleDocument({ document, config, externalRefResolver: resolver, types })
  return {
    document: bundle.parsed as ReadonlyDocument,
    warnings: listedProblems(
      [...misplaced, ...(await sentences(others, 1))].slice(0, 1),
      misplaced.length + others.length,
    ),
  }
}

type ReadonlyDocument = Readonly<Record<string, unknown>>
type LintProblem = Awaited<ReturnType<typeof lintDocument>>[number]

async function problemAt(problem: LintProblem, resolver: LocalResolver): Promise<Problem> {
  const [location] = problem.location
  if (!location) return { origin: '', sentence: problem.message }
  const { parsed, ...place } = await placeOf(location, resolver)
  return { ...place, sentence: sentenceOf(problem, location.pointer ?? '', parsed) }
}

async function placeOf(location: LintProblem['location'][number], resolver: LocalResolver) {
  const { source, start } = getLineColLocation(location)
  const document = await resolver.resolveDocument(null, source.absoluteRef)
  const parsed: unknown = document instanceof Error ? undefined : document.parsed
  return { origin: resolver.shortName(source.absoluteRef), line: start.line, column: start.col, parsed }
}

/**
 * Separates the references to something of another kind, such as a schema that refers to a response. The problems that
 * were found at their targets are not mistakes there.
 */
async function byReference(found: readonly LintProblem[], resolver: LocalResolver) {
  const misplaced = new Map<string, Problem>()
  const others: LintProblem[] = []
  for (const problem of found) {
    const { from } = problem
    const wrong = from && (await wrongReference(from, resolver))
    if (wrong) misplaced.set(`${from.source.absoluteRef}${from.pointer}`, wrong)
    else others.push(problem)
  }
  return { misplaced: [...misplaced.values()], others }
}

async function wrongReference(from: NonNullable<LintProblem['from']>, resolver: LocalResolver) {
  const { parsed, ...place } = await placeOf(from, resolver)
  const path = pathIn(parsed, from.pointer ?? '')
  const { $ref } = (valueAt(parsed, path) ?? {}) as { readonly $ref?: unknown }
  const kind = kindAt(from.pointer)
  const referred = kindAt(String($ref).replace(/^[^#]*/, ''))
  if (kind === undefined || referred === undefined || kind === referred) return undefined
  return {
    ...place,
    sentence: `${pathInWords([...path, '$ref'])} refers to ${article(referred)}, not to ${article(kind)}.`,
  }
}

const kinds = [
  [/^#\/components\/schemas\/|\/schema(\/|$)/, 'schema'],
  [/\/responses\/[^/]+$/, 'response'],
  [/\/parameters\/[^/]+$/, 'parameter'],
  [/\/headers\/[^/]+$/, 'header'],
  [/\/examples\/[^/]+$/, 'example'],
  [/\/(requestBody|requestBodies\/[^/]+)$/, 'request body'],
  [/^#\/(paths|components\/pathItems)\/[^/]+$/, 'path'],
] as const

/** What is at a place of a document; `undefined` if the pointer does not tell. */
const kindAt = (pointer = '') => kinds.find(([pattern]) => pattern.test(pointer))?.[1]

function listedProblems(problems: readonly Problem[], count: number): readonly Problem[] {
  const last = problems.at(-1)
  if (!last || count === problems.length) return problems
  const others = count - problems.length
  const more = others === 1 ? ' There is one more mistake.' : ` There are ${others} more mistakes.`
  return [...problems.slice(0, -1), { ...last, sentence: last.sentence + more }]
}

/** The document itself, if it is an OpenAPI 3 document. */
async function rootOf(resolver: LocalResolver, file: string) {
  const document = await resolver.resolveDocument(null, file, true)
  if (document instanceof Error) throw document
  const sentence = versionProblem(document.parsed)
  if (sentence === undefined) return document as Document
  return { problems: [{ origin: resolver.shortName(file), line: 1, column: 1, sentence }] }
}

function versionProblem(parsed: unknown): string | undefined {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return 'The file must be an OpenAPI document: a map with the key openapi, such as openapi: 3.1.0.'
  const { openapi, swagger } = parsed as { readonly openapi?: unknown; readonly swagger?: unknown }
  if (swagger !== undefined)
    return `This is a document of Swagger ${String(swagger)}. Convert it to OpenAPI 3 first, such as with npx swagger2openapi.`
  if (openapi === undefined) return 'openapi is missing. It must be the version of OpenAPI, such as 3.1.0.'
  if (typeof openapi === 'string' && /^3\.[012]\.\d+/.test(openapi)) return undefined
  return `openapi must be a version from 3.0.0 on, as text, not ${JSON.stringify(openapi)}.`
}

function problemOf(error: unknown, root: string, resolver: LocalResolver): Problem {
  if (error instanceof YamlParseError) {
    const { line, col, source } = error
    const file = source.absoluteRef
    // Its parser has no place for a second document.
    const [better] = Number.isNaN(line) ? readYaml(source.body, resolver.shortName(file)).problems : []
    if (better) return better
    const why = error.message.replace(/ in ".*" \(\d+:\d+\)$/s, '')
    return {
      origin: resolver.shortName(file),
      line,
      column: col,
      sentence: `This is not valid ${/\.json$/i.test(file) ? 'JSON' : 'YAML'}: ${why}.`,
    }
  }
  const origin = resolver.shortName(root)
  if (error instanceof ResolveError && error.message === NOT_UTF8) return { origin, sentence: NOT_UTF8 }
  if (error instanceof ResolveError) return unreadable(origin, error.originalError)
  return { origin, sentence: `cannot be read: ${error instanceof Error ? error.message : String(error)}.` }
}

/** Reads files from the allowed folders only: no URLs, and no other files. */
class LocalResolver extends BaseResolver {
  constructor(
    private readonly folders: readonly string[],
    private readonly dir: string,
  ) {
    super()
  }

  /** The name of a file for problems. */
  shortName(file: string): string {
    return path.relative(this.dir, file) || file
  }

  /** References are URI references (RFC 3986), so `my%20types.yaml` is a file with a space. Many authors write the space. */
  override resolveExternalRef(base: string | null, reference: string): string {
    const asWritten = super.resolveExternalRef(base, reference)
    const isFile = reference.startsWith('file:') || !isUrl(reference)
    if (base === null || !isFile || existsSync(asWritten) || !URL.canParse(reference, pathToFileURL(base).href))
      return asWritten
    try {
      return fileURLToPath(new URL(reference, pathToFileURL(base)))
    } catch {
      // A stray percent sign, or the file of another host.
      return asWritten
    }
  }

  override async loadExternalRef(reference: string): Promise<Source> {
    if (isUrl(reference)) throw refusedReference('is a URL. Save the document beside this one, and refer to the file.')
    if (existsSync(reference) && !this.folders.some(folder => isInside(realpathSync(reference), folder))) {
      const file = this.shortName(reference)
      throw refusedReference(
        `leads to ${file}, which is in another folder. List its folder in the option openapi.folders.`,
      )
    }
    const source = await super.loadExternalRef(reference)
    if (!isText(await readFile(reference))) throw refusedReference(NOT_UTF8)
    return source
  }

  /** Redocly's parser rounds whole numbers of more than 15 digits, which are ids in values that are sent. */
  override parseDocument(source: Source, isRoot?: boolean): Document {
    const document = super.parseDocument(source, isRoot)
    if (!/\d{16}/.test(source.body)) return document
    const { value, problems } = readYaml(source.body, '', { keepDigits: path => path.some(isSentValue) })
    return problems.length > 0 ? document : { ...document, parsed: value }
  }
}

const sentValues: readonly unknown[] = ['example', 'examples', 'default']
const isSentValue = (key: unknown) => sentValues.includes(key)
const isUrl = (reference: string) => /^[a-z][a-z\d+.-]+:/i.test(reference)

const refusedReference = (why: string) => new ResolveError(new Error(why))

const isInside = (file: string, folder: string) =>
  existsSync(folder) && `${file}/`.startsWith(`${realpathSync(folder)}/`.replace('//', '/'))

/**
 * Whether a document can be used despite this problem. Published documents have many in schemas, such as keywords of
 * another version of OpenAPI, and in parts that only describe.
 */
function isHarmless({ ruleId, message, location: [location] }: LintProblem, file: string): boolean {
  if (ruleId !== 'struct') return false
  const { pointer = '', source } = location ?? {}
  if (/^(The field `(description|info)` |Must contain at least one )/.test(message)) return true
  if (source?.absoluteRef !== file) return !/^#\/(paths|components)\//.test(pointer)
  return !/^#\/?($|paths|components)/.test(pointer) || kindAt(pointer) === 'schema' || descriptive.test(pointer)
}

const descriptive =
  /^#\/components\/(links|callbacks|x-[^/]*)|\/(callbacks|links|externalDocs|tags|deprecated|summary)(\/|$)/

/** Whether the value is part of a discriminator's mapping, which can have names of schemas instead of references. */
const isSchemaName = (pointer = ''): boolean => pointer.includes('/discriminator/mapping/')

/** The problem with its place, in Redocly's words. `parsed` is the file that contains it. */
function sentenceOf({ ruleId, message, suggest }: LintProblem, pointer: string, parsed: unknown): string {
  const path = pathIn(parsed, pointer)
  const field = (...more: readonly string[]) => pathInWords([...path, ...more]) || 'the document'
  if (ruleId === 'no-unresolved-refs') {
    const { $ref } = (valueAt(parsed, path) ?? {}) as { readonly $ref?: unknown }
    return `${field('$ref')} ${JSON.stringify($ref)} ${whyUnresolved(message)}`
  }
  return `${field()}: ${message}${suggest[0] ? ` Did you mean "${suggest[0]}"?` : ''}`
}

const article = (kind: string) => (/^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`)

function whyUnresolved(message: string): string {
  const why = message.replace(/^Can't resolve \$ref(: )?/, '')
  if (why === '') return 'refers to something that does not exist.'
  if (/^(is|leads) /.test(why)) return why
  const [, file] = /ENOENT: no such file or directory '(.*)'/.exec(why) ?? []
  return file === undefined ? `cannot be read: ${why}.` : 'refers to a file that does not exist.'
}

/** The segments of a JSON pointer; list items by their index. */
function pathIn(parsed: unknown, pointer: string): Path {
  let value = parsed
  return pointerSteps(pointer).map(step => {
    const key = Array.isArray(value) ? Number(step) : step
    value = valueAt(value, [key])
    return key
  })
}
