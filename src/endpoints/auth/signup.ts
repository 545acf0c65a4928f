/** POST /auth/v1/signup: a new user by e-mail, by phone, or without a name. */
import { validEmail, validPhone } from '../../auth/addresses.js'
import { type Backend, momentOf } from '../../auth/backend.js'
import { challengeIn } from '../../auth/flows.js'
import { sendConfirmation, sendPhoneCode } from '../../auth/letters.js'
import { hashOf, requireStrength } from '../../auth/passwords.js'
import { startSession } from '../../auth/sessions.js'
import { confirmedEmail, confirmedPhone, fakeUser, isConfirmed, newUser, signedUp, userJson } from '../../auth/users.js'
import {
  anonymousProviderDisabled,
  emailProviderDisabled,
  phoneProviderDisabled,
  signupDisabled,
  userAlreadyExists,
  validationFailed,
} from '../../core/auth-errors.js'
import type { Endpoint, Reply } from '../../core/exchange.js'
import type { MessageRow } from '../../core/state.js'
import { jsonReply } from '../json-reply.js'
import { forAnyone, granted, redirectOf } from './frame.js'
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

export type SignupParams = Params<typeof fields>

export const signup = (backend: Backend): Endpoint =>
  forAnyone('POST', '/signup', exchange => {
    const params = readParams(exchange, 'SignupParams', fields)
    if (params.email === '' && params.phone === '') return signUpAnonymously(backend, params)
    return signUp(backend, params, redirectOf(backend, exchange))
  })

async function signUpAnonymously(backend: Backend, { data }: SignupParams): Promise<Reply> {
  const { settings } = backend
  if (!settings.externalAnonymousUsersEnabled) throw anonymousProviderDisabled()
  if (settings.disableSignup) throw signupDisabled()
  const user = newUser(momentOf(backend), { is_anonymous: true, user_metadata: data })
  const grant = await (await backend.state()).write(async tables => {
    await tables.users.insert(user)
    return startSession(backend, tables, user, 'anonymous')
  })
  return granted(backend, grant)
}

/** Signs somebody up as their parameters ask. Rejects with what Supabase answers when they may not. */
export async function signUp(backend: Backend, params: SignupParams, redirect: string): Promise<Reply> {
  const { settings } = backend
  if (settings.disableSignup) throw signupDisabled()
  if (params.password === '') throw validationFailed('Signup requires a valid password')
  requireStrength(params.password, settings)
  if (params.email !== '' && params.phone !== '') {
    throw validationFailed('Only an email address or phone number should be provided on signup.')
  }
  if (params.phone !== '') requireChannel(params.channel)
  if (params.phone !== '' && params.code_challenge !== '') {
    throw validationFailed('PKCE not supported for phone signups')
  }
  const challenge = challengeIn(params)
  const byEmail = params.email !== ''
  if (byEmail && !settings.externalEmailEnabled) throw emailProviderDisabled(400, 'Email signups are disabled')
  if (!byEmail && !settings.externalPhoneEnabled) throw phoneProviderDisabled(400, 'Phone signups are disabled')
  const address = byEmail ? validEmail(params.email) : validPhone(params.phone)

  const encrypted_password = await hashOf(params.password)
  const at = momentOf(backend)
  const done = await (await backend.state()).write(async tables => {
    const [known] = await tables.users.find(byEmail ? { email: address } : { phone: address })
    const isTaken = known && (byEmail ? isConfirmed(known) : known.phone_confirmed_at !== null)
    if (isTaken) return { kind: 'taken' } as const
    const provider = byEmail ? 'email' : 'phone'
    // Whoever signs up again before confirming may be somebody else: what was there stays as it is.
    const user = known ?? signedUp(newUser(at, { encrypted_password }), { provider, address, data: params.data, at })
    if (!known) await tables.users.insert(user)
    const confirms = byEmail ? settings.mailerAutoconfirm : settings.smsAutoconfirm
    if (confirms) {
      const confirmed = byEmail ? confirmedEmail(user, at) : confirmedPhone(user, at)
      await tables.users.update(user.id, confirmed)
      const grant = await startSession(backend, tables, { ...user, ...confirmed }, 'password')
      return { kind: 'in', grant } as const
    }
    const sent = byEmail
      ? await sendConfirmation(backend, tables, user, { redirect, challenge })
      : await sendPhoneCode(backend, tables, user, { kind: 'sms', phone: address })
    return { kind: 'waiting', ...sent } as const
  })

  switch (done.kind) {
    case 'in':
      return granted(backend, done.grant)
    case 'waiting':
      announce(backend, done.messages)
      return jsonReply(userJson(done.user))
    case 'taken':
      if (byEmail ? settings.mailerAutoconfirm : settings.smsAutoconfirm) throw userAlreadyExists()
      // Nobody is to find out by signing up who else has: the answer is that of a new user.
      return jsonReply(userJson(fakeUser(at, byEmail ? { email: address } : { phone: address }, params.data)))
  }
}

export function announce(backend: Backend, messages: readonly MessageRow[]): void {
  for (const message of messages) backend.announce(message)
}

export function requireChannel(channel: string): void {
  if (!['', 'sms', 'whatsapp'].includes(channel)) {
    throw validationFailed(
      "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.",
    )
  }
}
