/** Reads YAML and remembers the position of each value. With `yaml-items.ts` the only file that imports `yaml`. */
import { isDeepStrictEqual } from 'node:util'
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  type ScalarTag,
  stringify,
  visit,
  type YAMLMap,
  type YAMLParseError,
  type YAMLSeq,
} from 'yaml'
import { stringifyString } from 'yaml/util'
import type { Path } from './check.js'
import { type Problem, ProblemsError, refusedText } from './problem.js'

/** Both count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

export interface YamlFile {
  /** `undefined` if the file is not valid YAML. */
  readonly value: unknown
  readonly problems: readonly Problem[]
  /**
   * The position of the value at `path`, or of the nearest existing parent. For a key in the file, the position of the
   * key.
   */
  locate(path: Path): Position
  /** The paths of the texts that `replaceText` changed. */
  readonly replaced: readonly Path[]
}

/** Changes texts that contain a `$`. If it throws an Error, the message becomes a problem at that position. */
type ReplaceText = (text: string) => string

interface Reading {
  readonly replaceText?: ReplaceText
  /** Whether whole numbers that are too long for a number become BigInts, everywhere or at some paths. */
  readonly keepDigits?: boolean | ((path: Path) => boolean)
}

/** Of a file that Git could not merge. */
export const CONFLICT = "has Git's conflict markers. Solve them first."
const marker = /^<{7} /m

/** Whether a text has them. */
export const hasConflict = (text: string): boolean => text.includes('<<<<<<< ') && marker.test(text)

/** Parses YAML. Never throws for mistakes in the file, which are in `problems`. */
export function readYaml(written: string, origin: string, { replaceText, keepDigits = false }: Reading = {}): YamlFile {
  // Editors on Windows write a byte order mark, which would count as indentation of the first line.
  const text = written.replace(/^\ufeff/, '')
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
    logLevel: 'error',
    intAsBigInt: keepDigits !== false,
  })
  const positionAt = (offset: number): Position => {
    const { line, col: column } = lines.linePos(offset)
    return { line, column }
  }
  const problemAt = (node: unknown, sentence: string): Problem => ({ origin, ...positionAt(offsetOf(node)), sentence })
  const conflict = text.includes('<<<<<<< ') ? marker.exec(text) : null
  const problems: Problem[] = conflict ? [{ origin, ...positionAt(conflict.index), sentence: CONFLICT }] : []
  const mistakes = (conflict ? [] : independentErrors(document.errors)).map(error => {
    const why = error.code === 'DUPLICATE_KEY' ? duplicateKey(document, error.pos[0], lines) : reasonOf(error)
    return { origin, ...positionAt(error.pos[0]), sentence: `This is not valid YAML: ${asSentence(why)}` }
  })
  problems.push(
    ...mistakes,
    ...unsupportedNodes(document, problems.length === 0).map(([node, sentence]) => problemAt(node, sentence)),
  )
  const { replaced, refused } = replaceText && text.includes('$') ? replaceTexts(document, replaceText) : untouched
  if (keepDigits !== false) shortenDigits(document, keepDigits === true ? () => true : keepDigits)

  let value: unknown
  try {
    value = problems.length === 0 ? document.toJS() : undefined
  } catch (error) {
    // Aliases that would expand without limit.
    const why = `This is not usable YAML: ${asSentence((error as Error).message)}`
    problems.push({ origin, line: 1, column: 1, sentence: why })
  }
  problems.push(...refused.map(([node, sentence]) => problemAt(node, sentence)))
  return { value, problems, replaced, locate: path => positionAt(offsetOf(find(document.contents, path))) }
}

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0)

type Mistakes = readonly (readonly [node: unknown, sentence: string])[]

/** Unknown aliases and, with `withKeys`, keys that are maps or lists. */
function unsupportedNodes(document: Document, withKeys: boolean): Mistakes {
  const found: [unknown, string][] = []
  visit(document, {
    Alias(_key, node, ancestors) {
      const target = node.resolve(document)
      // Without its name, which may be a password that begins with a star.
      if (!target) found.push([node, noAnchor])
      else if (ancestors.includes(target)) found.push([node, 'This alias contains itself.'])
    },
    Pair(_key, { key }) {
      if (withKeys && found.length === 0 && (isMap(key) || isSeq(key))) found.push([key, keyWithoutName])
    },
  })
  return found
}

const untouched: { readonly replaced: readonly Path[]; readonly refused: Mistakes } = { replaced: [], refused: [] }

