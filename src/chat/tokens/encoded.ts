/** Splits text into the tokens of OpenAI's models. The only file that imports `gpt-tokenizer`. */
import { LRUCache } from 'lru-cache'
import { memoized } from '../../core/work.js'

export interface Tokenizer {
  /** The encoding of the tokens, or `estimate`. */
  readonly name: 'estimate' | 'o200k_base' | 'cl100k_base'
  /** The number of tokens in `text`. */
  count(text: string): number
  /** The first `most` tokens of `text`, or fewer if they would end inside a character. */
  cut(text: string, most: number): string
  /** Splits `text` into tokens; tokens that end inside a character stay together. Joined, they are the text again. */
  pieces(text: string): readonly string[]
}

export type Encoding = Exclude<Tokenizer['name'], 'estimate'>

/** The part of the package that is used. */
interface Encoder {
  encode(text: string, options: { readonly disallowedSpecial: Set<string> }): readonly number[]
  decodeGenerator(tokens: Iterable<number>): Iterable<string>
  setMergeCacheSize(size: number): void
}

/** Loads the table of an encoding, which has some megabytes, and creates its tokenizer. */
export const loadTokenizer = async (encoding: Encoding): Promise<Tokenizer> =>
  createTokenizer(encoding, await encoders[encoding]())

const encoders: Readonly<Record<Encoding, () => Promise<Encoder>>> = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
}

/** Limits of the cache of counts, in texts and in characters. A conversation repeats its texts with each turn. */
const TEXTS = 10_000
const CHARACTERS = 4_000_000

/** Names such as <|endoftext|> are ordinary text. */
const allowingSpecial = { disallowedSpecial: new Set<string>() }

function createTokenizer(name: Encoding, encoder: Encoder): Tokenizer {
  // The package's cache of words is ordered by use, which takes longer than to merge them again.
  encoder.setMergeCacheSize(0)

  // A lone surrogate has no bytes. It counts as the replacement character, and becomes one.
  const encoded = (block: string) => encoder.encode(block, allowingSpecial)
  const tokensOf = (text: string) => blocksOf(text.toWellFormed()).flatMap(encoded)

  // Never decodes a part of the tokens: the package would add the rest of a character to the next text.
  const pieces = (text: string) => [...encoder.decodeGenerator(tokensOf(text))]

  function cut(text: string, most: number): string {
    if (counts.memo(text) <= most) return text
    const all = pieces(beginningOf(text, most))
    // A character may have several tokens, and without the text after it, the last word may split into other tokens.
    let [fitting, tooMany] = [0, Math.min(all.length, Math.max(0, most)) + 1]
    while (tooMany - fitting > 1) {
      const middle = (fitting + tooMany) >> 1
      if (tokensOf(all.slice(0, middle).join('')).length <= most) fitting = middle
      else tooMany = middle
    }
    return text.slice(0, all.slice(0, fitting).join('').length)
  }

  const counts = new LRUCache<string, number>({
    max: TEXTS,
    maxSize: CHARACTERS,
    sizeCalculation: (_count, text) => text.length || 1,
    memoMethod: text => countOf(text.toWellFormed(), block => encoded(block).length),
  })

  return { name, count: text => counts.memo(text), cut, pieces }
}

/**
 * Merging byte pairs takes quadratic time in the length of a run without the end of a word, so a text is encoded in
 * blocks of at most 256 characters. They end where words end, after a letter and before something that no token
 * contains after a letter: there, both sides have the same tokens as in one piece. A run without such a place is cut
 * anyway, and may have one more token for each cut.
 */
const block = /.{1,255}\p{L}(?=[^\p{L}\p{M}\p{Cs}'])|.{1,256}/gsu

const blocksOf = (text: string): readonly string[] => (text.length <= 256 ? [text] : (text.match(block) ?? []))

/** Every token has at most this many characters. */
const TOKEN_CHARACTERS = 256

/** As much of a text as can have this many tokens, and one more. */
const beginningOf = (text: string, most: number) =>
  text.slice(0, Math.min(text.length, (Math.max(0, most) + 1) * TOKEN_CHARACTERS))

/** Shorter texts are counted exactly, and so is language of any length. */
const LONG_CHARACTERS = 262_144
/** In a longer text, a part of this many blocks is looked at by its first ones. */
const PART_BLOCKS = 64
const FIRST_BLOCKS = 4
const MOST_BLOCKS = 1000
/** Base64 has two tokens for three characters, and prose and code one for four. */
const DATA_TOKENS = 0.4

/** The tokens of a text. In a long one, the rest of a part that begins like Base64 counts as its beginning. */
function countOf(text: string, tokensOfBlock: (block: string) => number): number {
  const blocks = blocksOf(text)
  // Texts such as a line of dashes have the same block again and again.
  const tokensIn = blocks.length > 1 ? memoized(tokensOfBlock, MOST_BLOCKS) : tokensOfBlock
  const sum = (from: number, to: number) => blocks.slice(from, to).reduce((total, one) => total + tokensIn(one), 0)
  if (text.length <= LONG_CHARACTERS) return sum(0, blocks.length)
  const characters = (from: number, to: number) => blocks.slice(from, to).reduce((total, one) => total + one.length, 0)
  let tokens = 0
  for (let start = 0; start < blocks.length; start += PART_BLOCKS) {
    const [middle, end] = [start + FIRST_BLOCKS, start + PART_BLOCKS]
    const first = sum(start, middle)
    const density = first / characters(start, middle)
    tokens += first + (density > DATA_TOKENS ? Math.round(density * characters(middle, end)) : sum(middle, end))
  }
  return tokens
}
