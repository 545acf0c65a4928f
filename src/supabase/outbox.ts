/** The outbox as developers and tests see it: each message with its text, and where its link leads. */
import { searchFor } from '../api/listing.js'
import type { MessageRow, State } from '../core/state.js'
import type { MessageKind } from './codes.js'
import type { Message, Messages } from './operations.js'

/** What a message says, and the text of its link: close to the default templates of Supabase Auth. */
const templates: Readonly<Record<MessageKind, readonly [text: string, link?: string]>> = {
  signup: ['Follow this link to confirm your sign-up.', 'Confirm your email address'],
  invite: ['You have been invited to create an account. Follow this link to accept.', 'Accept the invitation'],
  recovery: ['Follow this link to choose a new password.', 'Reset your password'],
  magiclink: ['Follow this link to sign in.', 'Sign in'],
  email_change: ['Follow this link to confirm your new email address.', 'Confirm the change'],
  reauthentication: ['Enter this code to confirm that it is you.'],
  sms: ['Your code to sign in:'],
  phone_change: ['Your code to confirm your new phone number:'],
}

function messageOf(row: MessageRow): Message {
  const [text, linkText] = templates[row.kind as MessageKind] ?? ['']
  if (row.link === null) return { ...row, text, link_text: null, redirect_to: null }
  // An imported state may hold anything here.
  const destination = URL.canParse(row.link) ? new URL(row.link).searchParams.get('redirect_to') : null
  return { ...row, text, link_text: linkText ?? row.link, redirect_to: destination }
}

export const createOutbox = (state: () => Promise<State>): Messages => ({
  async messages({ search, after, offset = 0, limit } = {}) {
    const rows = await (await state()).read(({ messages }) => messages.find({}))
    const isWanted = searchFor(search)
    const seen = rows.findIndex(({ id }) => id === after)
    const found = rows
      .slice(0, seen < 0 ? undefined : seen)
      .filter(({ recipient, subject, kind, code }) => isWanted([recipient, subject, kind, code]))
    const end = limit === undefined ? undefined : offset + limit
    return { data: found.slice(offset, end).map(messageOf), total: found.length }
  },
  async clearMessages() {
    await (await state()).write(({ messages }) => messages.remove({}))
  },
})
