/** The reasons why a token is refused. Separate from signing, so that describing a refusal does not load it. */
import type { RefusedCredential } from '../core/caller.js'

/** What is wrong with the token itself, apart from its session and its user. */
export type TokenFault = Exclude<
  (RefusedCredential & { readonly kind: 'token' })['reason'],
  'role' | 'session' | 'user' | 'live'
>

/** Each layer turns it into its own message. */
export class TokenRefusal extends Error {
  override readonly name = 'TokenRefusal'

  constructor(
    readonly fault: TokenFault,
    /** From the token's header. */
    readonly header: { readonly alg?: string | undefined; readonly kid?: string | undefined } = {},
    private readonly more: {
      /** What is wrong with a claim, in the words of Go's JSON reader. */
      readonly why?: string
      /** The claims of a token whose signature is valid. */
      readonly claims?: { readonly email?: unknown }
    } = {},
  ) {
    super(`The token is refused: ${fault}.`)
  }

  get tried(): RefusedCredential {
    return triedToken(this.fault, this.more.claims ?? {})
  }

  get why(): string {
    return this.more.why ?? ''
  }
}

/** The journal keeps no more of the address in an unverified token. */
const LONGEST_EMAIL = 254

export const triedToken = (
  reason: (RefusedCredential & { readonly kind: 'token' })['reason'],
  { email }: { readonly email?: unknown },
): RefusedCredential => ({
  ...{ kind: 'token', reason },
  ...(typeof email === 'string' && email !== '' && { email: email.slice(0, LONGEST_EMAIL) }),
})
