/** Sign-ins with PKCE (RFC 7636): stores the app's challenge until the app returns with its verifier. */
import { createHash, randomUUID } from 'node:crypto'
import { digestOf, isSameSecret } from '../core/secrets.js'
import type { FlowStateRow, Tables } from '../state/rows.js'
import { type Backend, momentOf } from './backend.js'
import { badCodeVerifier, flowStateExpired, flowStateNotFound, noFlowForLink, validationFailed } from './errors.js'

export interface Challenge {
  readonly code_challenge: string
  readonly code_challenge_method: string
}

/** How long the app may take to return; Supabase's default. */
const FLOW_SECONDS = 300

/**
 * Returns the challenge of a request, if it has one. Throws a 400 for an incomplete or malformed one (RFC 7636 §4.2).
 */
export function challengeIn({ code_challenge, code_challenge_method }: Challenge): Challenge | undefined {
  if (code_challenge === '' && code_challenge_method === '') return undefined
  if (code_challenge === '' || code_challenge_method === '') {
    throw validationFailed('PKCE flow requires code_challenge_method and code_challenge')
  }
  if (code_challenge.length < 43 || code_challenge.length > 128) {
    throw validationFailed('code challenge has to be between 43 and 128 characters')
  }
  if (!/^[\w.~-]+$/.test(code_challenge)) {
    throw validationFailed(
      'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
    )
  }
  if (!/^(s256|plain)$/i.test(code_challenge_method)) {
    throw validationFailed(`unsupported code_challenge method "${code_challenge_method}"`)
  }
  return { code_challenge, code_challenge_method: code_challenge_method.toLowerCase() }
}

/** Stores the challenge for the link that is sent to `userId`, and replaces that of an earlier one of the same kind. */
export async function beginFlow(
  backend: Backend,
  { flow_states }: Tables,
  challenge: Challenge,
  userId: string,
  method: string,
): Promise<void> {
  for (const flow of await flow_states.find({ user_id: userId })) {
    const isWaiting = flow.auth_code_issued_at === null
    const isOver = isWaiting ? flow.authentication_method === method : hasExpired(backend, flow)
    if (isOver) await flow_states.remove({ id: flow.id })
  }
  // A plain challenge is the verifier itself.
  const isVerifier = challenge.code_challenge_method !== 's256'
  await flow_states.insert({
    id: randomUUID(),
    user_id: userId,
    // Replaced when the link is opened. Until then no code leads here.
    auth_code: digestOf(randomUUID()),
    code_challenge: isVerifier ? challengeOf(challenge.code_challenge) : challenge.code_challenge,
    code_challenge_method: 's256',
    authentication_method: method,
    created_at: momentOf(backend),
    auth_code_issued_at: null,
  })
}

/** The `amr` claim's name for a link of this type. */
export const methodOfLink = (type: string) => (type === 'signup' || type === 'email' ? 'email/signup' : type)

/** Returns the code that an opened link passes to the app. Throws a 400 if no flow is waiting for it. */
export async function issueAuthCode(
  backend: Backend,
  { flow_states }: Tables,
  userId: string,
  method: string,
): Promise<string> {
  const [flow] = await flow_states.find({
    user_id: userId,
    authentication_method: method,
    auth_code_issued_at: null,
  })
  if (!flow) throw noFlowForLink()
  const code = randomUUID()
  await flow_states.update(flow.id, { auth_code: digestOf(code), auth_code_issued_at: momentOf(backend) })
  return code
}

/**
 * Removes and returns the flow of `authCode`. Throws if there is none, if it has expired, or if the verifier is wrong.
 */
export async function endFlow(
  backend: Backend,
  { flow_states }: Tables,
  authCode: string,
  verifier: string,
): Promise<FlowStateRow> {
  const [flow] = await flow_states.find({ auth_code: digestOf(authCode) })
  if (!flow) throw flowStateNotFound()
  if (hasExpired(backend, flow)) throw flowStateExpired()
  if (!isSameSecret(challengeOf(verifier), flow.code_challenge)) throw badCodeVerifier()
  await flow_states.remove({ id: flow.id })
  return flow
}

const hasExpired = ({ now }: Backend, { auth_code_issued_at, created_at }: FlowStateRow) =>
  now() > Date.parse(auth_code_issued_at ?? created_at) + FLOW_SECONDS * 1000

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')
