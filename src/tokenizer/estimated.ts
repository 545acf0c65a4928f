/** Tokens by OpenAI's rule of thumb for English, four characters each: cheap, and some 12 % off. */
import { splitsPair } from './characters.js'
import type { Tokenizer } from './tokenizer.js'

const CHARACTERS = 4

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
