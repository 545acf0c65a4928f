/** Splits text into the tokens of OpenAI's models, block by block. The only file that imports `gpt-tokenizer`. */
import { LRUCache } from 'lru-cache'
import { splitsPair, type Tokenizer } from './count.js'

export type Encoding = Exclude<Tokenizer['name'], 'estimate'>

/** The part of the package that is used. */
interface Encoder {
  encode(text: string, options: { readonly disallowedSpecial: Set<string> }): readonly number[]
  setMergeCacheSize(size: number): void
}

/** What each token stands for: a text, or bytes that are not valid text on their own. */
type Table = readonly (string | readonly number[])[]

/** Loads the table of an encoding, which has some megabytes, and creates its tokenizer. */
export async function loadTokenizer(encoding: Encoding): Promise<Tokenizer> {
  const [encoder, { default: table }] = await tables[encoding]()
  return createTokenizer(encoding, encoder, table)
}

const tables: Readonly<Record<Encoding, () => Promise<[Encoder, { default: Table }]>>> = {
  o200k_base: () =>
    Promise.all([import('gpt-tokenizer/encoding/o200k_base'), import('gpt-tokenizer/bpeRanks/o200k_base')]),
  cl100k_base: () =>
    Promise.all([import('gpt-tokenizer/encoding/cl100k_base'), import('gpt-tokenizer/bpeRanks/cl100k_base')]),
}

/** The size of the package's cache of words. It is ordered by use, which with many words takes longer than merging. */
const WORDS = 1000

/** Limits of the cache of counts, in texts and in characters. A conversation repeats its texts with each turn. */
const TEXTS = 10_000
const CHARACTERS = 4_000_000

/** Names such as <|endoftext|> are ordinary text. */
const allowingSpecial = { disallowedSpecial: new Set<string>() }

/** Some tokens of a text that end at the end of a character. */
interface Part {
  readonly text: string
  readonly tokens: number
}

function createTokenizer(name: Encoding, encoder: Encoder, table: Table): Tokenizer {
  encoder.setMergeCacheSize(WORDS)

  function countTokens(text: string): number {
    let sum = 0
    for (const block of blocksOf(text)) sum += encoder.encode(block, allowingSpecial).length
    return sum
  }

  function* partsOf(text: string): Generator<Part> {
    for (const block of blocksOf(text)) yield* partsOfBlock(block, encoder.encode(block, allowingSpecial), table)
  }

  function cut(text: string, most: number): string {
    const parts: string[] = []
    let sum = 0
    for (const { text: part, tokens } of partsOf(text)) {
      sum += tokens
      if (sum > most) break
      parts.push(part)
    }
    // Without the text after it, the last word may split into other tokens, and into more of them.
    while (parts.length > 0 && countTokens(parts.join('')) > most) parts.pop()
    return parts.join('')
  }

  const counts = new LRUCache<string, number>({
    max: TEXTS,
    maxSize: CHARACTERS,
    sizeCalculation: (_count, text) => text.length || 1,
    memoMethod: countTokens,
  })

  return { name, count: text => counts.memo(text), cut, pieces: text => Array.from(partsOf(text), part => part.text) }
}

/** Walks through tokens and characters side by side, in bytes, and splits where both end. */
function* partsOfBlock(block: string, tokens: readonly number[], table: Table): Generator<Part> {
  let start = 0
  let end = 0
  let tokensOfPart = 0
  /** How many bytes the characters are ahead of the tokens. */
  let ahead = 0
  for (const token of tokens) {
    ahead -= sizeOf(table[token])
    tokensOfPart++
    while (ahead < 0 && end < block.length) {
      const character = block.codePointAt(end) ?? 0
      ahead += bytesOf(character)
      end += character > 0xffff ? 2 : 1
    }
    if (ahead !== 0) continue
    yield { text: block.slice(start, end), tokens: tokensOfPart }
    start = end
    tokensOfPart = 0
  }
  if (start < block.length) yield { text: block.slice(start), tokens: tokensOfPart }
}

const sizeOf = (meaning: Table[number] | undefined) =>
  typeof meaning === 'string' ? Buffer.byteLength(meaning) : (meaning?.length ?? 0)

/** The number of bytes of a code point in UTF-8. Half a surrogate pair counts as the replacement character. */
function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint > 0xffff ? 4 : 3
}

/** Merging byte pairs takes quadratic time in the length of a run without the end of a word, so runs are limited. */
const LONGEST = 256

/**
 * The blocks of `text`, in order. They end where words end, where both sides have the same tokens as in one piece. A
 * run without such a place is cut anyway, and may have one more token for each cut.
 */
export function* blocksOf(text: string): Generator<string> {
  let start = 0
  while (text.length - start > LONGEST) {
    const end = endOfBlock(text, start)
    yield copyOf(text.slice(start, end))
    start = end
  }
  if (start < text.length) yield start === 0 ? text : copyOf(text.slice(start))
}

function endOfBlock(text: string, start: number): number {
  const last = start + LONGEST
  for (let end = last; end > start; end--) {
    if (endOfWord.test(text.slice(end - 1, end + 1))) return end
  }
  return splitsPair(text, last) ? last - 1 : last
}

/**
 * A letter, followed by something that no token contains after a letter: no letter, no accent, and not the beginning of
 * "'ll".
 */
const endOfWord = /^\p{L}[^\p{L}\p{M}\p{Cs}']$/u

/** A cached slice would keep the whole text in memory; a copy does not. */
const copyOf = (slice: string) => Buffer.from(slice, 'utf16le').toString('utf16le')
