/** Users, their sessions and the outbox as a developer sees them, without any credential. */
import { type ListingQuery, searchFor } from '../api/shapes.js'
import type { MessageRow, SessionRow, State, Table, UserRow } from '../core/state.js'
import type { MessageKind } from './codes.js'
import type { Message, Messages, OpenSession, OpenSessions, UserList } from './operations.js'
import { endSessions, endSessionsOf } from './sessions.js'
import { userJson } from './users.js'

/** The default page size. */
const PAGE = 100

/** A phone number as users write it. The state keeps only its digits. */
const withPlus = (phone: string | null | undefined) => phone && `+${phone}`

/** Returns one page of the rows whose texts match the search, and the total count. Without a search, reads only that page. */
async function pageIn<Row>(
  table: Table<Row>,
  { search = '', limit = PAGE, offset = 0 }: ListingQuery,
  textsOf: (row: Row) => Parameters<ReturnType<typeof searchFor>>[0],
) {
  if (search.trim() === '') return { rows: await table.find({}, { limit, offset }), total: await table.count({}) }
  const matches = searchFor(search)
  const found = (await table.find({})).filter(row => matches(textsOf(row)))
  return { rows: found.slice(offset, offset + limit), total: found.length }
}

export const createUserList = (state: State): UserList => ({
  users: async query =>
    state.read(async ({ users, sessions }) => {
      const { rows, total } = await pageIn(users, query, ({ email, phone, id, user_metadata }) => [
        email,
        withPlus(phone),
        id,
        JSON.stringify(user_metadata),
      ])
      const data = rows.map(async user => ({
        ...userJson(user),
        sessions: await sessions.count({ user_id: user.id }),
      }))
      return { data: await Promise.all(data), total }
    }),
})

function openSessionOf(session: SessionRow, user: UserRow | undefined, tokenSeconds: number): OpenSession {
  const { id, user_id, amr, created_at, refreshed_at } = session
  const issuedAtMs = Date.parse(refreshed_at ?? created_at)
  return {
    ...{ id, user_id, created_at, refreshed_at },
    email: user?.email ?? null,
    phone: user?.phone ?? null,
    is_anonymous: user?.is_anonymous ?? false,
    token_expires_at: new Date(issuedAtMs + tokenSeconds * 1000).toISOString(),
    aal: 'aal1',
    methods: amr.map(({ method }) => method),
  }
}

/** `tokenSeconds` returns the lifetime of an access token. */
export function createOpenSessions(state: State, tokenSeconds: () => number): OpenSessions {
  return {
    list: async query =>
      state.read(async ({ sessions, users }) => {
        const allUsers = query.search?.trim() ? await users.find({}) : []
        const byId = new Map(allUsers.map(user => [user.id, user]))
        const { rows, total } = await pageIn(sessions, query, ({ id, user_id }) => {
          const user = byId.get(user_id)
          return [user?.email, withPlus(user?.phone), user_id, id]
        })
        const data = rows.map(async row => openSessionOf(row, await users.get(row.user_id), tokenSeconds()))
        return { data: await Promise.all(data), total }
      }),
    end: async id =>
      state.write(async tables => {
        const session = await tables.sessions.get(id)
        if (session) await endSessions(tables, [session])
        return session !== undefined
      }),
    async endAll(userId) {
      await state.write(async tables => {
        if (userId !== undefined) return endSessionsOf(tables, userId)
        await tables.refresh_tokens.remove({})
        await tables.sessions.remove({})
      })
    },
  }
}

/** The text of each message and of its link, close to the default templates of Supabase Auth. */
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
  const destination = new URL(row.link).searchParams.get('redirect_to')
  return { ...row, text, link_text: linkText ?? row.link, redirect_to: destination }
}

/** Shows the outbox to developers and tests: each message with its text, and where its link redirects to. */
export const createOutbox = (state: State): Messages => ({
  async messages({ search, after, offset = 0, limit } = {}) {
    const rows = await state.read(({ messages }) => messages.find({}))
    const matches = searchFor(search)
    const afterIndex = rows.findIndex(({ id }) => id === after)
    const found = rows
      .slice(0, afterIndex < 0 ? undefined : afterIndex)
      .filter(({ channel, recipient, subject, kind, code }) =>
        matches([channel === 'sms' ? withPlus(recipient) : recipient, subject, kind, code]),
      )
    const end = limit === undefined ? undefined : offset + limit
    return { data: found.slice(offset, end).map(messageOf), total: found.length }
  },
  async clearMessages() {
    await state.write(({ messages }) => messages.remove({}))
  },
})
