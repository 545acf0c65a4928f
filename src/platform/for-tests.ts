/** What tests in the same process can do with a platform, in addition to the control API. */
import { noSuchUser, usersAreLive } from '../core/errors.js'
import { developmentUser, digestOf } from '../core/secrets.js'
import { onceLoaded } from '../core/work.js'
import type { NewApiKey } from '../keys/operations.js'
import type { Backend } from '../supabase/backend.js'
import type {
  Accounts,
  Messages,
  MintedToken,
  NewKeyInput,
  SessionJson,
  SignInInput,
  TokenRequest,
} from '../supabase/operations.js'
import type { Assembly } from './assembly.js'
import type { Runtime } from './runtime.js'
import { configuredUser } from './state.js'

/** Selects the key. */
interface KeyWish extends NewKeyInput {
  /** The key itself, if it is already known. */
  readonly key?: string | undefined
}

export interface ForTests extends Messages, Accounts {
  /** A key for a scope outlives a reset, unless it belongs to a user, expires or was revoked. */
  createKey(wish: KeyWish): Promise<NewApiKey>
  mintToken(request: TokenRequest): Promise<MintedToken>
}

export function createForTests(runtime: Runtime, current: () => Assembly): ForTests {
  const { apiKeys, scopes, usersAreElsewhere, state } = runtime
  const ofScopes = new Set<KeyWish & { readonly key: string }>()
  state.onRestored(async before => {
    const revoked = new Set(before.api_keys.flatMap(({ digest, revoked_at }) => (revoked_at === null ? [] : [digest])))
    for (const wish of ofScopes) if (revoked.has(digestOf(wish.key))) ofScopes.delete(wish)
    await Promise.all([...ofScopes].map(make))
  })
  const outbox = onceLoaded(async () => (await import('../supabase/people.js')).createOutbox(state.get))
  const backend = () => current().backend
  const seedOf = (email: string) => configuredUser(current().loaded, email)

  async function signIn(wanted: SignInInput): Promise<SessionJson> {
    if (usersAreElsewhere()) throw usersAreLive()
    if (wanted.user_id !== undefined) return signInById(backend(), wanted.user_id)
    return signInByEmail(backend(), wanted, seedOf)
  }

  async function make({ name, user, expiresInMs, scope, key }: KeyWish): Promise<NewApiKey> {
    const owner = user === undefined ? null : (await signIn({ email: user })).user.id
    const expiresAt = expiresInMs === undefined ? null : new Date(backend().now() + expiresInMs).toISOString()
    const created = await apiKeys.create(owner, { name, expiresAt, ...(key !== undefined && { key }) })
    if (scope !== undefined) scopes.bind(created.id, scope)
    return created
  }

  return {
    messages: async wanted => (await outbox()).messages(wanted),
    clearMessages: async () => (await outbox()).clearMessages(),
    signIn,
    async mintToken(request) {
      if (request.role === 'user' && usersAreElsewhere()) throw usersAreLive()
      const { tokenFor } = await import('../supabase/mint.js')
      return tokenFor(backend(), request, seedOf)
    },
    async createKey(wish) {
      const created = await make(wish)
      const { user, expiresInMs, scope } = wish
      const lasts = scope !== undefined && user === undefined && expiresInMs === undefined
      if (lasts) ofScopes.add({ ...wish, key: created.key })
      return created
    },
  }
}

async function signInByEmail(
  backend: Backend,
  { email = developmentUser.email, password }: SignInInput,
  seedOf: (email: string) => ReturnType<typeof configuredUser>,
): Promise<SessionJson> {
  const [{ validEmail }, { signIn }, { tokenResponse }] = await Promise.all([
    import('../supabase/addresses.js'),
    import('../supabase/mint.js'),
    import('../supabase/sessions.js'),
  ])
  const address = validEmail(email)
  return tokenResponse(backend, await signIn(backend, { email: address, password, seed: seedOf(address) }))
}

async function signInById(backend: Backend, id: string): Promise<SessionJson> {
  const { startSession, tokenResponse } = await import('../supabase/sessions.js')
  const grant = await (await backend.state()).write(async tables => {
    const user = await tables.users.get(id)
    if (!user || user.deleted_at !== null) throw noSuchUser(id)
    return startSession(backend, tables, user, 'password')
  })
  return tokenResponse(backend, grant)
}