function replaceTexts(document: Document, replaceText: ReplaceText): typeof untouched {
  const replaced: Path[] = []
  const refused: [unknown, string][] = []
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string') return
      try {
        const value = replaceText(node.value)
        if (value === node.value) return
        node.value = value
        replaced.push(pathThrough([...ancestors, node]))
      } catch (error) {
        refused.push([node, (error as Error).message])
        node.value = refusedText
      }
    },
  })
  return { replaced, refused }
}

/** Only numbers that are too long stay BigInts. */
function shortenDigits(document: Document, keeps: (path: Path) => boolean): void {
  visit(document, {
    Scalar(_key, node, ancestors) {
      // The value of a merge key is a symbol, which Number() would not take.
      if (typeof node.value !== 'bigint') return
      const number = Number(node.value)
      if (Number.isSafeInteger(number) || !keeps(pathThrough([...ancestors, node]))) node.value = number
    },
  })
}

// How YAML reads `text: {{user}}`.
const keyWithoutName =
  "A key must be a word, not a map or a list. A text that begins with { or [ must be quoted: '{{user}}'."
const noAnchor = 'The anchor of this alias is not set before it. A text that begins with * must be quoted.'

/** A syntax error causes others after it, so only the first counts. Each duplicate key is an error of its own. */
function independentErrors(errors: readonly YAMLParseError[]): readonly YAMLParseError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY')
  return errors.filter(error => error.code === 'DUPLICATE_KEY' || error === first)
}

function duplicateKey(document: Document, offset: number, lines: LineCounter): string {
  let sentence = 'A key appears twice.'
  visit(document, {
    Map(_key, { items }) {
      const keys = items.flatMap(({ key }) => (isScalar(key) ? [key] : []))
      const second = keys.find(({ range }) => range?.[0] === offset)
      const first = keys.find(({ value }) => value === second?.value)
      if (!second || !first) return undefined
      const { line } = lines.linePos(first.range?.[0] ?? 0)
      sentence = `The key ${JSON.stringify(String(second.value))} appears twice, first on line ${line}. Remove one of them.`
      return visit.BREAK
    },
  })
  return sentence
}

/** The library's message without quotes from the file, which may be secret. */
function reasonOf({ code, message }: YAMLParseError): string {
  if (code === 'MULTIPLE_DOCS') return 'A second document begins here; only one is read.'
  const why = message
    .replace(/( in YAML stream)?: .*$/s, '')
    .replace(/(escape sequence|reserved character|unexpected) .*$/s, '$1')
  const remedy = remedies.find(([pattern]) => pattern.test(why))?.[1]
  return remedy === undefined ? why : `${asSentence(why)} ${remedy}`
}

/** What the author probably meant. */
const remedies = [
  [/^Invalid escape sequence/, "Inside single quotes a backslash is an ordinary character, as in '/\\d+/'."],
  [/^Nested mappings are not allowed/, 'A text that contains a colon must be quoted.'],
  [/^Plain value cannot start with/, 'A text that begins with it must be quoted.'],
  [/^Unexpected scalar at node end/, 'Double a quote inside single quotes, and indent lines with spaces.'],
] as const

const asSentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)

/** Follows `path` down from `root`. Returns the last key's node, or the last existing node. */
function find(root: unknown, path: Path): unknown {
  let node: unknown = root
  for (const [depth, step] of path.entries()) {
    if (isMap(node)) {
      const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === String(step))
      if (!pair) return node
      if (depth === path.length - 1) return pair.key
      node = pair.value
    } else if (isSeq(node) && node.items[Number(step)] !== undefined) node = node.items[Number(step)]
    else return node
  }
  return node
}

function pathThrough(chain: readonly unknown[]): Path {
  const path: (string | number)[] = []
  for (const [i, node] of chain.entries()) {
    if (isPair(node)) path.push(String((node.key as Scalar | null)?.value ?? node.key))
    else if (isSeq(node)) path.push(node.items.indexOf(chain[i + 1] as Node))
  }
  return path
}

export const yamlOf = (value: object) => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 })

/** A value as YAML on one line, for people. */
export const inlineYaml = (value: unknown) =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true }).trimEnd()

/** A value as block YAML, as a person would write it. Long texts are not folded. */
export const blockYaml = (value: unknown) => stringify(value, { lineWidth: 0, blockQuote: 'literal' })

/** How the texts of a file are written. */
export interface YamlWriting {
  /** A value as a document of its own. */
  write(value: unknown): string
  /** A text in quotes; all lines but the first begin with `margin`. */
  quote(text: string, margin: string): string
}

/** Another value for a key of a file's map; `undefined` removes it. A new key comes before the one called `before`. */
export interface YamlChange {
  readonly key: string
  readonly value: unknown
  readonly before?: string
}

/**
 * Changes a file whose value is a map, in place: what is the same stays as it is written, and so do comments. New parts are
 * written as `writing` does it. Throws a ProblemsError for a text that is not YAML.
 */
