/** Clients of a platform that may be killed at any moment: they record what was acknowledged and check later that it still holds. */
import { isDeepStrictEqual } from 'node:util'
import { digestOf } from '../../src/core/secrets.js'
import type { RefreshTokenRow, State, Tables } from '../../src/state/rows.js'
import { answerOf, askAuth, claimsOf, type Place, sentences } from '../keys/people.js'
import { type Account, after, newAccount, type Step, stepOf, take } from './accounts.js'
import type { Chance } from './chance.js'

export interface Crowd {
  /** Runs all clients until the platform is gone or `stop` is called. Rejects when a client is refused. */
  run(place: Place): Promise<void>
  /** Resolves when this many more steps have been acknowledged. */
  acknowledged(count: number): Promise<void>
  /** Stops all clients after their current step. */
  stop(): void
  /** How many steps were acknowledged, how many were in flight when a platform was killed, and how many of these took effect anyway. */
  readonly counts: { readonly acknowledged: number; readonly inFlight: number; readonly done: number }
  /**
   * Returns what was acknowledged and no longer holds, and what is half-written. Checks the accounts that have taken a step since
   * the last check, or all of them, and records what became of their last steps.
   */
  discrepancies(place: Place, state: State, who?: 'all'): Promise<readonly unknown[]>
}

/** An account as it was acknowledged, and as it is if the step in flight took effect anyway. */
interface Life {
  now: Account
  /** Whether it has taken a step since the last check. */
  moved: boolean
  inFlight?: { readonly step: Step; readonly done: Account } | undefined
}

