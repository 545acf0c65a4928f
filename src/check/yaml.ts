/** Reads YAML and remembers the position of each value. With `yaml-items.ts` the only file that imports `yaml`. */
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  stringify,
  visit,
  type YAMLParseError,
} from 'yaml'
import type { Path } from './check.js'
import { type Problem, refusedText } from './problem.js'

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
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const problemAt = (node: unknown, sentence: string): Problem => ({ origin, ...positionAt(offsetOf(node)), sentence })
  const problems: Problem[] = independentErrors(document.errors).map(error => {
    const why = error.code === 'DUPLICATE_KEY' ? duplicateKey(document, error.pos[0], lines) : reasonOf(error)
    return { origin, ...positionAt(error.pos[0]), sentence: `This is not valid YAML: ${asSentence(why)}` }
  })
  problems.push(
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
