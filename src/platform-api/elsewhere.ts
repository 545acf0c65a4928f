/** A path that is not documented: perhaps the live platform knows it. */
import { notFound } from '../core/errors.js'
import { type Access, credentialKinds, type Endpoint } from '../core/exchange.js'

/** Which credentials open what is below a documented prefix (platform-api.md, "Authentication", rules 4 and 5). */
const accessBelow: readonly (readonly [prefix: string, access: Access])[] = [
  ['/v1/', ['apiKey', 'user']],
  ['/api/v1/', ['anon', 'service', 'user']],
]

/** Any method on any such path; here it does not exist. */
export const elsewhere = (method: string, path: string): Endpoint => ({
  method,
  path,
  access: accessBelow.find(([prefix]) => path.startsWith(prefix))?.[1] ?? credentialKinds,
  takesBody: true,
  isElsewhere: true,
  reply() {
    throw notFound()
  },
})
