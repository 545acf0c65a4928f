/** What tests in the same process can do with a platform, in addition to the control API. */
import { noSuchUser, usersAreLive } from '../core/errors.js'
import { developmentUser } from '../core/secrets.js'
import type { NewApiKey } from '../keys/operations.js'
import type { Scopes } from '../scopes/index.js'
import type { Backend } from '../supabase/backend.js'
import type { Accounts, Messages, NewKeyInput, SessionJson, SignInInput } from '../supabase/operations.js'
import { createOutbox, signInByAccount, signIn as signInWith } from '../supabase/people.js'
import { startSession, tokenResponse } from '../supabase/sessions.js'
import { validEmail } from '../supabase/users.js'
import type { Assembly } from './assembly.js'
import type { Runtime } from './runtime.js'
import { configuredUser } from './state.js'

/** The key to create. */
interface KeyRequest extends NewKeyInput {
  /** The key itself, if it is already known. */
  readonly key?: string | undefined
}

export interface ForTests extends Messages, Accounts {
  /** Creates a key. A scope given alone has one key, which is created once, and again after it was revoked. */
  createKey(wish: KeyRequest): Promise<NewApiKey>
  /** The scopes of users. */
  readonly scopes: Pick<Scopes, 'follow' | 'unfollow'>
}

export function createForTests(runtime: Runtime, current: () => Assembly): ForTests {
  const { apiKeys, scopes, usersAreElsewhere, state, clock } = runtime
  const backend = () => current().backend
  const seedOf = (email: string) => configuredUser(current().loaded, email)

  async function signIn(wanted: SignInInput): Promise<SessionJson> {
    if (usersAreElsewhere()) throw usersAreLive()
    if (wanted.user_id !== undefined) return signInById(backend(), wanted.user_id)
    return signInByEmail(backend(), wanted, seedOf)
  }

  async function create({ name = 'made by a test', user, expiresInMs, scope, key }: KeyRequest): Promise<NewApiKey> {
    const owner = user === undefined ? null : (await signIn({ email: user })).user.id
    const expiresAt = expiresInMs === undefined ? null : new Date(backend().now() + expiresInMs).toISOString()
    const created = await apiKeys.create(owner, { name, expiresAt, ...(key !== undefined && { key }) })
    if (scope !== undefined) scopes.bind(created.id, scope)
    return created
  }

  const keyOfScope = createScopeKeys(apiKeys, scope => create({ scope, name: `scope ${scope}` }))

  return {
    ...createOutbox(state.state, clock.now),
    signIn,
    scopes,
    async idToken({ provider, email = developmentUser.email, nonce }) {
      if (usersAreElsewhere()) throw usersAreLive()
      const { makeIdToken } = await import('../supabase/id-tokens.js')
      return makeIdToken(backend(), { provider, email: validEmail(email), nonce })
    },
    createKey({ scope, ...wish }) {
      const isAlone = Object.values(wish).every(value => value === undefined)
      return scope !== undefined && isAlone ? keyOfScope(scope) : create({ scope, ...wish })
    },
  }
}

/** Returns the key of a scope: the same one at each call, until it no longer works. */
function createScopeKeys({ find }: Runtime['apiKeys'], create: (scope: string) => Promise<NewApiKey>) {
  const known = new Map<string, Promise<NewApiKey>>()
  return async (scope: string): Promise<NewApiKey> => {
    const before = known.get(scope)
    const works = before?.then(({ key }) => find(key)).catch(() => undefined)
    if (before && (await works)) return before
    const created = create(scope)
    known.set(scope, created)
    return created
  }
}

async function signInByEmail(
  backend: Backend,
  { email = developmentUser.email, password, provider }: SignInInput,
  seedOf: (email: string) => ReturnType<typeof configuredUser>,
): Promise<SessionJson> {
  const address = validEmail(email)
  if (provider) return signInByAccount(backend, { provider, email: address, isVerified: true }, seedOf(address))
  return tokenResponse(backend, await signInWith(backend, address, seedOf(address), password))
}

async function signInById(backend: Backend, id: string): Promise<SessionJson> {
  const grant = await backend.state.write(async tables => {
    const user = await tables.users.get(id)
    if (!user || user.deleted_at !== null) throw noSuchUser(id)
    return startSession(backend, tables, user, 'password')
  })
  return tokenResponse(backend, grant)
}
