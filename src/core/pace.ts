/** The options of a stream's pace, the same in the configuration and in a rule. */
import * as v from 'valibot'

const milliseconds = 'milliseconds from 0 to 600000'
export const firstTokenMs = v.pipe(
  v.number(milliseconds),
  v.minValue(0, milliseconds),
  v.maxValue(600_000, milliseconds),
  v.description('Pause before the first piece of a stream, in milliseconds.'),
)

const perSecond = 'a number from 0 to 100000'
export const tokensPerSecond = v.pipe(
  v.number(perSecond),
  v.minValue(0, perSecond),
  v.maxValue(100_000, perSecond),
  v.description('Pieces a second after the first one; 0 is as fast as possible.'),
)
