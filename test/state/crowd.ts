/** Clients at a platform that may be killed at any moment: they note what was acknowledged, and afterwards look whether it still holds. */
import { isDeepStrictEqual } from 'node:util'
import { digestOf } from '../../src/core/secrets.js'
import type { RefreshTokenRow, State, Tables } from '../../src/core/state.js'
import { answerOf, askAuth, claimsOf, type Place, sentences } from '../keys/people.js'
import { type Account, after, newAccount, type Step, stepOf, taken } from './accounts.js'
import type { Chance } from './chance.js'

export interface Crowd {
  /** All clients do one thing after another until the platform is gone or they are told to rest. Rejects when one is refused. */
  goAbout(place: Place): Promise<void>
  /** Resolves when so many more steps were acknowledged. */
  acknowledged(count: number): Promise<void>
  /** Lets all clients finish the step they are at. */
  rest(): void
  /** How many steps were acknowledged, how many were in flight when a platform went, and how many of these were done all the same. */
  readonly counts: { readonly acknowledged: number; readonly inFlight: number; readonly done: number }
  /**
   * What does not hold any more of what was acknowledged, or is there by half. Looks at those who have done something since the
   * last time, who know afterwards what became of their last steps; or at all.
   */
  surprises(place: Place, state: State, who?: 'all'): Promise<readonly unknown[]>
}

/** An account as it was acknowledged, and as it is if the step that was in flight was done all the same. */
interface Life {
  now: Account
  /** Whether anything was done since the last look. */
  moved: boolean
  inFlight?: { readonly step: Step; readonly done: Account } | undefined
}

export function createCrowd(name: string, clients: number, chance: Chance): Crowd {
  const lives: Life[] = []
  const counts = { acknowledged: 0, inFlight: 0, done: 0 }
  let awaited: { count: number; resolve: () => void } | undefined
  let resting = false

  function acknowledge() {
    counts.acknowledged += 1
    if (!awaited || counts.acknowledged < awaited.count) return
    awaited.resolve()
    awaited = undefined
  }

  async function client(place: Place, own: Life[], choices: Chance): Promise<void> {
    while (!resting) {
      const life = own[choices.below(own.length + 2)] ?? somebodyNew(own)
      const step = stepOf(life.now, choices)
      life.moved = true
      try {
        life.now = after(life.now, step, await taken(place, life.now, step))
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        life.inFlight = { step, done: after(life.now, step) }
        counts.inFlight += 1
        return
      }
      acknowledge()
    }
  }

  function somebodyNew(own: Life[]): Life {
    const life: Life = { now: newAccount(`${name}${lives.length}@example.com`), moved: false }
    lives.push(life)
    own.push(life)
    return life
  }

  const others = Array.from({ length: clients }, () => ({ own: [] as Life[], choices: chance.branch() }))
  return {
    counts,
    async goAbout(place) {
      resting = false
      await Promise.all(others.map(({ own, choices }) => client(place, own, choices)))
    },
    acknowledged: count =>
      new Promise(resolve => {
        awaited = { count: counts.acknowledged + count, resolve }
      }),
    rest() {
      resting = true
    },
    async surprises(place, state, who) {
      const before = await rowsOf(state)
      const looked = lives.filter(({ moved }) => moved || who === 'all')
      const settled = await Promise.all(looked.map(life => settle(place, before, life)))
      counts.done += settled.filter(({ wasDone }) => wasDone).length
      const rows = await rowsOf(state)
      return [
        ...[...halves(before), ...halves(rows)],
        ...settled.flatMap(({ surprises }) => surprises),
        ...lives.flatMap(({ now }) => forked(rows, now)),
      ]
    },
  }
}

type Rows = Awaited<ReturnType<typeof rowsOf>>

const rowsOf = (state: State) =>
  state.read(async ({ users, sessions, refresh_tokens, api_keys }: Tables) => ({
    users: await users.find({}),
    sessions: await sessions.find({}),
    refreshTokens: await refresh_tokens.find({}),
    keys: await api_keys.find({}),
  }))

/** Rows that are only a part of something. */
function halves({ users, sessions, refreshTokens, keys }: Rows): readonly unknown[] {
  const usersById = new Map(users.map(user => [user.id, user]))
  const sessionsById = new Map(sessions.map(session => [session.id, session]))
  const familyOf = (id: string) => refreshTokens.filter(({ session_id }) => session_id === id)
  return [
    ...users.filter(({ email_confirmed_at, identities }) => email_confirmed_at === null || identities.length !== 1),
    ...sessions.filter(({ id, user_id }) => !usersById.has(user_id) || !isFamily(familyOf(id))),
    ...refreshTokens.filter(({ session_id, user_id }) => sessionsById.get(session_id)?.user_id !== user_id),
    ...keys.filter(({ user_id }) => user_id !== null && !usersById.has(user_id)),
  ]
}

/** Each token came of another one in the family but the first, and one is active. */
function isFamily(family: readonly RefreshTokenRow[]): boolean {
  const tokens = new Set(family.map(({ token }) => token))
  const parents = new Set(family.map(({ parent }) => parent))
  return (
    family.filter(({ revoked }) => !revoked).length === 1 &&
    family.filter(({ parent }) => parent === null).length === 1 &&
    family.every(({ parent }) => parent === null || tokens.has(parent)) &&
    // No token has two children.
    parents.size === family.length
  )
}

