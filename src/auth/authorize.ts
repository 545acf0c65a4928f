/** Says who may: holds a caller against an endpoint's access. */
import { missingCredential, wrongKind } from '../core/errors.js'
import type { Caller, Endpoint } from '../core/exchange.js'

/** Returns when the caller may ask `endpoint`, or the live platform is to say; throws a 401 that names the kinds it takes otherwise. */
export function authorize(caller: Caller, { access, method, path }: Endpoint): void {
  if (access === 'anyone' || caller.kind === 'stranger') return
  if (caller.kind === 'anonymous' || caller.kind === 'refused') throw missingCredential()
  if (!access.includes(caller.kind)) throw wrongKind(caller.kind, access, `${method} ${path}`)
}
