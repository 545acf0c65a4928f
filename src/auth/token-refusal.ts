/** Why a token is not accepted; apart from the signing itself, since whoever words it need not load that. */

/** What is wrong with a token. */
export type TokenFault =
  | 'malformed'
  | 'unreadable'
  | 'algorithm'
  | 'unknown-key'
  | 'signature'
  | 'expired'
  | 'not-yet'
  | 'times'
  | 'claims'

/** Each layer words it in its own way. */
export class TokenRefusal extends Error {
  override readonly name = 'TokenRefusal'

  constructor(
    readonly fault: TokenFault,
    /** What the token says of its signature. */
    readonly header: { readonly alg?: string | undefined; readonly kid?: string | undefined } = {},
    /** What is wrong with a claim, in the words of Go's JSON reader. */
    readonly why = '',
  ) {
    super(`The token is refused: ${fault}.`)
  }
}
