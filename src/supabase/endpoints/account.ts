/** POST /auth/v1/signup, GET and PUT /auth/v1/user: creates a user, and lets users read and change their own data. */
import type { Exchange } from '../../core/exchange.js'
import { jsonReply, type Reply } from '../../core/reply.js'
import type { Json, Tables, UserRow } from '../../state/rows.js'
import { type Backend, momentOf } from '../backend.js'
import type { SignedIn } from '../callers.js'
import { dropTokens } from '../codes.js'
import {
  anonymousProviderDisabled,
  anonymousWithoutAddress,
  notAdmin,
  samePassword,
  signupDisabled,
  userAlreadyExists,
  userOfTokenNotFound,
  validationFailed,
} from '../errors.js'
import { type LinkTarget, sendEmailChange, sendLink, sendPhoneCode, type UserWithMessages } from '../letters.js'
import { hashOf, matchesHash, requireStrength } from '../passwords.js'
import { challengeIn, endSessionsOf, type Grant, startSession } from '../sessions.js'
import {
  changedEmail,
  changedPassword,
  changedPhone,
  confirmedEmail,
  confirmedPhone,
  fakeUser,
  mergeMetadata,
  newUser,
  requireFree,
  signedUp,
  userJson,
} from '../users.js'
import {
  addressFields,
  addressIn,
  announce,
  hasConfirmed,
  linkTargetOf,
  requireChannel,
  requirePhones,
  withAddresses,
} from './addresses.js'
import { type Params, readParams } from './forms.js'
import { forAnyone, forUser, sessionReply } from './frame.js'

const signUpFields = { ...addressFields, password: 'string', data: 'object' } as const

export const signup = forAnyone({
  at: 'POST /signup',
  async reply(backend, exchange) {
    const params = readParams(exchange, signUpFields)
    const { email, phone, password, channel } = params
    if (email === '' && phone === '') return signUpAnonymously(backend, exchange, params.data)
    if (backend.settings.disableSignup) throw signupDisabled()
    if (password === '') throw validationFailed('Signup requires a valid password')
    requireStrength(password, backend.settings)
    if (email !== '' && phone !== '') {
      throw validationFailed('Only an email address or phone number should be provided on signup.')
    }
    if (phone !== '') requireChannel(channel)
    if (phone !== '' && params.code_challenge !== '') throw validationFailed('PKCE not supported for phone signups')
    const back = linkTargetOf(backend, exchange, params)
    if (email === '') requirePhones(backend, 'Phone signups are disabled')
    const result = await signUp(backend, params, back)
    switch (result.kind) {
      case 'signedIn':
        return sessionReply(backend, exchange, result.grant, { user: userJson(result.grant.user, 'fresh') })
      case 'waiting':
        return jsonReply(userJson(withoutAdminMetadata(result.user)))
      case 'taken':
        if (backend.settings.mailerAutoconfirm) throw userAlreadyExists()
        return jsonReply(userJson(result.madeUpUser))
    }
  },
})

async function signUpAnonymously(backend: Backend, exchange: Exchange, data: Json): Promise<Reply> {
  const { settings } = backend
  if (settings.external.anonymous_users === false) throw anonymousProviderDisabled()
  if (settings.disableSignup) throw signupDisabled()
  const user = newUser(momentOf(backend), { is_anonymous: true, user_metadata: data })
  const grant = await backend.state.write(async tables => {
    await tables.users.insert(user)
    return startSession(backend, tables, user, 'anonymous')
  })
  return sessionReply(backend, exchange, grant)
}

/** The phone number is empty for a user with an email address. */
type SignUpInput = Pick<Params<typeof signUpFields>, 'email' | 'phone' | 'password' | 'data'>

/**
 * The result of a sign-up. If the address is taken, it contains a made-up user, which reveals nothing about the real
 * one.
 */
type SignUpResult =
  | { readonly kind: 'signedIn'; readonly grant: Grant }
  | ({ readonly kind: 'waiting' } & UserWithMessages)
  | { readonly kind: 'taken'; readonly madeUpUser: UserRow }

