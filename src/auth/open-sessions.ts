/** Sessions as a developer sees them: whose they are and since when, without anything that opens a door. */
import { type ListingQuery, searchFor } from '../core/listing-request.js'
import type { Moment, SessionRow, State, Tables, UserRow } from '../core/state.js'
import { endSessions, endSessionsOf } from './sessions.js'

/** The names are those of the columns. */
export interface OpenSession {
  readonly id: string
  readonly user_id: string
  readonly email: string | null
  readonly phone: string | null
  readonly is_anonymous: boolean
  readonly created_at: Moment
  readonly refreshed_at: Moment | null
  /** Until when the last access token holds that it was given. */
  readonly token_expires_at: Moment
  readonly aal: 'aal1'
  /** How its user has signed in. */
  readonly methods: readonly string[]
}

export interface OpenSessions {
  /** A part of the list, the newest first, and how many there are on the whole. */
  list(query: ListingQuery): Promise<{ readonly sessions: readonly OpenSession[]; readonly total: number }>
  /** Signs out; gives back whether there was such a session. Its access token opens nothing from then on. */
  end(id: string): Promise<boolean>
  /** Signs a user out everywhere, or everybody. */
  endAll(userId?: string): Promise<void>
}

/** So many are shown to whoever does not say. */
const PAGE = 100

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
    return { sessions: found, total: await sessions.count({}) }
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
        return { sessions: found.slice(offset, offset + limit), total: found.length }
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
