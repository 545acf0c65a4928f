/** The emails and text messages of the backend. Sending one stores its code, and the time in the user's row. */
import type { MessageRow, OneTimeTokenType, Tables, UserRow } from '../core/state.js'
import { type Backend, momentOf } from './backend.js'
import { addMessage, hashOfCode, type MessageKind, newCode, PKCE, storeToken } from './codes.js'
import { beginFlow, type Challenge } from './flows.js'

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

interface Letter {
  readonly kind: MessageKind
  readonly token: OneTimeTokenType
  readonly recipient: string
  /** Further changes to the user. */
  readonly changes: Partial<UserRow>
  readonly target?: LinkTarget
}

async function send(backend: Backend, tables: Tables, user: UserRow, letter: Letter): Promise<UserWithMessages> {
  const { kind, token, recipient, target, changes } = letter
  const code = newCode(backend)
  const hash = `${target?.challenge ? PKCE : ''}${hashOfCode(recipient, code)}`
  await storeToken(tables, user.id, token, hash, momentOf(backend))
  await tables.users.update(user.id, changes)
  const link = target && { link: { hash, redirect: target.redirect } }
  const message = await addMessage(backend, tables, user, { kind, recipient, code, ...link })
  return { user: { ...user, ...changes }, messages: [message] }
}

/** With PKCE, begins a flow for the app to finish. `method` is what the link will prove. */
async function sendWithFlow(backend: Backend, tables: Tables, user: UserRow, method: string, letter: Letter) {
  const { challenge } = letter.target ?? {}
  if (challenge) await beginFlow(backend, tables, challenge, user.id, method)
  return send(backend, tables, user, letter)
}

export const sendConfirmation = (
  backend: Backend,
  tables: Tables,
  user: UserRow,
  target: LinkTarget,
): Promise<UserWithMessages> =>
  sendWithFlow(backend, tables, user, 'email/signup', {
    kind: 'signup',
    token: 'confirmation_token',
    recipient: user.email ?? '',
    target,
    changes: { confirmation_sent_at: momentOf(backend) },
  })

/** An email that signs its reader in, possibly in order to set a new password. */
export const sendSignIn = (
  backend: Backend,
  tables: Tables,
  user: UserRow,
  kind: 'recovery' | 'magiclink',
  target: LinkTarget,
): Promise<UserWithMessages> =>
  sendWithFlow(backend, tables, user, kind, {
    kind,
    token: 'recovery_token',
    recipient: user.email ?? '',
    target,
    changes: { recovery_sent_at: momentOf(backend) },
  })

export function sendInvite(
  backend: Backend,
  tables: Tables,
  user: UserRow,
  redirect: string,
): Promise<UserWithMessages> {
  const at = momentOf(backend)
  return send(backend, tables, user, {
    kind: 'invite',
    token: 'confirmation_token',
    recipient: user.email ?? '',
    target: { redirect },
    changes: { invited_at: at, confirmation_sent_at: at },
  })
}

/** Sends an email to the new address and, if there is one, to the old address. */
export async function sendEmailChange(
  backend: Backend,
  tables: Tables,
  user: UserRow,
  newEmail: string,
  target: LinkTarget,
): Promise<UserWithMessages> {
  const changes = {
    new_email: newEmail,
    email_change_sent_at: momentOf(backend),
    email_change_confirm_status: 0,
  } as const
  const toNew = await sendWithFlow(backend, tables, user, 'email_change', {
    kind: 'email_change',
    token: 'email_change_token_new',
    recipient: newEmail,
    target,
    changes,
  })
  if (user.email === null) return toNew
  const toOld = await send(backend, tables, toNew.user, {
    kind: 'email_change',
    token: 'email_change_token_current',
    recipient: user.email,
    target,
    changes: {},
  })
  return { user: toOld.user, messages: [...toNew.messages, ...toOld.messages] }
}

/** A text message, for signing in or to confirm a new number. */
export function sendPhoneCode(
  backend: Backend,
  tables: Tables,
  user: UserRow,
  { kind, phone }: { kind: 'sms' | 'phone_change'; phone: string },
): Promise<UserWithMessages> {
  const at = momentOf(backend)
  return send(backend, tables, user, {
    kind,
    token: kind === 'sms' ? 'confirmation_token' : 'phone_change_token',
    recipient: phone,
    changes: kind === 'sms' ? { confirmation_sent_at: at } : { new_phone: phone, phone_change_sent_at: at },
  })
}

/** Sends a signed-in user the code that they need to change their password. */
export const sendReauthentication = (backend: Backend, tables: Tables, user: UserRow): Promise<UserWithMessages> =>
  send(backend, tables, user, {
    kind: 'reauthentication',
    token: 'reauthentication_token',
    recipient: user.email ?? user.phone ?? '',
    changes: { reauthentication_sent_at: momentOf(backend) },
  })
