/**
 * One-time codes and the links that carry them: creates them, sends them to the outbox, finds them, and uses them once.
 */
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { digestOf, isSameSecret } from '../core/secrets.js'
import type { MessageRow, Moment, OneTimeTokenRow, OneTimeTokenType, Tables, UserRow } from '../core/state.js'
import { type Backend, externalUrl } from './backend.js'

/** Prefix of the hash of a token that leads to a PKCE exchange. */
export const PKCE = 'pkce_'

/** Supabase's default. */
const CODE_DIGITS = 6

/** Returns a new code of digits. */
export const newCode = ({ settings: { testOtp } }: Backend): string =>
  testOtp || String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')

/** How long codes and links are valid; Supabase's default. */
const VALID_SECONDS = 3600

/**
 * The hash in the link of an email, with which a code is compared as well. It is valid for one address only
 * (supabase-auth.md, §3.5).
 */
export const hashOfCode = (address: string, code: string) =>
  createHash('sha224')
    .update(address + code)
    .digest('hex')

const keyOf = (userId: string, type: OneTimeTokenType) => `${userId} ${type}`

/** Stores a token, and replaces an earlier one of its type. `hash` opens a link, so only its digest is stored. */
export async function storeToken(
  { one_time_tokens }: Tables,
  userId: string,
  type: OneTimeTokenType,
  hash: string,
  at: Moment,
): Promise<void> {
  const id = keyOf(userId, type)
  await one_time_tokens.remove({ id })
  await one_time_tokens.insert({ id, user_id: userId, token_type: type, token_hash: digestOf(hash), created_at: at })
}

export const tokenOf = ({ one_time_tokens }: Tables, userId: string, type: OneTimeTokenType) =>
  one_time_tokens.get(keyOf(userId, type))

export const dropToken = ({ one_time_tokens }: Tables, userId: string, type: OneTimeTokenType) =>
  one_time_tokens.remove({ id: keyOf(userId, type) })

/** Removes all of a user's tokens: after one proof, no earlier code is needed. */
export const dropTokens = ({ one_time_tokens }: Tables, userId: string) => one_time_tokens.remove({ user_id: userId })

/** Finds a token of one of these types by any of these hashes. */
export async function findToken(
  { one_time_tokens }: Tables,
  hashes: readonly string[],
  types: readonly OneTimeTokenType[],
): Promise<OneTimeTokenRow | undefined> {
  const found = await Promise.all(hashes.map(hash => one_time_tokens.find({ token_hash: digestOf(hash) })))
  return found.flat().find(({ token_type }) => types.includes(token_type))
}

/** Whether the hash belongs to the token, and the token has not expired. */
export function isValid(backend: Backend, hash: string, token: OneTimeTokenRow | undefined): boolean {
  if (!token || !isFresh(backend, token)) return false
  return [hash, `${PKCE}${hash}`].some(candidate => isSameSecret(digestOf(candidate), token.token_hash))
}

export const isFresh = ({ now }: Backend, { created_at }: OneTimeTokenRow) =>
  now() <= Date.parse(created_at) + VALID_SECONDS * 1000

/** The purpose of a message. In emails it is the `type` of the link. */
export type MessageKind =
  | 'signup'
  | 'invite'
  | 'recovery'
  | 'magiclink'
  | 'email_change'
  | 'reauthentication'
  | 'sms'
  | 'phone_change'

const subjects: Record<MessageKind, string> = {
  signup: 'Confirm your signup',
  invite: 'You have been invited',
  recovery: 'Reset your password',
  magiclink: 'Your magic link',
  email_change: 'Confirm your new email address',
  reauthentication: 'Confirm that it is you',
  sms: 'Your code',
  phone_change: 'Confirm your new phone number',
}

/** The link of an email. As at Supabase, the redirect address is not escaped unless it has to be. */
export function actionLink(backend: Backend, hash: string, kind: string, redirect: string): string {
  const target = /[&=#]/.test(redirect) ? encodeURIComponent(redirect) : redirect
  return `${externalUrl(backend)}/verify?token=${hash}&type=${kind}&redirect_to=${target}`
}

interface OutgoingMessage {
  readonly kind: MessageKind
  readonly recipient: string
  readonly code: string
  /** The hash in the link, and where the link redirects to; absent if there is no link. */
  readonly link?: { readonly hash: string; readonly redirect: string }
}

/** At most this many messages are kept. The outbox of a development machine is no archive. */
const MOST_MESSAGES = 500

/** Adds a message to the outbox. */
export async function addMessage(
  backend: Backend,
  { messages }: Tables,
  { id: user_id }: Pick<UserRow, 'id'>,
  { kind, recipient, code, link }: OutgoingMessage,
): Promise<MessageRow> {
  const message: MessageRow = {
    id: randomUUID(),
    user_id,
    channel: recipient.includes('@') ? 'email' : 'sms',
    recipient,
    kind,
    subject: subjects[kind],
    code,
    link: link ? actionLink(backend, link.hash, kind, link.redirect) : null,
    created_at: await nextMoment(backend, messages),
  }
  await messages.insert(message)
  for (const { id } of await messages.find({}, { offset: MOST_MESSAGES })) await messages.remove({ id })
  return message
}

/** The time of a new message, later than that of all others: the clock may stand still or be moved back. */
async function nextMoment({ now }: Backend, messages: Tables['messages']): Promise<Moment> {
  const [newest] = await messages.find({}, { limit: 1 })
  const earliestMs = newest ? Date.parse(newest.created_at) + 1 : 0
  return new Date(Math.max(now(), earliestMs)).toISOString()
}
