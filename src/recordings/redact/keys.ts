/** Finds keys by their prefixes, JSON web tokens and private keys. */
import type { Match } from './matches.js'
import { looksRandom } from './names.js'

interface KeyForm {
  readonly prefix: RegExp
  /** What must follow the prefix. */
  readonly continuation: RegExp
  /** Whether the form alone is enough to tell. */
  readonly isCertain?: true
}

const letters = /[A-Za-z0-9]*/y
const withDashes = /[\w-]*/y

const forms: readonly KeyForm[] = [
  { prefix: /^(?:sk-|sb_|github_pat_|glpat-|xox)/, continuation: withDashes },
  { prefix: /^(?:[spr]k_|gh|hf_|gsk_)/, continuation: letters },
  { prefix: /^A[KS]IA/, continuation: /[A-Z0-9]{16}(?![A-Za-z0-9])/y, isCertain: true },
  { prefix: /^AIza/, continuation: /[\w-]{35}/y, isCertain: true },
]

const prefixes =
  /sk-|[spr]k_(?:live|test)_|rk_|sb_(?:secret|publishable)_|gh[pousr]_|github_pat_|A[KS]IA|AIza|xox[abeprs]-|hf_|glpat-|gsk_/g

const SHORTEST = 16

export function keysIn(text: string): readonly Match[] {
  const found: Match[] = []
  prefixes.lastIndex = 0
  for (let hit = prefixes.exec(text); hit; hit = prefixes.exec(text)) {
    const start = hit.index
    const form = isAtWordStart(text, start) ? forms.find(({ prefix }) => prefix.test(hit?.[0] ?? '')) : undefined
    if (!form) continue
    const rest = readAt(form.continuation, text, prefixes.lastIndex)
    const end = prefixes.lastIndex + rest.length
    const isKey = form.isCertain ? rest !== '' : rest.length >= SHORTEST && (looksRandom(rest) || isLongRun(rest))
    if (isKey) found.push({ start, end, name: 'key', isNumbered: true })
    // If the whole run looks like prose, so do its parts, which need no check of their own.
    if (isKey || form.continuation === withDashes) prefixes.lastIndex = end
  }
  return found
}

const bearers = /[Bb](?:earer|EARER)(?:[ \t]{1,8}|%20|\+)/g

/** `Bearer` followed by something that is not a word. */
export function bearersIn(text: string): readonly Match[] {
  const found: Match[] = []
  bearers.lastIndex = 0
  while (bearers.test(text)) {
    const start = bearers.lastIndex
    const tokenText = readAt(/[\w.~+/-]*={0,2}/y, text, start)
    const token = tokenText.replace(/\.{1,3}$/, '')
    if (token.length >= SHORTEST && looksRandom(token)) {
      found.push({ start, end: start + token.length, name: 'key', isNumbered: true })
    }
    bearers.lastIndex = start + tokenText.length
  }
  return found
}

function readAt(expression: RegExp, text: string, index: number): string {
  expression.lastIndex = index
  return expression.exec(text)?.[0] ?? ''
}

/** Not in the middle of a word, as in `task-`. The letters of an escape before it are not part of a word. */
function isAtWordStart(text: string, index: number): boolean {
  if (index === 0 || !/[A-Za-z0-9]/.test(text[index - 1] ?? '')) return true
  return /(?:\\[bfnrt]|\\u[\da-f]{4}|%[\da-f]{2})$/i.test(text.slice(Math.max(0, index - 6), index))
}

/** Longer than any word in the place of a key. */
const isLongRun = (text: string): boolean => /[A-Za-z0-9]{20}/.test(text)

/** `{"alg":` in base64url begins like this, as every JSON object does. */
const BEGIN_JSON = 'eyJ'
const SHORTEST_HEAD = 10

/** A token has three parts or, if it is encrypted, five. */
export function jwtsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (let start = text.indexOf(BEGIN_JSON); start >= 0; ) {
    const headEnd = endOfRun(text, start)
    const isToken = headEnd - start >= SHORTEST_HEAD && text[headEnd] === '.'
    const bodyEnd = isToken ? endOfRun(text, headEnd + 1) : headEnd
    const end = isToken && bodyEnd > headEnd + 1 && text[bodyEnd] === '.' ? endOfRun(text, bodyEnd + 1) : 0
    if (end > bodyEnd + 1) {
      const tokenEnd = endOfEncrypted(text, end)
      found.push({ start, end: tokenEnd, name: 'jwt', isNumbered: true })
      start = text.indexOf(BEGIN_JSON, tokenEnd)
    } else {
      // No other match in this run is more likely.
      start = text.indexOf(BEGIN_JSON, headEnd)
    }
  }
  return found
}

const tokenRun = /[\w-]*/y

function endOfRun(text: string, start: number): number {
  tokenRun.lastIndex = start
  tokenRun.exec(text)
  return Math.max(start, tokenRun.lastIndex)
}

/** The fourth and the fifth part: both or neither. */
function endOfEncrypted(text: string, end: number): number {
  if (text[end] !== '.') return end
  const fourth = endOfRun(text, end + 1)
  if (fourth === end + 1 || text[fourth] !== '.') return end
  const fifth = endOfRun(text, fourth + 1)
  return fifth > fourth + 1 ? fifth : end
}

const pemBegin = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const pemEnd = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y
/** Lines of base64 directly after the beginning, where the end is missing. Line breaks may be escaped. */
const pemLines = /(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,})+/y

export function privateKeysIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (const { 0: begin, index } of text.matchAll(pemBegin)) {
    const inside = index + begin.length
    const end = endOfPem(text, inside)
    if (end > inside) found.push({ start: index, end, name: 'private-key', isNumbered: true })
  }
  return found
}

function endOfPem(text: string, inside: number): number {
  // The next five dashes are its end, or the beginning of another key.
  const dashes = text.indexOf('-----', inside)
  pemEnd.lastIndex = dashes
  const hasEnd = dashes >= 0 && pemEnd.test(text)
  // An example with three dots is not a key.
  if (hasEnd && /[A-Za-z0-9+/=]{16}/.test(text.slice(inside, dashes))) return pemEnd.lastIndex
  pemLines.lastIndex = inside
  return pemLines.test(text) ? pemLines.lastIndex : inside
}
