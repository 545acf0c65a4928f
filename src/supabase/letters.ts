/** The emails and text messages of the backend. Sending one stores its code, and adds it to the outbox. */
import { randomUUID } from 'node:crypto'
import type { MessageRow, Moment, OneTimeTokenType, Tables, UserRow } from '../state/rows.js'
import { type Backend, externalUrl, momentOf } from './backend.js'
import { hashOfCode, newCode, PKCE, storeToken } from './codes.js'
import { noSmsProvider } from './errors.js'
import { beginFlow, type Challenge, methodOfLink } from './sessions.js'

const tokenOfKind = {
  signup: 'confirmation_token',
  invite: 'confirmation_token',
  recovery: 'recovery_token',
  magiclink: 'recovery_token',
  email_change: 'email_change_token_new',
  reauthentication: 'reauthentication_token',
  sms: 'confirmation_token',
  phone_change: 'phone_change_token',
} as const satisfies Record<string, OneTimeTokenType>

/** The purpose of a message. In emails it is the `type` of the link. */
export type MessageKind = keyof typeof tokenOfKind

/** The messages, close to the default templates of Supabase Auth. */
export const letters: Readonly<Record<MessageKind, readonly [subject: string, text: string, linkText?: string]>> = {
  signup: ['Confirm your signup', 'Follow this link to confirm your sign-up.', 'Confirm your email address'],
  invite: [
    'You have been invited',
    'You have been invited to create an account. Follow this link to accept.',
    'Accept the invitation',
  ],
  recovery: ['Reset your password', 'Follow this link to choose a new password.', 'Reset your password'],
  magiclink: ['Your magic link', 'Follow this link to sign in.', 'Sign in'],
  email_change: [
    'Confirm your new email address',
    'Follow this link to confirm your new email address.',
    'Confirm the change',
  ],
  reauthentication: ['Confirm that it is you', 'Enter this code to confirm that it is you.'],
  sms: ['Your code', 'Your code to sign in:'],
  phone_change: ['Confirm your new phone number', 'Your code to confirm your new phone number:'],
}

/** The changes to a user who is sent a message: `confirmation_sent_at` for a `confirmation_token`, and so on. */
export function sentNow(backend: Backend, kind: MessageKind): Partial<UserRow> {
  const at = momentOf(backend)
  return {
    [tokenOfKind[kind].replace(/_token.*/, '_sent_at')]: at,
    ...(kind === 'invite' && { invited_at: at }),
  }
}

/** Where a message's link redirects to, and the PKCE challenge of the waiting app. */
export interface LinkTarget {
  readonly redirect: string
  readonly challenge?: Challenge | undefined
}

/** The changed user, and the messages added to the outbox. */
export interface UserWithMessages {
  readonly user: UserRow
  readonly messages: readonly MessageRow[]
}

interface Sending {
  readonly kind: MessageKind
  readonly recipient: string
  /** Messages without a link have none. */
  readonly target?: LinkTarget
  /** If it is not the usual one of this kind. */
  readonly token?: OneTimeTokenType
  readonly changes?: Partial<UserRow>
}

/** With PKCE, begins a flow for the app to finish. */
async function send(backend: Backend, tables: Tables, user: UserRow, sending: Sending): Promise<UserWithMessages> {
  const { kind, recipient, target } = sending
  const channel = recipient.includes('@') ? 'email' : 'sms'
  if (channel === 'sms' && !backend.settings.external.phone) throw noSmsProvider()
  const token = sending.token ?? tokenOfKind[kind]
  const challenge = target?.challenge
  if (challenge) await beginFlow(backend, tables, challenge, user.id, methodOfLink(kind))
  const code = newCode(backend)
  const hash = `${challenge ? PKCE : ''}${hashOfCode(recipient, code)}`
  await storeToken(tables, user.id, token, hash, momentOf(backend))
  const changes = { ...sentNow(backend, kind), ...sending.changes }
  await tables.users.update(user.id, changes)
  const message = await addMessage(backend, tables, {
    user_id: user.id,
    channel,
    recipient,
    kind,
    subject: letters[kind][0],
    code,
    link: target ? actionLink(backend, hash, kind, target.redirect) : null,
  })
  return { user: { ...user, ...changes }, messages: [message] }
}

/** An email whose link confirms the address, or signs its reader in, possibly in order to set a new password. */
export const sendLink = (
  backend: Backend,
  tables: Tables,
  user: UserRow,
  kind: 'signup' | 'invite' | 'recovery' | 'magiclink',
  target: LinkTarget,
): Promise<UserWithMessages> => send(backend, tables, user, { kind, recipient: user.email ?? '', target })

/** Sends an email to the new address and, if there is one, to the old address. */
export async function sendEmailChange(
  backend: Backend,
  tables: Tables,
  user: UserRow,
  newEmail: string,
  target: LinkTarget,
): Promise<UserWithMessages> {
  const kind = 'email_change'
  const changes = { new_email: newEmail, email_change_confirm_status: 0 } as const
  const toNew = await send(backend, tables, user, { kind, recipient: newEmail, target, changes })
  if (user.email === null) return toNew
  const token = 'email_change_token_current'
  const toOld = await send(backend, tables, toNew.user, { kind, recipient: user.email, target, token })
  return { user: toOld.user, messages: [...toNew.messages, ...toOld.messages] }
}

/** A text message, for signing in or to confirm a new number. */
export const sendPhoneCode = (
  backend: Backend,
  tables: Tables,
  user: UserRow,
  kind: 'sms' | 'phone_change',
  phone: string,
): Promise<UserWithMessages> =>
  send(backend, tables, user, { kind, recipient: phone, changes: kind === 'sms' ? {} : { new_phone: phone } })

/** Sends a signed-in user the code that they need to change their password. */
export const sendReauthentication = (backend: Backend, tables: Tables, user: UserRow): Promise<UserWithMessages> =>
  send(backend, tables, user, { kind: 'reauthentication', recipient: user.email ?? user.phone ?? '' })

/** The link of an email. As at Supabase, the redirect address is not escaped unless it has to be. */
export function actionLink(backend: Backend, hash: string, kind: string, redirect: string): string {
  const target = /[&=#]/.test(redirect) ? encodeURIComponent(redirect) : redirect
  return `${externalUrl(backend)}/verify?token=${hash}&type=${kind}&redirect_to=${target}`
}

/** At most this many messages are kept. The outbox of a development machine is no archive. */
const MOST_MESSAGES = 500

async function addMessage(
  backend: Backend,
  { messages }: Tables,
  content: Omit<MessageRow, 'id' | 'created_at' | 'used_at'>,
): Promise<MessageRow> {
  const message = { id: randomUUID(), ...content, created_at: await nextMoment(backend, messages), used_at: null }
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
