/** Why a token is not accepted; apart from the signing itself, so that wording a refusal does not load that. */
import type { Tried } from '../core/caller.js'

/** What is wrong with a token by itself, whatever has become of its session and its user. */
export type TokenFault = Exclude<(Tried & { readonly kind: 'token' })['reason'], 'role' | 'session' | 'user' | 'live'>

/** Each layer words it in its own way. */
export class TokenRefusal extends Error {
  override readonly name = 'TokenRefusal'

  constructor(
    readonly fault: TokenFault,
    /** What the token's header says. */
    readonly header: { readonly alg?: string | undefined; readonly kid?: string | undefined } = {},
    private readonly more: {
      /** What is wrong with a claim, in the words of Go's JSON reader. */
      readonly why?: string
      /** What a token says whose signature is good. */
      readonly claims?: { readonly email?: unknown }
    } = {},
  ) {
    super(`The token is refused: ${fault}.`)
  }

  get tried(): Tried {
    return triedToken(this.fault, this.more.claims ?? {})
  }

  get why(): string {
    return this.more.why ?? ''
  }
}

/** More of an address is not kept of a token that opens nothing. */
const LONGEST_EMAIL = 254

export const triedToken = (
  reason: (Tried & { readonly kind: 'token' })['reason'],
  { email }: { readonly email?: unknown },
): Tried => ({
  ...{ kind: 'token', reason },
  ...(typeof email === 'string' && email !== '' && { email: email.slice(0, LONGEST_EMAIL) }),
})
