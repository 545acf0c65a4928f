/** Users, their sessions, tokens and the outbox as developers and tests use them, without any credential. */
import { type ListingQuery, searchFor } from '../core/operation.js'
import type { MessageRow, SessionRow, State, Table, UserRow } from '../state/rows.js'
import { type Backend, momentOf, type TokenBackend } from './backend.js'
import { expiryOfCode, tokenDigestsOf } from './codes.js'
import { invalidCredentials } from './errors.js'
import { letters, type MessageKind } from './letters.js'
import type { Message, Messages, OpenSession, OpenSessions, UserList } from './operations.js'
import { hashOf, matchesHash } from './passwords.js'
import { issuesRefreshToken, type ProviderAccount, providerTokens } from './providers.js'
import { idOfUser, newUserId, plantUser, type UserSeed } from './seeds.js'
import { endSessions, type Grant, startSession, tokenResponse } from './sessions.js'
import { confirmedEmail, newUser, signedUp, userJson } from './users.js'

const PAGE = 100

/** A phone number as users write it. The state keeps only its digits. */
const withPlus = (phone: string | null | undefined) => phone && `+${phone}`

/** Returns one page of the rows whose texts match the search, and the total count. Without a search, reads only that page. */
async function searchedPage<Row>(
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
      const { rows, total } = await searchedPage(users, query, ({ email, phone, id, user_metadata }) => [
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
    id,
    user_id,
    created_at,
    refreshed_at,
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
        const { rows, total } = await searchedPage(sessions, query, ({ id, user_id }) => {
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
  }
}

function messageOf({ used_at, ...row }: MessageRow, state: Message['state']): Message {
  const [, text, linkText] = letters[row.kind as MessageKind]
  const fields = { ...row, text, state, expires_at: new Date(expiryOfCode(row.created_at)).toISOString() }
  if (row.link === null) return { ...fields, link_text: null, redirect_to: null }
  const destination = new URL(row.link).searchParams.get('redirect_to')
  return { ...fields, link_text: linkText ?? row.link, redirect_to: destination }
}

/** `tokens` are the digests of all codes that can still be used. */
function stateOfMessage(message: MessageRow, tokens: ReadonlySet<string>, nowMs: number): Message['state'] {
  if (message.used_at !== null) return 'used'
  if (nowMs > expiryOfCode(message.created_at)) return 'expired'
  return tokenDigestsOf(message).some(digest => tokens.has(digest)) ? 'valid' : 'replaced'
}

/** Shows the outbox to developers and tests: each message with its text, and where its link redirects to. */
export const createOutbox = (state: State, now: () => number): Messages => ({
  async messages({ search, after, offset = 0, limit } = {}) {
    const { rows, tokens } = await state.read(async ({ messages, one_time_tokens }) => ({
      rows: await messages.find({}),
      tokens: new Set((await one_time_tokens.find({})).map(({ token_hash }) => token_hash)),
    }))
    const matches = searchFor(search)
    const afterIndex = rows.findIndex(({ id }) => id === after)
    const found = rows
      .slice(0, afterIndex < 0 ? undefined : afterIndex)
      .filter(({ channel, recipient, subject, kind, code }) =>
        matches([channel === 'sms' ? withPlus(recipient) : recipient, subject, kind, code]),
      )
    const end = limit === undefined ? undefined : offset + limit
    const data = found.slice(offset, end).map(row => messageOf(row, stateOfMessage(row, tokens, now())))
    return { data, total: found.length }
  },
  async clearMessages() {
    await state.write(({ messages }) => messages.remove({}))
  },
})

interface TokenWish {
  /** In lower case. */
  readonly email: string
  /** In seconds; negative for an expired token. */
  readonly expiresIn?: number | undefined
  /** The configured user with this address, if there is one. */
  readonly seed: UserSeed | undefined
}

/** Returns a user token as `standin token` prints it, with a session, as if they had just signed in; unknown users sign up. */
export async function tokenFor(backend: Backend, { email, expiresIn, seed }: TokenWish): Promise<string> {
  const tokenBackend = withTokenLifetime(backend, expiresIn)
  return (await tokenResponse(tokenBackend, await signIn(tokenBackend, email, seed))).access_token
}

/** A user token without a session, for use without any state. It names the user that a platform would have. */
export async function sessionlessTokenFor(
  backend: TokenBackend,
  { email, expiresIn, seed }: TokenWish,
): Promise<string> {
  const user = newUser(momentOf(backend), { id: idOfUser(seed ?? { email }), email })
  const grant = { user, session: undefined, refreshToken: '', method: 'password' }
  return (await tokenResponse(withTokenLifetime(backend, expiresIn), grant)).access_token
}

const withTokenLifetime = <B extends TokenBackend>(backend: B, seconds = backend.settings.jwtExp): B => ({
  ...backend,
  settings: { ...backend.settings, jwtExp: seconds },
})

/**
 * Signs in the user with an address in lower case, who may be the one of a seed. Without a password, none is checked.
 * Rejects with Supabase's error if the password is wrong for an existing user.
 */
export async function signIn(
  backend: Backend,
  email: string,
  seed: UserSeed | undefined,
  password?: string,
): Promise<Grant> {
  const { state } = backend
  // Nothing else of the configuration is added: the state may belong to a platform that was started with another one.
  if (seed) await plantUser(state, seed, backend.now)
  const [userBefore] = await state.read(({ users }) => users.find({ email }))
  if (userBefore && password !== undefined && !(await matchesHash(password, userBefore.encrypted_password))) {
    throw invalidCredentials()
  }
  // Hashed before the transaction: writers wait for one another, and hashing takes a moment.
  const encrypted_password = userBefore || password === undefined ? null : await hashOf(password)
  return state.write(async tables => {
    const [existing] = await tables.users.find({ email })
    if (existing) return startSession(backend, tables, existing, 'password')
    const at = momentOf(backend)
    const id = await newUserId(tables, email)
    const unconfirmed = signedUp(newUser(at, { id, encrypted_password }), 'email', email, {})
    const user = { ...unconfirmed, ...confirmedEmail(unconfirmed, at) }
    await tables.users.insert(user)
    return startSession(backend, tables, user, 'password')
  })
}

/** Signs in the holder of an account at another provider, who may be the user of a seed, with tokens of the provider. */
export async function signInByAccount(backend: Backend, account: ProviderAccount, seed: UserSeed | undefined) {
  if (seed) await plantUser(backend.state, seed, backend.now)
  const { userOfAccount } = await import('./social.js')
  const grant = await backend.state.write(async tables => {
    const result = await userOfAccount(backend, tables, account)
    if ('refusal' in result) throw result.refusal
    return startSession(backend, tables, result.user, 'oauth')
  })
  const isOffline = issuesRefreshToken(account.provider, new URLSearchParams())
  return { ...(await tokenResponse(backend, grant)), ...providerTokens(account.provider, isOffline) }
}
