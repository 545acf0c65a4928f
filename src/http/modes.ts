/** Which mode holds for a request: that of its endpoint where it has one of its own. */
import { asksLive, type Mode } from '../core/exchange.js'
import { glob } from '../core/paths.js'

/** Patterns such as `GET /v1/*` with their modes; the first that fits holds. */
export type ModesByEndpoint = Readonly<Record<string, Mode>>

export type ModeOf = (request: { readonly method: string; readonly path: string }) => Mode

/** Whether a request in this mode may reach the live platform. */
export const mayGoLive = (mode: Mode, onMiss: 'fail' | 'emulate' | 'record') =>
  asksLive(mode) || (mode === 'replay' && onMiss === 'record')

/** `mode` holds where no pattern fits. HEAD goes with GET. */
export function modesFrom(mode: Mode, modes: ModesByEndpoint): ModeOf {
  const entries = Object.entries(modes).map(([written, mode]) => {
    const [path = '', method] = written.split(' ').reverse()
    return { pattern: glob(path), method, mode }
  })
  if (entries.length === 0) return () => mode
  return request => {
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const entry = entries.find(one => (one.method ?? method) === method && one.pattern.test(request.path))
    return entry?.mode ?? mode
  }
}
