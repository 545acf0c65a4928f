/** The scope in the W3C header `baggage`, which OpenTelemetry passes on from one server to the next. */
import { percentDecoded } from '../core/paths.js'

/** The value of the header that names a scope. */
export const baggageOf = (scope: string) => `standin.scope=${encodeURIComponent(scope)}`

/** The member that names a scope: `standin.scope=red, other=1;of=it`. */
const baggageMember = /(?:^|,)\s*standin\.scope\s*=\s*([^\s,;]*)[^,]*/

/** The header without that member; empty if there is no other. */
export const withoutScope = (baggage: string) => baggage.replace(baggageMember, '').replace(/^[\s,]+/, '')

export function scopeInBaggage(baggage: string | readonly string[] | undefined): string | undefined {
  if (baggage === undefined) return undefined
  const value = baggageMember.exec(baggage.toString())?.[1]
  const name = value && percentDecoded(value)
  // As in a header, control characters cannot be part of a name.
  return name && !/\p{Cc}/u.test(name) ? name : undefined
}
