/** Finds JSON web tokens and private keys. */
import type { Match } from './match.js'

/** `{"alg":` in base64url begins like this, as every JSON object does. */
const BEGIN_JSON = 'eyJ'
const SHORTEST_HEAD = 10

/** Three parts or, where it is encrypted, five. */
export function jwtsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (let start = text.indexOf(BEGIN_JSON); start >= 0; ) {
    const headEnd = endOfRun(text, start)
    const isToken = headEnd - start >= SHORTEST_HEAD && text[headEnd] === '.'
    const bodyEnd = isToken ? endOfRun(text, headEnd + 1) : headEnd
    const end = isToken && bodyEnd > headEnd + 1 && text[bodyEnd] === '.' ? endOfRun(text, bodyEnd + 1) : 0
    if (end > bodyEnd + 1) {
      const last = endOfEncrypted(text, end)
      found.push({ start, end: last, name: 'jwt', isNumbered: true })
      start = text.indexOf(BEGIN_JSON, last)
    } else {
      // No other match in this run is more likely.
      start = text.indexOf(BEGIN_JSON, headEnd)
    }
  }
  return found
}

const run = /[\w-]*/y

function endOfRun(text: string, start: number): number {
  run.lastIndex = start
  run.exec(text)
  return Math.max(start, run.lastIndex)
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
  // The next five dashes end it, or are the beginning of another.
  const dashes = text.indexOf('-----', inside)
  pemEnd.lastIndex = dashes
  const hasEnd = dashes >= 0 && pemEnd.test(text)
  // An example with three dots in it is no key.
  if (hasEnd && /[A-Za-z0-9+/=]{16}/.test(text.slice(inside, dashes))) return pemEnd.lastIndex
  pemLines.lastIndex = inside
  return pemLines.test(text) ? pemLines.lastIndex : inside
}
