/** The credentials that a caller shows: they are secret wherever they recur. */
import type { Exchange } from './exchange.js'
import type { Redact } from './redact.js'

/** Wherever a client may put them; the usual ones however short they are. */
export function credentialsOf(
  { authorization = '', headers, query }: Pick<Exchange, 'authorization' | 'headers' | 'query'>,
  { secretsIn }: Pick<Redact, 'secretsIn'>,
): readonly string[] {
  const [, bearer = ''] = /^\S+ +(\S+)/.exec(authorization) ?? []
  const shown = [bearer, headers.apikey, headers['x-api-key'], new URLSearchParams(query).get('apikey')]
  const usual = shown.flatMap(value => (typeof value === 'string' && value !== '' ? [value] : []))
  return [...new Set([...usual, ...secretsIn({ headers: fieldsOf(headers), query })])]
}

/** Node has a list of values for Set-Cookie alone, which nobody asks with. */
const fieldsOf = (headers: Exchange['headers']) =>
  Object.entries(headers).map(([name, value = '']) => [name, String(value)] as const)
