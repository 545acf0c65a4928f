/** What requests about an email address or a phone number have in common. */
import type { Exchange } from '../../core/exchange.js'
import { jsonReply, type Reply } from '../../core/reply.js'
import type { MessageRow, Tables, UserRow } from '../../state/rows.js'
import type { Backend } from '../backend.js'
import { phoneProviderDisabled, validationFailed } from '../errors.js'
import type { LinkTarget, UserWithMessages } from '../letters.js'
import { type Challenge, challengeIn } from '../sessions.js'
import { isConfirmed, type UserAddress, validEmail, validPhone } from '../users.js'
import { redirectOf } from './frame.js'

export const challengeFields = { code_challenge: 'string', code_challenge_method: 'string' } as const
export const addressFields = { email: 'string', phone: 'string', channel: 'string', ...challengeFields } as const

/** The address that is not given is empty. */
interface GivenAddresses {
  readonly email: string
  readonly phone: string
}

/** The one address that a request is about. Throws a 400 for a malformed one. */
export const addressIn = ({ email, phone }: GivenAddresses): UserAddress =>
  email === '' ? { phone: validPhone(phone) } : { email: validEmail(email) }

/** Returns the parameters with both addresses as the state has them. Throws a 400 for a malformed one. */
export const withAddresses = <P extends GivenAddresses>(params: P): P => ({
  ...params,
  email: params.email === '' ? '' : validEmail(params.email),
  phone: params.phone === '' ? '' : validPhone(params.phone),
})

/** Whether a user has proved that they read their address of this kind. */
export const hasConfirmed = (user: UserRow, address: UserAddress) =>
  'email' in address ? isConfirmed(user) : user.phone_confirmed_at !== null

/** Throws GoTrue's error, whose words differ by endpoint, if phone numbers are off. */
export function requirePhones({ settings }: Backend, message: string, status?: number): void {
  if (!settings.external.phone) throw phoneProviderDisabled(message, status)
}

/** Throws a 400 for an unsupported way to send a text message. WhatsApp would need Twilio. */
export function requireChannel(channel: string): void {
  if (channel === '' || channel === 'sms') return
  throw validationFailed(
    "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.",
  )
}

/** Where the link of the message that a request asks for leads. */
export const linkTargetOf = (backend: Backend, exchange: Exchange, challenge: Challenge): LinkTarget => ({
  redirect: redirectOf(backend, exchange),
  challenge: challengeIn(challenge),
})

/** Announces messages that have been committed to the outbox. */
export function announce(backend: Backend, messages: readonly MessageRow[]): void {
  for (const message of messages) backend.announce(message)
}

/**
 * Sends messages to the user with this address, if there is one. The reply names a text message; it does not reveal who has an
 * account.
 */
export async function sendTo(
  backend: Backend,
  address: UserAddress,
  send: (tables: Tables, user: UserRow) => Promise<UserWithMessages | undefined>,
): Promise<Reply> {
  const sent = await backend.state.write(async tables => {
    const [user] = await tables.users.find(address)
    return user && send(tables, user)
  })
  return sentReply(backend, sent?.messages ?? [])
}

export function sentReply(backend: Backend, messages: readonly MessageRow[]): Reply {
  announce(backend, messages)
  const text = messages.find(({ channel }) => channel === 'sms')
  return jsonReply(text ? { message_id: text.id } : {})
}