interface Settled {
  readonly wasDone: boolean
  readonly surprises: readonly unknown[]
}

/**
 * Looks at what became of an account, and from now on takes that for what was acknowledged. Gives back what could not be so, and
 * whether the step that was in flight was done.
 */
async function settle(place: Place, rows: Rows, life: Life): Promise<Settled> {
  const { now, inFlight } = life
  const possible = inFlight ? [now, inFlight.done] : [now]
  const found = await foundOf(place, rows, now)
  const account = possible.find(account => isDeepStrictEqual(found, expectedOf(account)))
  const { email } = now
  const step = inFlight?.step
  if (!account) {
    return { wasDone: false, surprises: [{ email, inFlight: step, possible: possible.map(expectedOf), found }] }
  }
  const wasDone = account !== now
  const wasRefreshed = (i: number) => wasDone && step?.kind === 'refresh' && step.session === i
  const refreshed = await Promise.all(account.sessions.map((session, i) => refresh(place, session, wasRefreshed(i))))
  life.now = { ...account, sessions: refreshed.map(({ session }) => session) }
  life.inFlight = undefined
  life.moved = false
  const refusals = refreshed.flatMap(({ refusal }) =>
    refusal === undefined ? [] : [{ email, inFlight: step, refusal }],
  )
  return { wasDone, surprises: refusals }
}

/** All that tells one account from another, without the secrets. */
interface Look {
  readonly isThere: boolean
  /** What the access tokens are answered. */
  readonly sessions: readonly string[]
  /** What the keys are answered. */
  readonly keys: readonly string[]
  /** The states of the keys in their owner's list. */
  readonly listed: readonly string[]
  readonly rows: { readonly sessions: number; readonly refreshTokens: number }
}

function expectedOf({ isThere, sessions, keys }: Account): Look {
  const alive = sessions.filter(({ ended }) => !ended)
  return {
    isThere,
    sessions: sessions.flatMap(({ access, ended }) => (access === undefined ? [] : [ended ? sentences.ended : 'open'])),
    keys: keys.flatMap(({ secret, revoked }) =>
      secret === undefined ? [] : [revoked ? sentences.revokedKey : 'open'],
    ),
    listed: keys.map(({ revoked }) => (revoked ? 'revoked' : 'active')).sort(),
    rows: { sessions: alive.length, refreshTokens: alive.reduce((sum, { tokens }) => sum + tokens, 0) },
  }
}

async function foundOf(place: Place, rows: Rows, account: Account): Promise<Look> {
  const { email, sessions, keys } = account
  const id = rows.users.find(user => user.email === email)?.id
  const answersTo = (credentials: readonly (string | undefined)[]) =>
    Promise.all(credentials.flatMap(credential => (credential === undefined ? [] : [answerOf(place, credential)])))
  return {
    sessions: await answersTo(sessions.map(({ access }) => access)),
    keys: await answersTo(keys.map(({ secret }) => secret)),
    ...(await seenInside(place, account)),
    rows: {
      sessions: rows.sessions.filter(({ user_id }) => user_id === id).length,
      refreshTokens: rows.refreshTokens.filter(({ user_id }) => user_id === id).length,
    },
  }
}

/** Signs in, looks around, and signs out again. */
async function seenInside(place: Place, account: Account): Promise<Pick<Look, 'isThere' | 'listed'>> {
  const { email, password } = account
  const body = JSON.stringify({ email, password })
  const response = await askAuth(place, '/token?grant_type=password', { method: 'POST', body })
  const { access_token, error_code } = (await response.json()) as { access_token?: string; error_code?: string }
  if (access_token === undefined && error_code === 'invalid_credentials') return { isThere: false, listed: [] }
  const headers = { authorization: `Bearer ${access_token}` }
  const list = await fetch(`${place.url}/dashboard/api/keys`, { headers })
  const { data = [{ state: `${list.status}` }] } = (await list.json()) as { data?: readonly { state: string }[] }
  await askAuth(place, '/logout?scope=local', { method: 'POST', headers })
  return { isThere: true, listed: data.map(({ state }) => state).sort() }
}

type Session = Account['sessions'][number]

/** Asks for the next refresh token: a living session gives one, an ended one knows nothing of it any more. */
async function refresh(place: Place, session: Session, wasRefreshed: boolean) {
  if (session.refresh === undefined) return { session }
  const body = JSON.stringify({ refresh_token: session.refresh })
  const response = await askAuth(place, '/token?grant_type=refresh_token', { method: 'POST', body })
  const { access_token, refresh_token, error_code } = (await response.json()) as Record<string, string | undefined>
  if (session.ended) return { session, refusal: error_code === 'refresh_token_not_found' ? undefined : response.status }
  const tokens = session.tokens + (wasRefreshed ? 0 : 1)
  return {
    session: { ...session, access: access_token, refresh: refresh_token, tokens },
    refusal: response.ok ? undefined : error_code,
  }
}

/** Sessions whose one active token is not the one that was given out last. */
function forked({ refreshTokens }: Rows, { email, sessions }: Account): readonly unknown[] {
  const active = new Set(refreshTokens.filter(({ revoked }) => !revoked).map(({ token }) => token))
  return sessions
    .filter(({ refresh, ended }) => refresh !== undefined && !ended && !active.has(digestOf(refresh)))
    .map(({ access = '' }) => ({ email, session: claimsOf(access).session_id }))
}