/** Signs a user up. Rejects like Supabase if that is not allowed. */
export async function signUp(backend: Backend, input: SignUpInput, back: LinkTarget): Promise<SignUpResult> {
  const { settings } = backend
  const { data } = input
  if (settings.disableSignup) throw signupDisabled()
  const named = addressIn(input)
  const [provider, address] = 'email' in named ? (['email', named.email] as const) : (['phone', named.phone] as const)
  const encrypted_password = await hashOf(input.password)
  const at = momentOf(backend)

  const result = await backend.state.write(async (tables): Promise<SignUpResult> => {
    const [existing] = await tables.users.find(named)
    if (existing && hasConfirmed(existing, named)) {
      return { kind: 'taken', madeUpUser: fakeUser(at, provider, address, data) }
    }
    // A second sign-up before confirming may come from another person, so the existing data stays unchanged.
    const user = existing ?? signedUp(newUser(at, { encrypted_password }), provider, address, data)
    if (!existing) await tables.users.insert(user)
    if (settings.mailerAutoconfirm) {
      const confirmed = { ...user, ...(provider === 'email' ? confirmedEmail(user, at) : confirmedPhone(at)) }
      await tables.users.update(user.id, confirmed)
      return { kind: 'signedIn', grant: await startSession(backend, tables, confirmed, 'password') }
    }
    const sent =
      provider === 'email'
        ? await sendLink(backend, tables, user, 'signup', back)
        : await sendPhoneCode(backend, tables, user, 'sms', address)
    return { kind: 'waiting', ...sent }
  })
  if (result.kind === 'waiting') announce(backend, result.messages)
  return result
}

/** Signing up with the address of an invited user must not reveal metadata that the admin has set. */
const withoutAdminMetadata = (user: UserRow): UserRow =>
  user.invited_at === null ? user : { ...user, user_metadata: {}, identities: [] }

export const getUser = forUser({
  at: 'GET /user',
  reply: (_backend, _exchange, { user }) => jsonReply(userJson(user)),
})

const updateFields = { ...addressFields, password: 'string?', data: 'object?', app_metadata: 'object?' } as const

type UserUpdate = Params<typeof updateFields>

export const updateUser = forUser({
  at: 'PUT /user',
  async reply(backend, exchange, who) {
    const params = validated(backend, readParams(exchange, updateFields), who.user)
    const password = params.password === undefined ? undefined : await newHash(params.password, who.user)
    const back = linkTargetOf(backend, exchange, params)
    const { user, messages } = await backend.state.write(tables =>
      update(backend, tables, who, { params, password, back }),
    )
    announce(backend, messages)
    return jsonReply(userJson(user))
  },
})

/**
 * Returns the parameters with normalized addresses; an address that the user already has is dropped. Throws if the
 * request is not allowed.
 */
function validated({ settings }: Backend, given: UserUpdate, user: UserRow): UserUpdate {
  const params = withAddresses(given)
  const { email, phone } = params
  if (phone !== '') requireChannel(params.channel)
  if (params.password !== undefined) requireStrength(params.password, settings)
  if (params.app_metadata) throw notAdmin('Updating app_metadata requires admin privileges')
  if (user.is_anonymous && params.password && email === '' && phone === '') throw anonymousWithoutAddress()
  challengeIn(params)
  return { ...params, email: email === user.email ? '' : email, phone: phone === user.phone ? '' : phone }
}

/** Returns the hash of the new password. Rejects if it is the old one. */
async function newHash(password: string, user: UserRow): Promise<string> {
  if (user.encrypted_password !== null && (await matchesHash(password, user.encrypted_password))) throw samePassword()
  return hashOf(password)
}

interface UserChange {
  readonly params: UserUpdate
  readonly password: string | undefined
  readonly back: LinkTarget
}

/** Returns the changed user, and the messages that ask to confirm a new address. */
async function update(backend: Backend, tables: Tables, { user: { id }, session }: SignedIn, change: UserChange) {
  const { params, password, back } = change
  const { email, phone, data } = params
  const { mailerAutoconfirm } = backend.settings
  const at = momentOf(backend)
  const found = await tables.users.get(id)
  if (!found) throw userOfTokenNotFound()
  await requireFree(tables, params, id)

  let user: UserRow = { ...found, updated_at: at }
  if (data) user = { ...user, user_metadata: mergeMetadata(user.user_metadata, data) }
  if (password !== undefined) {
    user = { ...user, ...changedPassword(password) }
    await dropTokens(tables, id)
    // The sessions of the old password end; the one that set the new password stays.
    await endSessionsOf(tables, id, session?.id)
  }
  // A user who already has an address must always confirm the next one.
  if (email !== '' && user.is_anonymous && mailerAutoconfirm) user = { ...user, ...changedEmail(user, email, at) }
  if (phone !== '' && mailerAutoconfirm) user = { ...user, ...changedPhone(user, phone, at) }
  await tables.users.update(id, user)

  let sent: UserWithMessages = { user, messages: [] }
  if (email !== '' && user.email !== email) sent = await sendEmailChange(backend, tables, user, email, back)
  if (phone === '' || user.phone === phone) return sent
  const text = await sendPhoneCode(backend, tables, sent.user, 'phone_change', phone)
  return { user: text.user, messages: [...sent.messages, ...text.messages] }
}
