/** POST /auth/v1/invite and /admin/generate_link: sends an invitation, or returns a link for the admin to send. */
import { type Endpoint, jsonReply } from '../../core/exchange.js'
import type { OneTimeTokenType, Tables, UserRow } from '../../core/state.js'
import { validEmail } from '../addresses.js'
import { type Backend, momentOf } from '../backend.js'
import { actionLink, hashOfCode, newCode, storeToken } from '../codes.js'
import { redirectTo } from '../destinations.js'
import { emailExists, userNotFound, validationFailed } from '../errors.js'
import { sendInvite } from '../letters.js'
import { hashOf, randomPassword, requireStrength } from '../passwords.js'
import { invitedAs, mergeMetadata, newUser, userJson } from '../users.js'
import { announce, forAdmin, redirectOf } from './frame.js'
import { type Params, readParams } from './params.js'

const inviteFields = { email: 'string', data: 'object' } as const

export const invite = (backend: Backend): Endpoint =>
  forAdmin(backend)(
    'POST /invite',
    { id: 'invite', does: 'Invites a user by email.', fields: inviteFields, answer: 'user' },
    async exchange => {
      const params = readParams(exchange, 'InviteParams', inviteFields)
      const guest = newcomer(backend, { ...params, email: validEmail(params.email) }, null)
      const sent = await backend.state.write(async tables => {
        const user = await findOrAddUnconfirmed(tables, guest)
        return sendInvite(backend, tables, user, redirectOf(backend, exchange))
      })
      announce(backend, sent.messages)
      return jsonReply(userJson(sent.user))
    },
  )

function newcomer(backend: Backend, { email, data }: Pick<LinkParams, 'email' | 'data'>, password: string | null) {
  const at = momentOf(backend)
  return invitedAs(newUser(at, { encrypted_password: password }), email, data, at)
}

/**
 * Returns the unconfirmed user with the newcomer's address, or else adds the newcomer. Throws a 422 if that user is
 * confirmed.
 */
async function findOrAddUnconfirmed({ users }: Tables, newcomer: UserRow): Promise<UserRow> {
  const [existing] = await users.find({ email: newcomer.email })
  if (existing && existing.email_confirmed_at !== null) throw emailExists()
  if (!existing) await users.insert(newcomer)
  return existing ?? newcomer
}

const fields = {
  type: 'string',
  email: 'string',
  new_email: 'string',
  password: 'string',
  data: 'object',
  redirect_to: 'string',
} as const

type LinkParams = Params<typeof fields>

export const generateLink = (backend: Backend): Endpoint =>
  forAdmin(backend)(
    'POST /admin/generate_link',
    { id: 'generateLink', does: 'Creates a link for the admin to send.', fields, answer: 'link' },
    async exchange => {
      const given = readParams(exchange, 'GenerateLinkParams', fields)
      const params = { ...given, email: validEmail(given.email) }
      const redirect = redirectTo(backend.settings, [params.redirect_to, redirectOf(backend, exchange)])
      const password = await passwordFor(backend, params)
      const code = newCode(backend)
      const { user, type, hash } = await backend.state.write(tables =>
        storeLinkToken(backend, tables, params, { code, password }),
      )
      return jsonReply({
        ...userJson(user),
        action_link: actionLink(backend, hash, type.startsWith('email_change') ? 'email_change' : type, redirect),
        email_otp: code,
        // As at Supabase, the hash is for the requested address even if the link is sent to the new one.
        hashed_token: hashOfCode(params.email, code),
        verification_type: type,
        redirect_to: redirect,
      })
    },
  )

/** The password hash of a newcomer. It is computed outside the transaction, since it takes a moment. */
async function passwordFor(backend: Backend, { type, email, password }: LinkParams): Promise<string | null> {
  if (type !== 'magiclink' && type !== 'signup') return null
  const isKnown = await backend.state.read(({ users }) => users.count({ email }))
  if (isKnown) return null
  if (type === 'magiclink') return hashOf(randomPassword())
  if (password === '') throw validationFailed('Signup requires a valid password')
  requireStrength(password, backend.settings)
  return hashOf(password)
}

/**
 * Stores the token of the link for its user. Returns the user, the actual type of the link, and the hash in it.
 * `password` is the hash of a newcomer's password.
 */
async function storeLinkToken(
  backend: Backend,
  tables: Tables,
  params: LinkParams,
  { code, password }: { code: string; password: string | null },
) {
  const [existing] = await tables.users.find({ email: params.email })
  // A magic link for an unknown address signs the user up.
  const type = !existing && params.type === 'magiclink' ? 'signup' : params.type
  const { user, token, changes, address } = await linkFor(backend, tables, { ...params, type }, { existing, password })
  const hash = hashOfCode(address ?? params.email, code)
  await storeToken(tables, user.id, token, hash, momentOf(backend))
  await tables.users.update(user.id, changes)
  return { user: { ...user, ...changes }, type, hash }
}

interface Link {
  readonly user: UserRow
  readonly token: OneTimeTokenType
  /** The changes to the user's row. */
  readonly changes: Partial<UserRow>
  /** Where it is sent, if not to the requested address. */
  readonly address?: string
}

async function linkFor(
  backend: Backend,
  tables: Tables,
  params: LinkParams,
  { existing, password }: { existing: UserRow | undefined; password: string | null },
): Promise<Link> {
  const at = momentOf(backend)
  const getUser = () => existing ?? throwUserNotFound()
  switch (params.type) {
    case 'magiclink':
    case 'recovery':
      return { user: getUser(), token: 'recovery_token', changes: { recovery_sent_at: at } }
    case 'invite': {
      const user = await findOrAddUnconfirmed(tables, newcomer(backend, params, null))
      return { user, token: 'confirmation_token', changes: { invited_at: at, confirmation_sent_at: at } }
    }
    case 'signup': {
      const user = await findOrAddUnconfirmed(tables, newcomer(backend, params, password))
      const user_metadata = existing ? mergeMetadata(user.user_metadata, params.data) : user.user_metadata
      return { user, token: 'confirmation_token', changes: { confirmation_sent_at: at, user_metadata } }
    }
    case 'email_change_current':
    case 'email_change_new': {
      const user = getUser()
      const new_email = await newAddress(tables, params.new_email)
      const changes = { new_email, email_change_sent_at: at, email_change_confirm_status: 0 } as const
      if (params.type === 'email_change_new')
        return { user, token: 'email_change_token_new', changes, address: new_email }
      return { user, token: 'email_change_token_current', changes }
    }
    default:
      throw validationFailed(`Invalid email action link type requested: ${params.type}`)
  }
}

async function newAddress({ users }: Tables, given: string) {
  const email = validEmail(given)
  if (await users.count({ email })) throw emailExists()
  return email
}

function throwUserNotFound(): never {
  throw userNotFound('User with this email not found')
}
