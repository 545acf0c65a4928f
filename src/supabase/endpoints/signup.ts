/** POST /auth/v1/signup: creates a user by email or by phone, or an anonymous one. */
import { type Endpoint, type Exchange, jsonReply, type Reply } from '../../core/exchange.js'
import type { Json, Tables, UserRow } from '../../core/state.js'
import { validEmail, validPhone } from '../addresses.js'
import { type Backend, momentOf } from '../backend.js'
import { anonymousProviderDisabled, signupDisabled, userAlreadyExists, validationFailed } from '../errors.js'
import { type Challenge, challengeIn } from '../flows.js'
import { sendConfirmation, sendPhoneCode, type UserWithMessages } from '../letters.js'
import { hashOf, requireStrength } from '../passwords.js'
import { type Grant, startSession } from '../sessions.js'
import {
  confirmedEmail,
  confirmedPhone,
  fakeUser,
  isConfirmed,
  newUser,
  signedUp,
  userJson,
  userJsonWithoutConfirmedAt,
} from '../users.js'
import { announce, forAnyone, redirectOf, sessionReply } from './frame.js'
import { type Params, readParams } from './params.js'

const fields = {
  email: 'string',
  phone: 'string',
  password: 'string',
  data: 'object',
  channel: 'string',
  code_challenge: 'string',
  code_challenge_method: 'string',
} as const

type SignupParams = Params<typeof fields>

export const signup = (backend: Backend): Endpoint =>
  forAnyone(
    'POST /signup',
    {
      id: 'signUp',
      does: 'Creates a user by email or by phone, or an anonymous one.',
      fields,
      answer: 'session or user',
    },
    async exchange => {
      const params = readParams(exchange, 'SignupParams', fields)
      if (params.email === '' && params.phone === '') return signUpAnonymously(backend, exchange, params.data)
      if (backend.settings.disableSignup) throw signupDisabled()
      const challenge = validChallenge(backend, params)
      const { password, data } = params
      const result = await signUp(
        backend,
        { ...addressIn(params), password, data, challenge },
        redirectOf(backend, exchange),
      )
      switch (result.kind) {
        case 'signedIn':
          return sessionReply(backend, exchange, result.grant, { user: userJsonWithoutConfirmedAt(result.grant.user) })
        case 'waiting':
          return jsonReply(userJson(withoutAdminMetadata(result.user)))
        case 'taken':
          if (backend.settings.mailerAutoconfirm) throw userAlreadyExists()
          return jsonReply(userJson(result.madeUpUser))
      }
    },
  )

async function signUpAnonymously(backend: Backend, exchange: Exchange, data: Json): Promise<Reply> {
  const { settings } = backend
  if (!settings.externalAnonymousUsersEnabled) throw anonymousProviderDisabled()
  if (settings.disableSignup) throw signupDisabled()
  const user = newUser(momentOf(backend), { is_anonymous: true, user_metadata: data })
  const grant = await backend.state.write(async tables => {
    await tables.users.insert(user)
    return startSession(backend, tables, user, 'anonymous')
  })
  return sessionReply(backend, exchange, grant)
}

/** Throws if the request is not allowed. The order of the checks is Supabase's. */
function validChallenge({ settings }: Backend, params: SignupParams): Challenge | undefined {
  const { email, phone, password, channel } = params
  if (password === '') throw validationFailed('Signup requires a valid password')
  requireStrength(password, settings)
  if (email !== '' && phone !== '') {
    throw validationFailed('Only an email address or phone number should be provided on signup.')
  }
  if (phone !== '') requireChannel(channel)
  if (phone !== '' && params.code_challenge !== '') throw validationFailed('PKCE not supported for phone signups')
  return challengeIn(params)
}

/** How a user signs up, and the address as it was sent. */
type AddressInput = { readonly provider: 'email' | 'phone'; readonly given: string }

const addressIn = ({ email, phone }: SignupParams): AddressInput =>
  email !== '' ? { provider: 'email', given: email } : { provider: 'phone', given: phone }

type SignupInput = AddressInput & {
  readonly password: string
  readonly data: Json
  readonly challenge?: Challenge | undefined
}

/**
 * The result of a sign-up. If the address is taken, it contains a made-up user, which reveals nothing about the real
 * one.
 */
type SignUpResult =
  | { readonly kind: 'signedIn'; readonly grant: Grant }
  | ({ readonly kind: 'waiting' } & UserWithMessages)
  | { readonly kind: 'taken'; readonly madeUpUser: UserRow }

/** Signs a user up. Rejects like Supabase if that is not allowed. */
export async function signUp(backend: Backend, input: SignupInput, redirect: string): Promise<SignUpResult> {
  const { settings } = backend
  const { provider, given, data, challenge } = input
  if (settings.disableSignup) throw signupDisabled()
  const isMail = provider === 'email'
  const address = isMail ? validEmail(given) : validPhone(given)
  const encrypted_password = await hashOf(input.password)
  const at = momentOf(backend)

  const result = await backend.state.write(async (tables): Promise<SignUpResult> => {
    const [existing] = await tables.users.find({ [provider]: address })
    if (existing && (isMail ? isConfirmed(existing) : existing.phone_confirmed_at !== null)) {
      return { kind: 'taken', madeUpUser: fakeUser(at, isMail ? { email: address } : { phone: address }, data) }
    }
    // A second sign-up before confirming may come from another person, so the existing data stays unchanged.
    const user =
      existing ?? (await insertUser(tables, signedUp(newUser(at, { encrypted_password }), { ...input, address, at })))
    if (settings.mailerAutoconfirm) {
      const confirmed = { ...user, ...(isMail ? confirmedEmail(user, at) : confirmedPhone(at)) }
      await tables.users.update(user.id, confirmed)
      return { kind: 'signedIn', grant: await startSession(backend, tables, confirmed, 'password') }
    }
    const sent = isMail
      ? await sendConfirmation(backend, tables, user, { redirect, challenge })
      : await sendPhoneCode(backend, tables, user, { kind: 'sms', phone: address })
    return { kind: 'waiting', ...sent }
  })
  if (result.kind === 'waiting') announce(backend, result.messages)
  return result
}

async function insertUser({ users }: Tables, user: UserRow): Promise<UserRow> {
  await users.insert(user)
  return user
}

/** Signing up with the address of an invited user must not reveal metadata that the admin has set. */
const withoutAdminMetadata = (user: UserRow): UserRow =>
  user.invited_at === null ? user : { ...user, user_metadata: {}, identities: [] }

/** Throws a 400 for an unsupported way to send a text message. WhatsApp would need Twilio. */
export function requireChannel(channel: string): void {
  if (channel === '' || channel === 'sms') return
  throw validationFailed(
    "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.",
  )
}
