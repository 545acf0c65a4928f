/** Cuts a long text into blocks whose tokens can be found one block at a time. */
import { splitsPair } from './characters.js'

/** Merging byte pairs takes time in the square of a run without a word's end, so no run may be longer. */
const LONGEST = 256

/**
 * The blocks of `text`, in order. They end where a word does: there the tokens of both sides are the same as in one piece.
 * A run that has no such place is cut all the same, and may come out a token longer for each cut.
 */
export function* blocksOf(text: string): Generator<string> {
  let start = 0
  while (text.length - start > LONGEST) {
    const end = endOfBlock(text, start)
    yield copied(text.slice(start, end))
    start = end
  }
  if (start < text.length) yield start === 0 ? text : copied(text.slice(start))
}

function endOfBlock(text: string, start: number): number {
  const last = start + LONGEST
  for (let end = last; end > start; end--) {
    if (endOfWord.test(text.slice(end - 1, end + 1))) return end
  }
  return splitsPair(text, last) ? last - 1 : last
}

/** A letter, and what no token has behind a letter: neither a letter nor an accent, nor the beginning of "'ll". */
const endOfWord = /^\p{L}[^\p{L}\p{M}\p{Cs}']$/u

/** A slice that is remembered would keep the whole text; a copy is itself alone. */
const copied = (slice: string) => Buffer.from(slice, 'utf16le').toString('utf16le')
