/** Whom tests sign in without a password, and the keys that they create. */
import { noSuchUser, usersAreLive } from '../core/errors.js'
import { developmentUser } from '../core/secrets.js'
import type { NewApiKey } from '../keys/operations.js'
import type { Backend } from '../supabase/backend.js'
import type { Accounts, NewKeyInput, SessionJson, SignInInput } from '../supabase/operations.js'
import { signInByAccount, signIn as signInWith } from '../supabase/people.js'
import { startSession, tokenResponse } from '../supabase/sessions.js'
import { validEmail } from '../supabase/users.js'
import type { Assembly } from './assembly.js'
import type { Runtime } from './runtime.js'
import { configuredUser } from './state.js'

export interface ForTests extends Accounts {
  /** Creates a key. A scope given alone has one key, which is created once, and again after it was revoked. */
  createKey(wish: NewKeyInput): Promise<NewApiKey>
}

export function createForTests(runtime: Runtime, current: () => Assembly): ForTests {
  const { apiKeys, scopes, usersAreElsewhere } = runtime
  const backend = () => current().backend
  const seedOf = (email: string) => configuredUser(current().loaded, email)

  async function signIn(wanted: SignInInput): Promise<SessionJson> {
    if (usersAreElsewhere()) throw usersAreLive()
    if (wanted.user_id !== undefined) return signInById(backend(), wanted.user_id)
    return signInByEmail(backend(), wanted, seedOf)
  }

  async function create({ name = 'made by a test', user, expiresInMs, scope }: NewKeyInput): Promise<NewApiKey> {
    const owner = user === undefined ? null : (await signIn({ email: user })).user.id
    const expiresAt = expiresInMs === undefined ? null : new Date(backend().now() + expiresInMs).toISOString()
    const created = await apiKeys.create(owner, { name, expiresAt })
    if (scope !== undefined) scopes.bind(created.id, scope)
    return created
  }

  const keyOfScope = createScopeKeys(apiKeys, scope => create({ scope, name: `scope ${scope}` }))

  return {
    signIn,
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
