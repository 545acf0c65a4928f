/** Finds the mode of a request: that of its endpoint if it has one, otherwise the general mode. */
import { type Mode, usesLive } from '../core/exchange.js'
import { glob, lookupMethod } from '../core/paths.js'

/** Patterns such as `GET /v1/*` with their modes. The first match wins. */
export type ModesByEndpoint = Readonly<Record<string, Mode>>

export type ModeOf = (request: { readonly method: string; readonly path: string }) => Mode

/** Whether a request in this mode may reach the live platform. */
export const mayUseLive = (mode: Mode, onMiss: 'fail' | 'emulate' | 'record') =>
  usesLive(mode) || (mode === 'replay' && onMiss === 'record')

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
