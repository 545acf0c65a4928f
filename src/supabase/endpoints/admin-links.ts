/** POST /auth/v1/invite and /admin/generate_link: sends an invitation, or returns a link for the admin to send. */
import { jsonReply } from '../../core/reply.js'
import type { OneTimeTokenType, Tables, UserRow } from '../../state/rows.js'
import { type Backend, momentOf } from '../backend.js'
import { hashOfCode, newCode, storeToken } from '../codes.js'
import { emailExists, userNotFound, validationFailed } from '../errors.js'
import { actionLink, sendLink, sentNow } from '../letters.js'
import { hashOf, randomPassword, requireStrength } from '../passwords.js'
import { mergeMetadata, newUser, userJson, validEmail, withFirstAddress } from '../users.js'
import { announce } from './addresses.js'
import { type Params, readParams } from './forms.js'
import { forAdmin, redirectOf, redirectTo } from './frame.js'

const inviteFields = { email: 'string', data: 'object' } as const

export const invite = forAdmin({
  at: 'POST /invite',
  async reply(backend, exchange) {
    const params = readParams(exchange, inviteFields)
    const guest = newcomer(backend, { ...params, email: validEmail(params.email) }, null)
    const sent = await backend.state.write(async tables => {
      const user = await findOrAddUnconfirmed(tables, guest)
      return sendLink(backend, tables, user, 'invite', { redirect: redirectOf(backend, exchange) })
    })
    announce(backend, sent.messages)
    return jsonReply(userJson(sent.user))
  },
})

/** A new user whose metadata is only what the admin sent. */
function newcomer(backend: Backend, { email, data }: Pick<LinkParams, 'email' | 'data'>, password: string | null) {
  const user = newUser(momentOf(backend), { encrypted_password: password, user_metadata: data })
  return withFirstAddress(user, 'email', email)
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

const linkFields = {
  type: 'string',
  email: 'string',
  new_email: 'string',
  password: 'string',
  data: 'object',
  redirect_to: 'string',
} as const

type LinkParams = Params<typeof linkFields>

export const generateLink = forAdmin({
  at: 'POST /admin/generate_link',
  async reply(backend, exchange) {
    const given = readParams(exchange, linkFields)
    const params = { ...given, email: validEmail(given.email) }
    const redirect = redirectTo(backend.settings, [params.redirect_to, redirectOf(backend, exchange)])
    const password = await passwordFor(backend, params)
    const code = newCode(backend)
    const { user, type, hash } = await backend.state.write(async tables => {
      const { user, type, token, changes, address } = await linkFor(backend, tables, params, password)
      const hash = hashOfCode(address, code)
      await storeToken(tables, user.id, token, hash, momentOf(backend))
      await tables.users.update(user.id, changes)
      return { user: { ...user, ...changes }, type, hash }
    })
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
})

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

interface Link {
  readonly user: UserRow
  /** The actual type of the link. */
  readonly type: string
  readonly token: OneTimeTokenType
  readonly changes: Partial<UserRow>
  readonly address: string
}

/** Returns the link, whose user is created if need be. `password` is the hash of a newcomer's password. */
async function linkFor(backend: Backend, tables: Tables, params: LinkParams, password: string | null): Promise<Link> {
  const { email, data } = params
  const [existing] = await tables.users.find({ email })
  // A magic link for an unknown address signs the user up.
  const type = !existing && params.type === 'magiclink' ? 'signup' : params.type
  switch (type) {
    case 'invite':
    case 'signup': {
      const guest = newcomer(backend, params, type === 'signup' ? password : null)
      const user = await findOrAddUnconfirmed(tables, guest)
      const isMerged = type === 'signup' && existing !== undefined
      const user_metadata = isMerged ? mergeMetadata(user.user_metadata, data) : user.user_metadata
      const changes = { ...sentNow(backend, type), user_metadata }
      return { user, type, token: 'confirmation_token', changes, address: email }
    }
    case 'magiclink':
    case 'recovery':
      if (!existing) throw emailNotFound()
      return { user: existing, type, token: 'recovery_token', changes: sentNow(backend, type), address: email }
    case 'email_change_current':
    case 'email_change_new': {
      if (!existing) throw emailNotFound()
      const new_email = await newAddress(tables, params.new_email)
      const changes = { ...sentNow(backend, 'email_change'), new_email, email_change_confirm_status: 0 } as const
      return type === 'email_change_new'
        ? { user: existing, type, token: 'email_change_token_new', changes, address: new_email }
        : { user: existing, type, token: 'email_change_token_current', changes, address: email }
    }
    default:
      throw validationFailed(`Invalid email action link type requested: ${type}`)
  }
}

async function newAddress({ users }: Tables, given: string) {
  const email = validEmail(given)
  if (await users.count({ email })) throw emailExists()
  return email
}

const emailNotFound = () => userNotFound('User with this email not found')
