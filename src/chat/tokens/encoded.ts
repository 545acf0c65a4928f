/** Splits text into the tokens of OpenAI's models. The only file that imports `gpt-tokenizer`. */
import { LRUCache } from 'lru-cache'

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

/** The size of the package's cache of words. It is ordered by use, which with many words takes longer than merging. */
const WORDS = 1000

/** Limits of the cache of counts, in texts and in characters. A conversation repeats its texts with each turn. */
const TEXTS = 10_000
const CHARACTERS = 4_000_000

/** Names such as <|endoftext|> are ordinary text. */
const allowingSpecial = { disallowedSpecial: new Set<string>() }

function createTokenizer(name: Encoding, encoder: Encoder): Tokenizer {
  encoder.setMergeCacheSize(WORDS)

  // A lone surrogate has no bytes. It counts as the replacement character, and becomes one.
  const tokensOf = (text: string) =>
    blocksOf(text.toWellFormed()).flatMap(block => encoder.encode(block, allowingSpecial))

  // Never decodes a part of the tokens: the package would add the rest of a character to the next text.
  const pieces = (text: string) => [...encoder.decodeGenerator(tokensOf(text))]

  function cut(text: string, most: number): string {
    if (tokensOf(text).length <= most) return text
    const all = pieces(text)
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
    memoMethod: text => tokensOf(text).length,
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
