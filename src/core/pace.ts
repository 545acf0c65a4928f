/** The options of a stream's pace, the same in the configuration and in a rule. */
import { described, number } from './check.js'

export const firstTokenMs = described(
  number(0, 600_000, 'milliseconds'),
  'Pause before the first piece of a stream, in milliseconds.',
)

export const tokensPerSecond = described(
  number(0, 100_000),
  'Pieces a second after the first one; 0 is as fast as possible.',
)
