/** Request headers: finding one in node's flat array, and those that set something for one request. */
import type { IncomingHttpHeaders } from 'node:http'
import type * as v from 'valibot'
import { check } from '../check/check.js'
import { invalidRequest } from './errors.js'
import { type PaceInput, paceInput } from './pace.js'

/** The first value of the header with this name, which is in small letters. */
export const headerIn = (headers: readonly string[], wanted: string): string | undefined =>
  headers.find((_value, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === wanted)

/**
 * What `text` sets, checked by `schema`: `cutAfterChunks=3; message=slow down`. Numbers, `true` and `false` are read as such, what stands in
 * double quotes as the text that it is, semicolons included; a name alone is true.
 * Throws a 400 that names the header and the first setting that is wrong.
 */
export function settingsIn<S extends v.GenericSchema<unknown, unknown>>(
  header: string,
  text: string,
  schema: S,
): v.InferOutput<S> {
  const settings: Record<string, unknown> = Object.create(null)
  for (const part of text.match(parts) ?? []) {
    const mark = part.indexOf('=')
    const name = (mark < 0 ? part : part.slice(0, mark)).trim()
    if (part.trim() === '') continue
    if (name in settings) throw invalidRequest(`Header ${header}: ${name} is there twice.`)
    settings[name] = mark < 0 ? true : read(part.slice(mark + 1).trim())
  }
  const checked = check(schema, { ...settings }, { firstOnly: true, whole: 'it' })
  if ('value' in checked) return checked.value
  throw invalidRequest(`Header ${header}: ${checked.mistakes[0]?.sentence}`)
}

/** What stands between semicolons; those in quotes belong to the text. */
const parts = /(?:=\s*"[^"]*"|[^;])+/g

function read(text: string): unknown {
  if (/^"[^"]*"$/.test(text)) return text.slice(1, -1)
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

export const PACE_HEADER = 'x-standin-pace'

/**
 * What `x-standin-pace: firstTokenMs=300; tokensPerSecond=50` asks for; nothing without the header. Throws a 400 that names the header
 * and the first setting that is wrong.
 */
export function paceAsked(headers: IncomingHttpHeaders): PaceInput | undefined {
  const asked = headers[PACE_HEADER]
  if (asked === undefined) return undefined
  const text = String(asked)
  // Two headers arrive here joined by a comma, which no setting of a pace has in it.
  if (!text.includes(',')) return settingsIn(PACE_HEADER, text, paceInput)
  throw invalidRequest(`Header ${PACE_HEADER} must be there once, with ";" between its settings, not ",".`)
}
