/** Counts tokens. The only entry point of this part. */
import { estimated, type Tokenizer } from './count.js'
import type { Encoding } from './encoded.js'

export { estimated, promptTokens, type Tokenizer } from './count.js'
export type { Encoding } from './encoded.js'

/** Loads the tokenizer of an encoding, whose table has some megabytes. */
export const loadTokenizer = async (encoding: Encoding): Promise<Tokenizer> =>
  (await import('./encoded.js')).loadTokenizer(encoding)

const loaded = new Map<Tokenizer['name'], Promise<Tokenizer>>()

/** Returns the tokenizer with this name. The tables are large, so they are loaded on first use, and only once. */
export async function tokenizerNamed(name: Tokenizer['name']): Promise<Tokenizer> {
  if (name === 'estimate') return estimated
  const tokenizer = loaded.get(name) ?? loadTokenizer(name)
  loaded.set(name, tokenizer)
  return tokenizer
}
