/** Reads the credential out of the Authorization header (platform-api.md, "Authentication", rule 3; RFC 6750 §2.1). */
import {
  doubledCredential,
  emptyCredential,
  malformedCredential,
  missingCredential,
  wrongScheme,
} from '../core/errors.js'

/** Scheme in any case, one space or more, one token of RFC 6750's alphabet. */
const bearer = /^bearer +([\w.~+/-]+=*) *$/i

/**
 * The token of the header's value. Throws a 401 that says what is wrong with it.
 * A header that was sent twice arrives here joined by a comma, which no token contains.
 */
export function bearerToken(header: string | undefined): string {
  const token = header !== undefined && bearer.exec(header)?.[1]
  if (token) return token
  if (header === undefined) throw missingCredential()
  if (/^(bearer)? *$/i.test(header)) throw emptyCredential({ kind: 'header', reason: 'empty' })
  if (!/^bearer[ ,]/i.test(header)) throw wrongScheme({ kind: 'header', reason: 'scheme' })
  if (/,/.test(header) || /^bearer +\S+ +\S/i.test(header))
    throw doubledCredential({ kind: 'header', reason: 'doubled' })
  throw malformedCredential({ kind: 'header', reason: 'malformed' })
}
