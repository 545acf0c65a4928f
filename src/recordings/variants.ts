/** Other requests whose recordings can answer a request once they are converted. */
import { isObject, type JsonObject, sortedFields } from './canonical.js'
import { asksForChat } from './defaults.js'
import type { RecordedRequest } from './recording.js'

/** In the order in which they are preferred; without the request itself. */
export function variantsOf(request: RecordedRequest): readonly RecordedRequest[] {
  const { method, path, body } = request
  if (method === 'HEAD') return [{ ...request, method: 'GET' }]
  if (method !== 'POST' || !asksForChat(path) || body.kind !== 'json' || !isObject(body.value)) return []
  return otherWays(body.value).map(value => ({ ...request, body: { kind: 'json', value } }))
}

/** A stream with its usage says all that a whole answer says; a whole answer can be cut into any stream. */
function otherWays(asked: JsonObject): readonly JsonObject[] {
  const { stream, stream_options: written, ...whole } = asked
  const { include_usage: tellsUsage, ...options } = isObject(written) ? written : {}
  const withUsage = sortedFields({ ...whole, stream: true, stream_options: { include_usage: true, ...options } })
  const more = Object.keys(options).length > 0 ? { stream_options: options } : {}
  const withoutUsage = sortedFields({ ...whole, stream: true, ...more })
  if (stream !== true) return [withUsage, withoutUsage]
  return [tellsUsage === true ? withoutUsage : withUsage, whole]
}
