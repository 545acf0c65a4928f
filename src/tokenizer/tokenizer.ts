/** What a tokenizer can do. */

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
