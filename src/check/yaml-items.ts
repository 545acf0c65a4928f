/** Edits the items of a YAML list as text, so that everything else in the file stays byte for byte the same. */
import { isCollection, isMap, isNode, isPair, isScalar, isSeq, type Pair, parseDocument, type YAMLMap } from 'yaml'

/** The lines of one item, including comments directly above it and indented comments below it. */
export interface ListItem {
  readonly start: number
  readonly end: number
  /** The indentation of its dash. */
  readonly indent: number
}

/** The items of a list. `undefined` if the list is written in brackets, or if there is none. */
export function listItems(text: string): readonly ListItem[] | undefined {
  const { contents } = parseDocument(text, { keepSourceTokens: true, logLevel: 'silent' })
  if (contents === null) return []
  if (!isSeq(contents) || contents.srcToken?.type !== 'block-seq') return undefined
  const dashes = contents.srcToken.items.map(({ start }) => start.find(({ type }) => type === 'seq-item-ind')?.offset)
  const ends = contents.items.map(endOf)
  const starts = dashes.flatMap((dash, i) => {
    if (dash === undefined) return []
    const line = lineStart(text, dash)
    const indent = dash - line
    const start = withCommentsAbove(text, line, { indent, from: ends[i - 1] ?? 0 })
    return [{ start, indent, valueEnd: lineEnd(text, Math.max(ends[i] ?? 0, dash + 1)) }]
  })
  return starts.map(({ start, indent, valueEnd }, i) => {
    const end = withCommentsBelow(text, valueEnd, { indent, to: starts[i + 1]?.start ?? text.length })
    return { start, end, indent }
  })
}

/** The position after the last value of a node. A range of `yaml` may include the comments after it. */
function endOf(node: unknown): number {
  if (isCollection(node) && !node.flow) {
    const last = node.items.at(-1)
    return endOf(isPair(last) ? (last.value ?? last.key) : last)
  }
  return isNode(node) ? (node.range?.[1] ?? 0) : 0
}

const lineStart = (text: string, at: number) => text.lastIndexOf('\n', at - 1) + 1

/** The position after the line break of the line that contains the character before `at`. */
function lineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', Math.max(0, at - 1))
  return found < 0 ? text.length : found + 1
}

/** A line with `#` inside a text of the previous item is not a comment, so nothing above `from` counts. */
function withCommentsAbove(text: string, line: number, { indent, from }: { indent: number; from: number }): number {
  let start = line
  while (start > from) {
    const above = lineStart(text, start - 1)
    const comment = /^\s*#/.exec(text.slice(above, start))
    if (above < from || !comment || comment[0].length - 1 > indent) break
    start = above
  }
  return start
}

function withCommentsBelow(text: string, valueEnd: number, { indent, to }: { indent: number; to: number }): number {
  let end = valueEnd
  for (let at = valueEnd; at < to; at = lineEnd(text, at + 1)) {
    const [lead] = /^[ \t]*(?:#|\r?\n|$)/.exec(text.slice(at, to)) ?? []
    if (lead === undefined) break
    if (lead.endsWith('#') && lead.length - 1 > indent) end = lineEnd(text, at + 1)
  }
  return end
}

/** The text of an item without the indentation of its list. */
export const itemText = (text: string, { start, end, indent }: ListItem) =>
  text.slice(start, end).replaceAll('\r\n', '\n').replace(linesIndentedBy(indent), '')

/** Replaces an item. The new text gets the indentation and the line ends of the list. */
export const withItem = (text: string, item: ListItem, replacement: string) =>
  text.slice(0, item.start) + fitted(text, item, replacement) + text.slice(item.end)

/** Inserts text before an item, separated like the other items of the list. */
export function withItemBefore(text: string, items: readonly ListItem[], i: number, added: string): string {
  const item = items[i] as ListItem
  const isDense = items.some(({ end }, k) => items[k + 1]?.start === end)
  const separator = isDense ? '' : lineBreakOf(text)
  return text.slice(0, item.start) + fitted(text, item, added) + separator + text.slice(item.start)
}

export const withItemAtEnd = (text: string, added: string) =>
  text.replace(/(?<=[^\n])$/, lineBreakOf(text)) + fitted(text, { indent: 0 }, added)

/** Removes an item and the blank lines that separate it. */
export function withoutItem(text: string, { start, end }: ListItem): string {
  const before = text.slice(0, start)
  const after = text.slice(end)
  if (after.trim() === '') return before.replace(/(?<=\n)(?:[ \t]*\r?\n)+$/, '')
  const isSetApart = start === 0 || /\n[ \t]*\r?\n$/.test(before)
  return before + (isSetApart ? after.replace(/^(?:[ \t]*\r?\n)+/, '') : after)
}

/** Swaps two items. The text between them stays. */
export function withItemsSwapped(text: string, first: ListItem, second: ListItem): string {
  const cut = (item: ListItem) => text.slice(item.start, item.end).replace(/(?<=[^\n])$/, lineBreakOf(text))
  return (
    text.slice(0, first.start) + cut(second) + text.slice(first.end, second.start) + cut(first) + text.slice(second.end)
  )
}

function fitted(text: string, { indent }: Pick<ListItem, 'indent'>, added: string): string {
  const lines = added.replace(/\r\n?/g, '\n').replace(/\s*$/, '\n')
  return lines.replace(/^(?=.)/gm, ' '.repeat(indent)).replaceAll('\n', lineBreakOf(text))
}

const linesIndentedBy = (indent: number) => new RegExp(`^ {0,${indent}}`, 'gm')
const lineBreakOf = (text: string) => (/\r\n/.test(text) ? '\r\n' : '\n')

/**
 * Sets a flag of an item that is a map; `undefined` if it is not one. If `value` equals the default `usual`, the flag
 * is removed instead when nothing is lost by that, so that setting it back restores the text.
 */
export function withFlag(item: string, name: string, { value, usual }: { value: boolean; usual: boolean }) {
  const { contents } = parseDocument(item, { logLevel: 'silent' })
  const map = isSeq(contents) ? contents.items[0] : contents
  if (!isMap(map)) return undefined
  const at = map.items.findIndex(({ key }) => isScalar(key) && key.value === name)
  if (at >= 0) return withFlagChanged(item, map, at, { value, usual })
  if (value === usual) return item
  const begin = startOf(map.items[0]) ?? 0
  if (map.flow) return `${item.slice(0, begin)}${name}: ${value}, ${item.slice(begin)}`
  const column = begin - lineStart(item, begin)
  return `${item.slice(0, begin)}${name}: ${value}\n${' '.repeat(column)}${item.slice(begin)}`
}

interface Flag {
  readonly value: boolean
  readonly usual: boolean
}

function withFlagChanged(item: string, { items }: YAMLMap, at: number, { value, usual }: Flag): string {
  const pair = items[at]
  const range = isScalar(pair?.value) ? pair.value.range : undefined
  const [begin, next] = [startOf(pair), startOf(items[at + 1])]
  if (!range || begin === undefined) return item
  const isBare = next !== undefined && /^[\s,]*$/.test(item.slice(range[1], next))
  if (value === usual && isBare) return item.slice(0, begin) + item.slice(next)
  return item.slice(0, range[0]) + String(value) + item.slice(range[1])
}

const startOf = (pair: Pair | undefined) => (isScalar(pair?.key) ? pair.key.range?.[0] : undefined)
