/** Users and their sessions as a developer sees them, without any credential. */
import { searchFor } from '../api/listing.js'
import type { SessionRow, State, Tables, UserRow } from '../core/state.js'
import type { OpenSession, OpenSessions, UserList } from './operations.js'
import { endSessions, endSessionsOf } from './sessions.js'
import { userJson } from './users.js'

/** The size of a page where the query sets none. */
const PAGE = 100

export const createUserList = (state: () => Promise<State>): UserList => ({
  users: async ({ search = '', limit = PAGE, offset = 0 }) =>
    (await state()).read(async ({ users, sessions }) => {
      const isSearch = search.trim() !== ''
      const isWanted = searchFor(search)
      const found = isSearch
        ? (await users.find({})).filter(({ email, phone, id, user_metadata }) =>
            isWanted([email, phone, id, JSON.stringify(user_metadata)]),
          )
        : await users.find({}, { limit, offset })
      const page = isSearch ? found.slice(offset, offset + limit) : found
      const data = page.map(async user => ({
        ...userJson(user),
        sessions: await sessions.count({ user_id: user.id }),
      }))
      return { data: await Promise.all(data), total: isSearch ? found.length : await users.count({}) }
    }),
})

/** `tokenSeconds` is how long an access token holds. */
export function createOpenSessions(state: () => Promise<State>, tokenSeconds: () => number): OpenSessions {
  const told = (session: SessionRow, user: UserRow | undefined): OpenSession => {
    const { id, user_id, amr, created_at, refreshed_at } = session
    const lastMs = Date.parse(refreshed_at ?? created_at)
    return {
      ...{ id, user_id, created_at, refreshed_at },
      email: user?.email ?? null,
      phone: user?.phone ?? null,
      is_anonymous: user?.is_anonymous ?? false,
      token_expires_at: new Date(lastMs + tokenSeconds() * 1000).toISOString(),
      aal: 'aal1',
      methods: amr.map(({ method }) => method),
    }
  }

  async function page({ sessions, users }: Tables, limit: number, offset: number) {
    const rows = await sessions.find({}, { limit, offset })
    const found = await Promise.all(rows.map(async row => told(row, await users.get(row.user_id))))
    return { data: found, total: await sessions.count({}) }
  }

  async function search({ sessions, users }: Tables, words: string) {
    const byId = new Map((await users.find({})).map(user => [user.id, user]))
    const isWanted = searchFor(words)
    const all = (await sessions.find({})).map(row => told(row, byId.get(row.user_id)))
    return all.filter(({ email, phone, user_id, id }) => isWanted([email, phone, user_id, id]))
  }

  return {
    list: async ({ search: words, limit = PAGE, offset = 0 }) =>
      (await state()).read(async tables => {
        if (!words?.trim()) return page(tables, limit, offset)
        const found = await search(tables, words)
        return { data: found.slice(offset, offset + limit), total: found.length }
      }),
    end: async id =>
      (await state()).write(async tables => {
        const session = await tables.sessions.get(id)
        if (session) await endSessions(tables, [session])
        return session !== undefined
      }),
    async endAll(userId) {
      await (await state()).write(async tables => {
        if (userId !== undefined) return endSessionsOf(tables, userId)
        await tables.refresh_tokens.remove({})
        await tables.sessions.remove({})
      })
    },
  }
}
