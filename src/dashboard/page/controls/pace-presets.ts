/** Paces that are known by a name. */
import type { Pace } from '../../../core/pace.js'

const none: Pace = {
  firstTokenMs: 0,
  tokensPerSecond: 0,
  jitter: 0,
  distribution: 'uniform',
  promptTokensPerSecond: 0,
  fullSpeedStreams: 0,
}

export interface PacePreset {
  readonly name: string
  readonly pace: Pace
}

export const pacePresets: readonly PacePreset[] = [
  { name: 'Instant', pace: none },
  { name: 'Fast', pace: { ...none, firstTokenMs: 150, tokensPerSecond: 120, jitter: 0.1 } },
  {
    name: 'Like a large model',
    pace: { ...none, firstTokenMs: 700, tokensPerSecond: 35, jitter: 0.35, distribution: 'lognormal' },
  },
  {
    name: 'Slow',
    pace: { ...none, firstTokenMs: 3000, tokensPerSecond: 6, jitter: 0.4, distribution: 'lognormal' },
  },
]

const keys = Object.keys(none) as (keyof Pace)[]

export const isSamePace = (one: Pace, other: Pace) => keys.every(key => one[key] === other[key])
