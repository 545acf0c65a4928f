/** The pace that one request asks for, in a header of its own. */
import type { IncomingHttpHeaders } from 'node:http'
import { invalidRequest } from './errors.js'
import { settingsIn } from './header-settings.js'
import { type PaceInput, paceInput } from './pace.js'

const HEADER = 'x-standin-pace'

/**
 * What `x-standin-pace: firstTokenMs=300; tokensPerSecond=50` asks for; nothing without the header. Throws a 400 that names the header
 * and the first setting that is wrong.
 */
export function paceAsked(headers: IncomingHttpHeaders): PaceInput | undefined {
  const asked = headers[HEADER]
  if (asked === undefined) return undefined
  const text = String(asked)
  // Two headers arrive here joined by a comma, which no setting of a pace has in it.
  if (!text.includes(',')) return settingsIn(HEADER, text, paceInput)
  throw invalidRequest(`Header ${HEADER} must be there once, with ";" between its settings, not ",".`)
}
