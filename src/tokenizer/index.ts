/** Counts tokens: the one front door of this part. */
export { type Encoding, loadTokenizer } from './encoded.js'
export { estimated } from './estimated.js'
export { promptTokens } from './prompt.js'
export type { Tokenizer } from './tokenizer.js'
