/** How sure the model was of each token: made up, but the same each time and as a model's would be. */
import type { TokenLogprob } from '../../completions/completion.js'

type TopLogprob = TokenLogprob['top_logprobs'][number]

/** What else a model might have said; more alternatives than any request may ask for. */
const others =
  ' the| a| and| of| to| in| is| that| it| for| on| with| as| this| you| not| be| are| we| so|,|.| or| but'.split('|')

/** The logprobs of tokens that follow each other, with the `top` likeliest in the place of each. */
export function logprobsOf(tokens: readonly string[], top: number): readonly TokenLogprob[] {
  return tokens.map((token, at) => {
    const drawn = draw(token, at)
    // More than half, so that nothing else is likelier.
    const chance = 0.99 - 0.48 * (drawn / 2 ** 32) ** 2
    const chosen = logprob(token, chance)
    return { ...chosen, top_logprobs: top === 0 ? [] : [chosen, ...alternatives(token, drawn, 1 - chance, top - 1)] }
  })
}

/** Others in the place of `token`, each half as likely as the one before; together they have `chance` at most. */
function alternatives(token: string, drawn: number, chance: number, count: number): readonly TopLogprob[] {
  const first = drawn % others.length
  return [...others.slice(first), ...others.slice(0, first)]
    .filter(other => other !== token)
    .slice(0, count)
    .map((other, i) => logprob(other, chance / 2 ** (i + 1)))
}

const logprob = (token: string, chance: number): TopLogprob => ({
  token,
  logprob: Number(Math.log(chance).toFixed(8)),
  bytes: [...Buffer.from(token)],
})

/** A number from 0 to 2^32 - 1 that is the same for the same token in the same place (FNV-1a, with the end of Murmur3). */
function draw(token: string, at: number): number {
  let mixed = 0x811c9dc5 ^ at
  for (let i = 0; i < token.length; i++) mixed = Math.imul(mixed ^ token.charCodeAt(i), 0x01000193)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
