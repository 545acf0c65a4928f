/** Reads the values that stand in a text: in quotes, or up to a space, the next pair or the end of an expression. */
import type { Writing } from './values.js'

export interface Value {
  readonly start: number
  readonly end: number
  readonly writing: Writing
}

/** Such values have no spaces, and of backslashes only those that are no escapes. */
const unquoted = /[^\s"'`<>\\]*/y
const backslash = /\\[^nrt"'\\/u]/y
/** Where the next pair begins, as in `Pwd=x;Encrypt=true` and `{password:a,user:b}`. */
const nextPair = /[&;,][\w. -]{1,64}[=:]/g
/** What stands in for a variable that is not set. */
const otherwise = /[ \t]*(?:\|\||\?\?|\?:|or)[ \t]*(?=["'])/y

/** Each part of the text is read once, however many values it may have. */
export class Words {
  #text: string
  /** The last value without quotes. */
  #from = 0
  #to = 0
  #pair = -1
  #lineEnd = 0

  constructor(text: string) {
    this.#text = text
  }

  at(from: number, writing: Writing): Value {
    const text = this.#text
    const quote = text[from] ?? ''
    if (/["'`]/.test(quote)) {
      const end = this.#endOfQuoted(from + 1, quote)
      return { start: from + 1, end, writing: writing === 'variable' ? writing : 'literal' }
    }
    const runEnd = this.#endOfUnquoted(from)
    const fallback = writing === 'bare' ? readAt(otherwise, text, runEnd) : ''
    if (fallback !== '') return this.at(runEnd + fallback.length, 'literal')
    let end = Math.min(runEnd, this.#pairAfter(from))
    while (end > from && '.,;)]}'.includes(text[end - 1] ?? '')) end--
    return { start: from, end, writing }
  }

  /** The rest of a line or of the quotes around it; empty if it is part of one that was read. */
  line(from: number): string {
    if (from < this.#lineEnd) return ''
    const line = readAt(/[^\r\n"'`\\]*/y, this.#text, from)
    this.#lineEnd = from + line.length
    return line.trimEnd()
  }

  #endOfUnquoted(from: number): number {
    if (from < this.#from || from >= this.#to) {
      this.#from = from
      this.#to = from
      do this.#to += readAt(unquoted, this.#text, this.#to).length
      while (readAt(backslash, this.#text, this.#to) !== '' && ++this.#to > 0)
    }
    return this.#to
  }

  #pairAfter(from: number): number {
    if (this.#pair < from) {
      nextPair.lastIndex = from
      this.#pair = nextPair.exec(this.#text)?.index ?? this.#text.length
    }
    return this.#pair
  }

  /** Up to the end of the line if the text is cut off. */
  #endOfQuoted(start: number, quote: string): number {
    const text = this.#text
    let end = text.indexOf(quote, start)
    while (end > 0 && text[end - 1] === '\\') end = text.indexOf(quote, end + 1)
    const line = text.slice(start, end < 0 ? undefined : end).search(/[\r\n]/)
    if (line >= 0) return start + line
    return end < 0 ? text.length : end
  }
}

/** What a sticky expression finds at an index. */
export function readAt(expression: RegExp, text: string, index: number): string {
  expression.lastIndex = index
  return expression.exec(text)?.[0] ?? ''
}
