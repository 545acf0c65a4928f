/** Lays the logprobs of a text onto the pieces that it is told in. */
import type { Choice, Fields } from './forms.js'
import { tokenPieces, wordsOf } from './pieces.js'

type Logprobs = Choice['logprobs']

/** A piece of a text, and the logprobs of its tokens. */
interface SurePiece {
  readonly text: string
  readonly logprobs: Fields | null
}

const lists = ['content', 'refusal'] as const
const isList = (name: string): name is (typeof lists)[number] => lists.includes(name as 'content')

/** Logprobs without the tokens of these texts, which follow piece by piece. */
export const logprobsBefore = (logprobs: Logprobs, texts: readonly string[]): Fields | null =>
  logprobs ? { ...logprobs, ...emptied(logprobs, texts) } : null

/** The pieces of the text of this name. */
export function surePieces(name: string, text: string, logprobs: Logprobs): readonly SurePiece[] {
  const tokens = isList(name) ? logprobs?.[name] : undefined
  if (!logprobs || !tokens?.length) return wordsOf(text).map(text => ({ text, logprobs: null }))
  const others = emptied(logprobs, lists)
  return tokenPieces(text, tokens).map(({ text, tokens }) => ({ text, logprobs: { ...others, [name]: tokens } }))
}

/** Those of these lists that there are, without anything in them. */
const emptied = (logprobs: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter(name => isList(name) && name in logprobs).map(name => [name, logprobs[name] && []]))
