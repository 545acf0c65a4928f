/** How the pauses of a stream vary around their mean. */
import type { Pace } from '../core/pace.js'
import { mulberry32 } from '../core/random.js'

/**
 * Makes what draws the factor of one pause after another, 1 on average and the same from the same seed; `undefined` for a pace whose
 * pauses are all alike.
 */
export function variation({ jitter, distribution }: Pace, seed: number): (() => number) | undefined {
  if (jitter === 0 || distribution === 'fixed') return undefined
  const random = mulberry32(seed)
  if (distribution === 'uniform') return () => 1 + jitter * (2 * random() - 1)
  // A lognormal variable has the mean exp(mu + sigma² / 2), so this mu makes it 1.
  return () => Math.exp(jitter * normal(random) - jitter ** 2 / 2)
}

/** Box and Muller's: two even numbers make one of the standard normal distribution. */
const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