export function createCrowd(name: string, clients: number, chance: Chance): Crowd {
  const lives: Life[] = []
  const counts = { acknowledged: 0, inFlight: 0, done: 0 }
  let awaited: { count: number; resolve: () => void } | undefined
  let stopping = false

  function acknowledge() {
    counts.acknowledged += 1
    if (!awaited || counts.acknowledged < awaited.count) return
    awaited.resolve()
    awaited = undefined
  }

  async function client(place: Place, own: Life[], choices: Chance): Promise<void> {
    while (!stopping) {
      const life = own[choices.below(own.length + 2)] ?? newLife(own)
      const step = stepOf(life.now, choices)
      life.moved = true
      try {
        life.now = after(life.now, step, await take(place, life.now, step))
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        life.inFlight = { step, done: after(life.now, step) }
        counts.inFlight += 1
        return
      }
      acknowledge()
    }
  }

  function newLife(own: Life[]): Life {
    const life: Life = { now: newAccount(`${name}${lives.length}@example.com`), moved: false }
    lives.push(life)
    own.push(life)
    return life
  }

  const others = Array.from({ length: clients }, () => ({ own: [] as Life[], choices: chance.branch() }))
  return {
    counts,
    async run(place) {
      stopping = false
      await Promise.all(others.map(({ own, choices }) => client(place, own, choices)))
    },
    acknowledged: count =>
      new Promise(resolve => {
        awaited = { count: counts.acknowledged + count, resolve }
      }),
    stop() {
      stopping = true
    },
    async discrepancies(place, state, who) {
      const before = await rowsOf(state)
      const checked = lives.filter(({ moved }) => moved || who === 'all')
      const settled = await Promise.all(checked.map(life => settle(place, before, life)))
      counts.done += settled.filter(({ wasDone }) => wasDone).length
      const rows = await rowsOf(state)
      return [
        ...[...incomplete(before), ...incomplete(rows)],
        ...settled.flatMap(({ discrepancies }) => discrepancies),
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

/** Rows whose related rows are missing or do not match. */
function incomplete({ users, sessions, refreshTokens, keys }: Rows): readonly unknown[] {
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

/** Every token but the first has a parent in the family, and exactly one token is active. */
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
  readonly discrepancies: readonly unknown[]
}

/**
 * Finds out what became of an account and takes that as acknowledged from now on. Returns the discrepancies, and whether the step
 * in flight took effect.
 */
async function settle(place: Place, rows: Rows, life: Life): Promise<Settled> {
  const { now, inFlight } = life
  const possible = inFlight ? [now, inFlight.done] : [now]
  const found = await foundOf(place, rows, now)
  const account = possible.find(account => isDeepStrictEqual(found, expectedOf(account)))
  const { email } = now
  const step = inFlight?.step
  if (!account) {
    return { wasDone: false, discrepancies: [{ email, inFlight: step, possible: possible.map(expectedOf), found }] }
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
  return { wasDone, discrepancies: refusals }
}

/** What can be observed of an account, without the secrets. */
interface Snapshot {
  readonly exists: boolean
  /** How the access tokens are answered. */
  readonly sessions: readonly string[]
  /** How the keys are answered. */
  readonly keys: readonly string[]
  /** The states of the keys in their owner's list. */
  readonly listed: readonly string[]
  readonly rows: { readonly sessions: number; readonly refreshTokens: number }
}

function expectedOf({ exists, sessions, keys }: Account): Snapshot {
  const alive = sessions.filter(({ ended }) => !ended)
  return {
    exists,
    sessions: sessions.flatMap(({ access, ended }) => (access === undefined ? [] : [ended ? sentences.ended : 'open'])),
    keys: keys.flatMap(({ secret, revoked }) =>
      secret === undefined ? [] : [revoked ? sentences.revokedKey : 'open'],
    ),
    listed: keys.map(({ revoked }) => (revoked ? 'revoked' : 'active')).sort(),
    rows: { sessions: alive.length, refreshTokens: alive.reduce((sum, { tokens }) => sum + tokens, 0) },
  }
}

async function foundOf(place: Place, rows: Rows, account: Account): Promise<Snapshot> {
  const { email, sessions, keys } = account
  const id = rows.users.find(user => user.email === email)?.id
  const answersTo = (credentials: readonly (string | undefined)[]) =>
    Promise.all(credentials.flatMap(credential => (credential === undefined ? [] : [answerOf(place, credential)])))
  return {
    sessions: await answersTo(sessions.map(({ access }) => access)),
    keys: await answersTo(keys.map(({ secret }) => secret)),
    ...(await seenSignedIn(place, account)),
    rows: {
      sessions: rows.sessions.filter(({ user_id }) => user_id === id).length,
      refreshTokens: rows.refreshTokens.filter(({ user_id }) => user_id === id).length,
    },
  }
}

/** Signs in, lists the keys and signs out again. */
async function seenSignedIn(place: Place, account: Account): Promise<Pick<Snapshot, 'exists' | 'listed'>> {
  const { email, password } = account
  const body = JSON.stringify({ email, password })
  const response = await askAuth(place, '/token?grant_type=password', { method: 'POST', body })
  const { access_token, error_code } = (await response.json()) as { access_token?: string; error_code?: string }
  if (access_token === undefined && error_code === 'invalid_credentials') return { exists: false, listed: [] }
  const headers = { authorization: `Bearer ${access_token}` }
  const list = await fetch(`${place.url}/dashboard/api/keys`, { headers })
  const { data = [{ state: `${list.status}` }] } = (await list.json()) as { data?: readonly { state: string }[] }
  await askAuth(place, '/logout?scope=local', { method: 'POST', headers })
  return { exists: true, listed: data.map(({ state }) => state).sort() }
}

type Session = Account['sessions'][number]

/** Requests the next refresh token: an active session returns one, and an ended session no longer knows the old one. */
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

/** Sessions whose one active token is not the last one issued. */
function forked({ refreshTokens }: Rows, { email, sessions }: Account): readonly unknown[] {
  const active = new Set(refreshTokens.filter(({ revoked }) => !revoked).map(({ token }) => token))
  return sessions
    .filter(({ refresh, ended }) => refresh !== undefined && !ended && !active.has(digestOf(refresh)))
    .map(({ access = '' }) => ({ email, session: claimsOf(access).session_id }))
}
