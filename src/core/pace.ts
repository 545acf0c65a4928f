/** The pace of a stream, and its options, which are the same in the configuration, in a rule and in a header. */
import type { IncomingHttpHeaders } from 'node:http'
import * as v from 'valibot'
import { settingsIn } from '../check/check.js'
import { closed, described, map, numberBetween, optional, optionalEach } from '../check/forms.js'
import { invalidRequest } from './errors.js'

export interface Pace {
  readonly firstTokenMs: number
  /** Pieces per second after the first one; 0 means as fast as possible. */
  readonly tokensPerSecond: number
  /** How much pauses vary: 0.2 means up to a fifth longer or shorter. */
  readonly jitter: number
}

/** As fast as possible. */
export const unpaced: Pace = { firstTokenMs: 0, tokensPerSecond: 0, jitter: 0 }

/** The options of a pace, without defaults. */
export const paceOptions = {
  firstTokenMs: described(
    numberBetween(0, 600_000, 'milliseconds'),
    'Pause before the first piece of a stream, in milliseconds.',
  ),
  tokensPerSecond: described(
    numberBetween(0, 100_000),
    'Pieces per second after the first one; 0 means as fast as possible.',
  ),
  jitter: described(numberBetween(0, 1), 'How much the pauses vary: 0.2 is up to a fifth longer or shorter.'),
} as const

/** Some of the settings of a pace. */
export type PaceInput = { readonly [K in keyof Pace]?: Pace[K] | undefined }

/** The schema of such settings. */
export const paceInput = closed(optionalEach(paceOptions))

/** The control API's request to change the pace. Settings that are left out are as configured. */
export const paceChange = closed({
  ...paceInput.entries,
  models: optional(map(v.string(), paceInput, 'a map from models to paces'), 'The paces of individual models.'),
})

export type PaceChange = v.InferOutput<typeof paceChange>

/** Whether a stream with this pace pauses at all. Otherwise it can be sent in one piece. */
export const isPaced = ({ firstTokenMs, tokensPerSecond }: Pace) => firstTokenMs > 0 || tokensPerSecond > 0

/** Adds the settings that are missing in `own` from `defaults`. */
export function paceFrom(own: PaceInput | null | undefined, defaults: Pace): Pace {
  if (!own) return defaults
  const settings = Object.entries(own).filter(([, value]) => value !== undefined)
  return settings.length === 0 ? defaults : { ...defaults, ...Object.fromEntries(settings) }
}

export const PACE_HEADER = 'x-standin-pace'

/**
 * Parses the header `x-standin-pace: firstTokenMs=300; tokensPerSecond=50`. Returns `undefined` without the header.
 * Throws a 400 that names the header and the first invalid setting.
 */
export function requestedPaceOf({ [PACE_HEADER]: requestedPace }: IncomingHttpHeaders): PaceInput | undefined {
  if (requestedPace === undefined) return undefined
  const text = String(requestedPace)
  // Two headers arrive joined by a comma, which no pace setting contains.
  if (text.includes(','))
    throw invalidRequest(`Header ${PACE_HEADER} must be sent once, with ";" between its settings, not ",".`)
  const settings = settingsIn(text, paceInput)
  if ('sentence' in settings) throw invalidRequest(`Header ${PACE_HEADER}: ${settings.sentence}`)
  return settings.value
}