export function yamlWith(text: string, changes: readonly YamlChange[], origin: string, writing: YamlWriting): string {
  const { problems } = readYaml(text, origin)
  if (problems.length > 0) throw new ProblemsError(problems, [origin])
  const options = { keepSourceTokens: true, intAsBigInt: true, customTags: asWritten(writing) } as const
  const document = parseDocument(text, options)
  const parsed = (part: unknown) => parseDocument(writing.write(part), { intAsBigInt: true }).contents as Node
  const { items } = document.contents as unknown as YAMLMap<Scalar, Node>
  for (const { key, value, before } of changes) {
    const index = items.findIndex(pair => pair.key.value === key)
    const pair = items[index]
    if (pair && value !== undefined) pair.value = nodeWith(pair.value ?? undefined, value, parsed)
    else if (pair) items.splice(index, 1)
    else if (value !== undefined)
      items.splice(
        items.findIndex(pair => pair.key.value === before),
        0,
        document.createPair(key, parsed(value)) as never,
      )
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

/** Texts that have not changed are written as they were. */
const asWritten = ({ quote }: YamlWriting): ScalarTag[] => [
  {
    tag: 'tag:yaml.org,2002:str',
    default: true,
    identify: (value: unknown) => typeof value === 'string',
    resolve: (text: string) => text,
    stringify(item, context, onComment, onChompKeep) {
      const { type, value, srcToken } = item as Scalar<string>
      if (type !== Scalar.BLOCK_LITERAL && type !== Scalar.BLOCK_FOLDED) {
        if (srcToken && 'source' in srcToken) return srcToken.source
        if (type === Scalar.QUOTE_DOUBLE) return quote(value, context.indent)
      }
      return stringifyString(item as never, { actualString: true, ...context } as never, onComment, onChompKeep)
    },
  },
]

const plain = (node: unknown): unknown => (isNode(node) ? JSON.parse(exactText(node.toJSON())) : undefined)
const exactText = (value: unknown) =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? `bigint ${item}` : item)) ?? 'null'

/** The node with another value; the same one if it has this value already. */
function nodeWith(node: Node | undefined, value: unknown, parsed: (value: unknown) => Node): Node {
  const fresh = parsed(value)
  if (isDeepStrictEqual(plain(node), plain(fresh))) return node ?? fresh
  if (isMap(node) && isMap(fresh)) return mapWith(node, fresh, value as object, parsed)
  if (isSeq(node) && isSeq(fresh)) return listWith(node, fresh, value as readonly unknown[], parsed)
  if (isScalar(node) && isScalar(fresh) && node.comment) fresh.comment = node.comment
  return fresh
}

/** Keys that are new come after the key that precedes them in `fresh`, with the same blank lines. */
function mapWith(node: YAMLMap, fresh: YAMLMap, value: object, parsed: (value: unknown) => Node): YAMLMap {
  const nameOf = ({ key }: Pair) => String((key as Scalar).value)
  const items = (node.items as Pair<Scalar, Node | null>[]).filter(pair => Object.hasOwn(value, nameOf(pair)))
  for (const [i, pair] of (fresh.items as Pair<Scalar, Node>[]).entries()) {
    const known = items.find(one => nameOf(one) === nameOf(pair))
    const previous = fresh.items[i - 1]
    if (known) known.value = nodeWith(known.value ?? undefined, value[nameOf(pair) as keyof typeof value], parsed)
    else items.splice(previous ? items.findIndex(one => nameOf(one) === nameOf(previous)) + 1 : 0, 0, pair)
  }
  const isSpaced = fresh.items.some(({ key }) => (key as Scalar).spaceBefore)
  for (const [i, { key }] of items.entries()) if (isSpaced) key.spaceBefore = i > 0
  node.items = items
  return node
}

/** Items that are the same at the front and at the back stay. */
function listWith(node: YAMLSeq, fresh: YAMLSeq, list: readonly unknown[], parsed: (value: unknown) => Node): YAMLSeq {
  const [before, after] = [node.items.map(plain), fresh.items.map(plain)]
  const shorter = Math.min(before.length, after.length)
  let front = 0
  while (front < shorter && isDeepStrictEqual(before[front], after[front])) front++
  let back = 0
  while (back < shorter - front && isDeepStrictEqual(before.at(-1 - back), after.at(-1 - back))) back++
  const removed = node.items.slice(front, node.items.length - back) as Node[]
  const added = list.slice(front, list.length - back)
  node.items = [
    ...node.items.slice(0, front),
    ...added.map((item, i) => nodeWith(removed[i], item, parsed)),
    ...node.items.slice(node.items.length - back),
  ]
  return node
}
