/** What a tokenizer can do, and the one that estimates: four characters a token, cheap, and some 12 % off for English. */

export interface Tokenizer {
  /** The encoding whose tokens they are, or `estimate`. */
  readonly name: 'estimate' | 'o200k_base' | 'cl100k_base'
  /** How many tokens `text` has. */
  count(text: string): number
  /** The beginning of `text`: its first `most` tokens, or fewer where they would end inside a character. */
  cut(text: string, most: number): string
  /** `text` token by token; tokens that end inside a character stand together. Put together they are the text. */
  pieces(text: string): readonly string[]
}

const CHARACTERS = 4

/** Tokens by OpenAI's rule of thumb for English, four characters each: cheap, and some 12 % off. */
export const estimated: Tokenizer = {
  name: 'estimate',
  count: text => Math.ceil(text.length / CHARACTERS),
  cut(text, most) {
    const end = Math.max(most, 0) * CHARACTERS
    if (end >= text.length) return text
    // Half of a surrogate pair is no character.
    return text.slice(0, splitsPair(text, end) ? end - 1 : end)
  },
  // Words with the space before them, long ones in parts, as tokens would come.
  pieces: text => text.match(/\s*\S{1,12}|\s+$/gu) ?? [],
}

/** Whether a character of two code units stands across `at`. */
export const splitsPair = (text: string, at: number) => (text.codePointAt(at - 1) ?? 0) > 0xffff

/** The bytes of a code point. Half of a surrogate pair counts as the replacement character that it is encoded as. */
export function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint > 0xffff ? 4 : 3
}
