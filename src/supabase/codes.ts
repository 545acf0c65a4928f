/** One-time codes and the links that carry them: made, sent to the outbox, found again, used once. */
import { createHash, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import { digestOf } from '../core/secrets.js'
import type { MessageRow, Moment, OneTimeTokenRow, OneTimeTokenType, Tables, UserRow } from '../core/state.js'
import { type Backend, externalUrl, momentOf } from './backend.js'

/** What stands before the hash of a token that is to end in a PKCE exchange. */
export const PKCE = 'pkce_'

/** A code in digits. */
export function newCode({ settings: { mailerOtpLength, testOtp } }: Backend): string {
  return testOtp || String(randomInt(10 ** mailerOtpLength)).padStart(mailerOtpLength, '0')
}

/** What the link of a mail carries, and a code is compared by: it fits one address only (supabase-auth.md, §3.5). */
export const hashOfCode = (address: string, code: string) =>
  createHash('sha224')
    .update(address + code)
    .digest('hex')

const keyOf = (userId: string, type: OneTimeTokenType) => `${userId} ${type}`

/** Keeps a token in place of an earlier one of its type. `hash` opens a link, so that only its digest is kept. */
export async function keepToken(
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

/** After one proof a user needs no other code that was sent before. */
export const dropTokens = ({ one_time_tokens }: Tables, userId: string) => one_time_tokens.remove({ user_id: userId })

/** The token with one of these hashes among those of the given types. */
export async function findToken(
  { one_time_tokens }: Tables,
  hashes: readonly string[],
  types: readonly OneTimeTokenType[],
): Promise<OneTimeTokenRow | undefined> {
  const found = await Promise.all(hashes.map(hash => one_time_tokens.find({ token_hash: digestOf(hash) })))
  return found.flat().find(({ token_type }) => types.includes(token_type))
}

/** Whether a code fits a token and the time that it holds for has not passed. */
export function isValid(backend: Backend, hash: string, token: OneTimeTokenRow | undefined): boolean {
  if (!token || !isFresh(backend, token)) return false
  return [hash, `${PKCE}${hash}`].some(one => same(digestOf(one), token.token_hash))
}

export const isFresh = ({ settings, now }: Backend, { created_at }: OneTimeTokenRow) =>
  now() <= Date.parse(created_at) + settings.mailerOtpExp * 1000

const same = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

/** What a message is about; for mails it is the `type` of their link. */
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
  email_change: 'Confirm your new e-mail address',
  reauthentication: 'Confirm that it is you',
  sms: 'Your code',
  phone_change: 'Confirm your new phone number',
}

/** The link of a mail. Its destination stands in it unescaped for as long as that can be read, as Supabase has it. */
export function actionLink(backend: Backend, hash: string, kind: string, redirect: string): string {
  const back = /[&=#]/.test(redirect) ? encodeURIComponent(redirect) : redirect
  return `${externalUrl(backend)}/verify?token=${hash}&type=${kind}&redirect_to=${back}`
}

interface Letter {
  readonly kind: MessageKind
  readonly recipient: string
  readonly code: string
  /** The hash that the link carries, and where it leads afterwards; left out where there is no link. */
  readonly link?: { readonly hash: string; readonly redirect: string }
}

/** At most this many messages are kept; the outbox of one machine is not an archive. */
const KEPT_MESSAGES = 500

/** Puts a message into the outbox. */
export async function post(
  backend: Backend,
  { messages }: Tables,
  { id: user_id }: Pick<UserRow, 'id'>,
  { kind, recipient, code, link }: Letter,
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
    created_at: momentOf(backend),
  }
  await messages.insert(message)
  for (const { id } of await messages.find({}, { offset: KEPT_MESSAGES })) await messages.remove({ id })
  return message
}
