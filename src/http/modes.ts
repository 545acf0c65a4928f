/** Finds the mode of a request: that of its endpoint if it has one, otherwise the general mode. */
import * as v from 'valibot'
import { closed, map, text, word } from '../check/forms.js'
import { type Mode, modes, usesLive } from '../core/exchange.js'
import { glob, lookupMethod } from '../core/paths.js'

/** Patterns such as `GET /v1/*` with their modes. The first match wins. */
export type ModesByEndpoint = Readonly<Record<string, Mode>>

/** What replay does with a request that has no recording. */
export type OnMiss = 'fail' | 'nearest' | 'any' | 'emulate' | 'record'

export type ModeOf = (request: { readonly method: string; readonly path: string }) => Mode

/** Whether a request in this mode may reach the live platform. */
export const mayUseLive = (mode: Mode, onMiss: OnMiss) => usesLive(mode) || (mode === 'replay' && onMiss === 'record')

/**
 * Returns the function that finds the mode of a request. `mode` applies where no pattern matches. HEAD counts as GET.
 */
export function createModeOf(mode: Mode, modes: ModesByEndpoint): ModeOf {
  const entries = Object.entries(modes).map(([written, mode]) => {
    const [path = '', method] = written.split(' ').reverse()
    return { pattern: glob(path), method, mode }
  })
  if (entries.length === 0) return () => mode
  return request => {
    const method = lookupMethod(request.method)
    const entry = entries.find(one => (one.method ?? method) === method && one.pattern.test(request.path))
    return entry?.mode ?? mode
  }
}

const endpointPattern = v.pipe(
  text,
  v.regex(/^(\*|([A-Z]+ )?(\/.*|\*))$/, 'a path with or without a method before it, such as "GET /v1/*", or "*"'),
)
export const modesByEndpoint = v.pipe(
  map(endpointPattern, word(modes), 'a map from endpoints to modes'),
  v.check(
    entries => !Object.keys(entries).slice(0, -1).includes('*'),
    'a map in which "*" comes last, because it hides the entries after it',
  ),
)

/** A mode, and the modes of single endpoints. */
export const modeSwitch = closed({ mode: word(modes), modes: v.optional(modesByEndpoint) })
