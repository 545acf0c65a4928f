/** What a user may rely on at a platform, and the steps that change it. */
import { askAuth, type Place } from '../keys/people.js'
import type { Chance } from './chance.js'

/** Begun by a sign-in; one whose answer never came has no tokens that anybody knows. */
interface Session {
  readonly access?: string | undefined
  /** The last refresh token that came. */
  readonly refresh?: string | undefined
  /** How many refresh tokens there have been. */
  readonly tokens: number
  readonly ended: boolean
}

/** One whose answer never came has no secret that anybody knows. */
interface Key {
  readonly id?: string | undefined
  readonly secret?: string | undefined
  readonly revoked: boolean
}

export interface Account {
  readonly email: string
  readonly password: string
  readonly isThere: boolean
  readonly sessions: readonly Session[]
  readonly keys: readonly Key[]
}

/** Sessions and keys by their places in the account. */
export type Step =
  | { readonly kind: 'sign up' | 'sign in' }
  | { readonly kind: 'refresh'; readonly session: number }
  | { readonly kind: 'sign out'; readonly session: number; readonly scope: Scope }
  | { readonly kind: 'make a key'; readonly session: number }
  | { readonly kind: 'revoke a key' | 'roll a key'; readonly session: number; readonly key: number }
  | { readonly kind: 'use a key'; readonly key: number }

export type Scope = 'global' | 'local' | 'others'

/** What of the answers is of use. */
export interface Answer {
  readonly access_token?: string
  readonly refresh_token?: string
  readonly id?: string
  readonly key?: string
}

export const newAccount = (email: string): Account => ({
  email,
  password: `password of ${email}`,
  isThere: false,
  sessions: [],
  keys: [],
})

/** A step that this account can take. */
export function stepOf({ isThere, sessions, keys }: Account, chance: Chance): Step {
  if (!isThere) return { kind: 'sign up' }
  const session = someOf(sessions, ({ access, ended }) => access !== undefined && !ended, chance)
  if (session === undefined) return { kind: 'sign in' }
  const key = someOf(keys, ({ secret, revoked }) => secret !== undefined && !revoked, chance)
  const scope: Scope = chance.pick<Scope>(['global', 'local', 'local', 'others'])
  const refresh: Step = { kind: 'refresh', session }
  return chance.pick<Step>([
    ...[refresh, refresh, refresh],
    ...([{ kind: 'sign in' }, { kind: 'sign out', session, scope }, { kind: 'make a key', session }] as const),
    ...(key === undefined
      ? []
      : ([
          { kind: 'revoke a key', session, key },
          { kind: 'roll a key', session, key },
        ] as const)),
    ...(key === undefined
      ? []
      : ([
          { kind: 'use a key', key },
          { kind: 'use a key', key },
        ] as const)),
  ])
}

/** The place of one that will do. */
function someOf<T>(all: readonly T[], will: (one: T) => boolean, chance: Chance): number | undefined {
  const places = all.flatMap((one, i) => (will(one) ? [i] : []))
  return places[chance.below(places.length)]
}

/** Takes the step. Rejects with a TypeError, as `fetch` does, when the answer does not come or not as a whole. */
export async function taken(place: Place, account: Account, step: Step): Promise<Answer> {
  const response = await asked(place, account, step)
  const text = await response.text()
  if (!response.ok) throw new Error(`${account.email} could not ${step.kind}: ${response.status} ${text}`)
  return text === '' ? {} : JSON.parse(text)
}

function asked(place: Place, { email, password, sessions, keys }: Account, step: Step): Promise<Response> {
  const post = (path: string, body: object) => askAuth(place, path, { method: 'POST', body: JSON.stringify(body) })
  const bearer = (token = '') => ({ authorization: `Bearer ${token}` })
  const askForKeys = (session: number, path: string, method: string, body?: object) =>
    fetch(`${place.url}/dashboard/api/keys${path}`, {
      method,
      headers: { ...bearer(sessions[session]?.access), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  switch (step.kind) {
    case 'sign up':
      return post('/signup', { email, password })
    case 'sign in':
      return post('/token?grant_type=password', { email, password })
    case 'refresh':
      return post('/token?grant_type=refresh_token', { refresh_token: sessions[step.session]?.refresh })
    case 'sign out':
      return askAuth(place, `/logout?scope=${step.scope}`, {
        method: 'POST',
        headers: bearer(sessions[step.session]?.access),
      })
    case 'make a key':
      return askForKeys(step.session, '', 'POST', { name: email })
    case 'revoke a key':
      return askForKeys(step.session, `/${keys[step.key]?.id}`, 'DELETE')
    case 'roll a key':
      return askForKeys(step.session, `/${keys[step.key]?.id}/roll`, 'POST')
    case 'use a key':
      return fetch(`${place.url}/v1/models`, { headers: bearer(keys[step.key]?.secret) })
  }
}

/** The account when the step is done; without an answer its tokens and keys stay unknown, but it is done. */
export function after(account: Account, step: Step, answer: Answer = {}): Account {
  const { sessions, keys } = account
  const { access_token: access, refresh_token: refresh, id, key: secret } = answer
  const session: Session = { access, refresh, tokens: 1, ended: false }
  const key: Key = { id, secret, revoked: false }
  const withoutKey = (i: number) => keys.map((old, at) => (at === i ? { ...old, revoked: true } : old))
  switch (step.kind) {
    case 'sign up':
    case 'sign in':
      return { ...account, isThere: true, sessions: [...sessions, session] }
    case 'refresh':
      return { ...account, sessions: sessions.map((old, i) => (i === step.session ? refreshed(old, answer) : old)) }
    case 'sign out':
      return { ...account, sessions: sessions.map((old, i) => (leaves(step, i) ? { ...old, ended: true } : old)) }
    case 'make a key':
      return { ...account, keys: [...keys, key] }
    case 'revoke a key':
      return { ...account, keys: withoutKey(step.key) }
    case 'roll a key':
      return { ...account, keys: [...withoutKey(step.key), key] }
    case 'use a key':
      return account
  }
}

const refreshed = ({ access, refresh, tokens, ended }: Session, answer: Answer): Session => ({
  access: answer.access_token ?? access,
  refresh: answer.refresh_token ?? refresh,
  tokens: tokens + 1,
  ended,
})

function leaves({ session, scope }: { session: number; scope: Scope }, i: number): boolean {
  switch (scope) {
    case 'global':
      return true
    case 'local':
      return i === session
    case 'others':
      return i !== session
  }
}
