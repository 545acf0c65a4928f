/** The errors about credentials: API keys, tokens and the control token. */
import type { CredentialKind } from '../core/caller.js'
import { alternatives, challenge, PlatformError, refusal, unauthorized } from '../core/errors.js'

export const missingCredential = unauthorized(
  'missing_credential',
  'No credential was sent. Add the header "Authorization: Bearer <credential>".',
)

export const emptyCredential = unauthorized(
  'empty_credential',
  'The Authorization header has no credential. Send "Bearer", a space and the key.',
)

export const wrongScheme = unauthorized(
  'wrong_scheme',
  'The Authorization header must use the Bearer scheme: "Bearer <credential>".',
)

export const malformedCredential = unauthorized(
  'malformed_credential',
  'The credential is malformed. Send "Bearer" and exactly one key or token.',
)

export const doubledCredential = unauthorized(
  'doubled_credential',
  'More than one credential was sent. Send exactly one Authorization header.',
)

const otherState = 'made by a Standin with another state, such as that of another folder'

/** Hints for a valid credential of which the state knows nothing. */
export const fromAnotherState = {
  key: `Its checksum is valid, but this state has no such key. It was probably ${otherState}. Create a key here with standin key create, or start Standin with that state.`,
  session: `This state has no such session: it has ended, or it was ${otherState}.`,
  user: `This state has no such user: the token was probably ${otherState}, or the user was deleted. Sign in here, or start Standin with that state.`,
} as const

const keyNotKnown = 'The API key is not known.'

export const unknownApiKey = unauthorized('unknown_api_key', keyNotKnown)

/** The client gets the same message as for an unknown key. The log says that the key was mistyped. */
export const mistypedApiKey = unauthorized(
  'mistyped_api_key',
  keyNotKnown,
  'Its checksum is wrong: part of the key was lost or mistyped.',
)

export const ownerlessApiKey = unauthorized('ownerless_api_key', 'The owner of this API key can no longer sign in.')

export const revokedApiKey = unauthorized('revoked_api_key', 'The API key has been revoked.')

export const expiredApiKey = unauthorized('expired_api_key', 'The API key has expired.')

export const expiredToken = unauthorized('expired_token', 'The token has expired. Sign in again for a fresh one.')

/** If the state has no such user any more, there is another hint. */
export const endedSession = unauthorized(
  'ended_session',
  'The session of this token has ended. Sign in again for a fresh one.',
  fromAnotherState.session,
)

/** The hint contains the answer of the live backend. */
export const refusedByLive = unauthorized('refused_by_live', 'The live auth backend refuses the token.')

export const barredUser = unauthorized('barred_user', 'The user of this token can no longer sign in.')

export const tokenNotYetValid = unauthorized('token_not_yet_valid', 'The token is not valid yet.')

export const tokenWithoutExpiry = unauthorized('token_without_expiry', 'The token has no readable expiry time (exp).')

export const mistypedClaim = unauthorized('mistyped_claim', 'A claim of the token has the wrong type.')

export const unsignedToken = unauthorized(
  'alg_not_allowed',
  'The token is not signed with an algorithm that is accepted here.',
)

export const wronglySignedToken = unauthorized(
  'wrong_signature',
  "The token was not signed by this platform's auth backend.",
)

export const malformedToken = unauthorized('malformed_token', 'The token is not a readable JWT.')

export const roleUnknown = unauthorized(
  'unknown_role',
  'The token has no role that grants access here. Sign in to get a user token.',
)

const credentialNames: Record<CredentialKind, string> = {
  anon: 'the anon key',
  service: 'the service key',
  user: 'a user token',
  apiKey: 'an API key',
}

export const wrongKind = (kind: CredentialKind, accepted: readonly CredentialKind[], endpoint: string) =>
  new PlatformError(
    401,
    'wrong_kind',
    `${capitalized(credentialNames[kind])} is not accepted by ${endpoint}. Send ${alternatives(accepted.map(k => credentialNames[k]))}.`,
    challenge,
  )

export const noSuchApiKey = () => refusal(404, 'no_such_api_key', 'You have no such API key.')

const howToControl =
  'Add the header "Authorization: Bearer <control token>": the option controlToken, or the token printed at startup. With your own auth.jwtSecret, the service key works too.'

export const missingControlToken = unauthorized(
  'missing_control_token',
  `The control API needs a credential here, because other machines can reach this address. ${howToControl}`,
)

export const unknownControlToken = unauthorized(
  'unknown_control_token',
  `This is neither the control token nor the service key. ${howToControl}`,
)

export const notForControl = () =>
  refusal(403, 'not_for_control', `This credential does not give access to the control API. ${howToControl}`)

export const publicServiceKey = () =>
  refusal(
    403,
    'public_service_key',
    `The service key is not accepted here: it is signed with the public default of auth.jwtSecret, so anyone can create it. ${howToControl}`,
  )

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
