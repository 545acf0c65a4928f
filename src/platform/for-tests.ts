/** What tests that hold the platform in their hands may do to it, beside what calls may. */
import { developmentUser } from '../core/development.js'
import { usersAreLive } from '../core/errors.js'
import type { Scopes } from '../core/scope.js'
import type { ApiKeys } from '../keys/api-keys.js'
import type { NewApiKey } from '../keys/operations.js'
import type { Traffic } from '../server/entrance.js'
import type { Handler } from '../server/mount.js'
import type { Backend } from '../supabase/backend.js'
import type { Messages } from '../supabase/operations.js'
import { createPeople } from '../supabase/people.js'
import type { UserSeed } from '../supabase/seeds.js'
import type { tokenResponse } from '../supabase/sessions.js'
import type { StatePart } from './state.js'

/** What a sign-in answers, in the form of Supabase Auth. */
export type SessionJson = Awaited<ReturnType<typeof tokenResponse>>

/** Whose session is wanted: the development user's where no address is given. */
export interface SignInWish {
  readonly email?: string | undefined
  /** Asked for only where it is given; a user who signs up gets it. */
  readonly password?: string | undefined
}

/** Which key is wanted. */
export interface KeyWish {
  readonly name: string
  /** The address of whose it is, who signs up if need be; nobody's without one. */
  readonly user?: string | undefined
  /** From now on; negative for one that has expired. It never expires without. */
  readonly expiresInMs?: number | undefined
  /** The scope to which its requests belong that name none. */
  readonly scope?: string | undefined
  /** The key itself, where somebody has told it already. */
  readonly key?: string | undefined
}

export interface ForTests extends Messages {
  readonly traffic: Traffic
  readonly handler: Handler
  /** A session as if somebody had just signed in; who is not there yet signs up. */
  signIn(wish: SignInWish): Promise<SessionJson>
  createKey(wish: KeyWish): Promise<NewApiKey>
  /** `work` runs whenever a reset has brought back the rows of the start. */
  readonly onRestored: StatePart['onRestored']
}

interface Parts {
  readonly apiKeys: ApiKeys
  readonly scopes: Scopes
  readonly backend: () => Backend
  /** Whether users are a live backend's. */
  readonly usersAreElsewhere: () => boolean
  readonly seedOf: (email: string) => UserSeed | undefined
}

type Made = Pick<ForTests, 'traffic' | 'handler' | 'onRestored'>

export function createForTests(made: Made, parts: Parts): ForTests {
  const { apiKeys, scopes, backend, usersAreElsewhere, seedOf } = parts
  const { messages, clearMessages } = createPeople(() => backend().state())

  async function signIn({ email = developmentUser.email, password }: SignInWish): Promise<SessionJson> {
    if (usersAreElsewhere()) throw usersAreLive()
    const [{ validEmail }, signing, { tokenResponse }] = await Promise.all([
      import('../supabase/addresses.js'),
      import('../supabase/sign-in.js'),
      import('../supabase/sessions.js'),
    ])
    const address = validEmail(email)
    return tokenResponse(
      backend(),
      await signing.signIn(backend(), { email: address, password, seed: seedOf(address) }),
    )
  }

  return {
    ...made,
    messages,
    clearMessages,
    signIn,
    async createKey({ name, user, expiresInMs, scope, key }) {
      const owner = user === undefined ? null : (await signIn({ email: user })).user.id
      const expiresAt = expiresInMs === undefined ? null : new Date(backend().now() + expiresInMs).toISOString()
      const created = await apiKeys.create(owner, { name, expiresAt, ...(key !== undefined && { key }) })
      if (scope !== undefined) scopes.bind(created.id, scope)
      return created
    },
  }
}
