/** Finds known values in a text in one pass, however they are written: Aho and Corasick's automaton. */
import type { Match, Search } from './matches.js'

/** A value that is secret wherever it is. */
export interface KnownSecret {
  /** The name of its placeholder. */
  readonly name: string
  readonly value: string
}

/** A shorter value would match ordinary words. */
const SHORTEST = 6
/** Longer ones are only hidden where their names tell. */
const LONGEST = 4096
/** All values of one search together. */
const MOST_CHARACTERS = 65_536

const findsNothing: Search = () => []

/** Of equal values, the name of the first one is used. */
export function createKnownSearch(secrets: readonly KnownSecret[]): Search {
  const words = new Map<string, { readonly name: string; readonly isPadded: boolean }>()
  let characters = 0
  for (const { name, value } of secrets) {
    if (value.length < SHORTEST || value.length > LONGEST || characters + value.length > MOST_CHARACTERS) continue
    characters += value.length
    for (const word of plainForms(value)) if (!words.has(word)) words.set(word, { name, isPadded: false })
    for (const word of base64Forms(value)) if (!words.has(word)) words.set(word, { name, isPadded: true })
  }
  if (words.size === 0) return findsNothing
  const find = createWordSearch([...words.keys()])
  return text =>
    find(text).map(({ start, end }): Match => {
      const { name = '', isPadded = false } = words.get(text.slice(start, end)) ?? {}
      return { start, end: isPadded ? endOfPadding(text, end) : end, name, isNumbered: false }
    })
}

function endOfPadding(text: string, start: number): number {
  let end = start
  while (end < start + 2 && text[end] === '=') end++
  return end
}

/** Escapes are read before; what they cannot tell is a space in a form, and UTF-8 that is read as one character a byte. */
const plainForms = (value: string): readonly string[] => [
  value,
  value.replaceAll(' ', '+'),
  Buffer.from(value).toString('latin1'),
]

/** Inside a longer text, such as `user:value`, a shorter value would leave only a few letters. */
const SHORTEST_INSIDE = 12

/** Without the optional padding. */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const inside = bytes.length < SHORTEST_INSIDE ? [] : [0, 1, 2].map(before => insideBase64(bytes, before))
  return [bytes.toString('base64').replace(/={1,2}$/, ''), ...inside].flatMap(base64 => [
    base64,
    base64.replace(/[+/]/g, sign => (sign === '+' ? '-' : '_')),
  ])
}

/** The letters that depend on these bytes alone when `before` bytes, and any multiple of three, precede them. */
const insideBase64 = (bytes: Buffer, before: number): string =>
  Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3))

type Place = Pick<Match, 'start' | 'end'>

/** Finds the longest of the words that ends at each place. */
function createWordSearch(words: readonly string[]): (text: string) => readonly Place[] {
  const { follow, lengths } = beginningsOf(words)
  const beginning = beginningOf(words)

  return text => {
    const found: Place[] = []
    beginning.lastIndex = 0
    for (let hit = beginning.exec(text); hit; hit = beginning.exec(text)) {
      let state = 0
      let i = hit.index
      do {
        state = follow(state, text.charCodeAt(i++))
        const length = lengths[state] ?? 0
        if (length > 0) found.push({ start: i - length, end: i })
      } while (state > 0 && i < text.length)
      beginning.lastIndex = i
    }
    return found
  }
}

/** A state is the beginning of a word, and state 0 is none. `lengths` has the longest word with which each ends. */
function beginningsOf(words: readonly string[]) {
  // Transitions are kept by state and character.
  const next = new Map<number, number>()
  const key = (state: number, code: number) => state * 0x10000 + code
  const parents: { readonly state: number; readonly code: number }[] = [{ state: 0, code: 0 }]
  const lengths: number[] = [0]
  const byDepth: number[][] = []
  for (const word of words) {
    let state = 0
    for (let i = 0; i < word.length; i++) {
      const code = word.charCodeAt(i)
      let to = next.get(key(state, code))
      if (to === undefined) {
        to = parents.push({ state, code }) - 1
        lengths.push(0)
        next.set(key(state, code), to)
        byDepth[i] ??= []
        byDepth[i]?.push(to)
      }
      state = to
    }
    lengths[state] = word.length
  }
  // Where to go on if the next character does not fit: the longest ending that is a beginning as well.
  const fallbacks = new Int32Array(parents.length)
  const follow = (from: number, code: number): number => {
    for (let state = from; ; state = fallbacks[state] ?? 0) {
      const to = next.get(key(state, code))
      if (to !== undefined || state === 0) return to ?? 0
    }
  }
  for (const state of byDepth.flat()) {
    const { state: parent, code } = parents[state] ?? { state: 0, code: 0 }
    const fallback = parent === 0 ? 0 : follow(fallbacks[parent] ?? 0, code)
    fallbacks[state] = fallback
    lengths[state] = Math.max(lengths[state] ?? 0, lengths[fallback] ?? 0)
  }
  return { follow, lengths }
}

/** More would make the expression large. */
const MOST_BEGINNINGS = 1000

/** Finds at least the beginnings of the words, which is faster than going through all of a text. */
function beginningOf(words: readonly string[]): RegExp {
  const beginnings = new Set(words.map(word => word.slice(0, 3).replace(/[^\w]/g, '\\$&')))
  return new RegExp(beginnings.size > MOST_BEGINNINGS ? '[\\s\\S]' : [...beginnings].join('|'), 'g')
}
