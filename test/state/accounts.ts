/** What a user of a platform can rely on, and the steps that change it. */
import { askAuth, type Place } from '../keys/people.js'
import type { Chance } from './chance.js'

/** Started by a sign-in. Its tokens are unknown if the response never arrived. */
interface Session {
  readonly access?: string | undefined
  /** The last refresh token that arrived. */
  readonly refresh?: string | undefined
  /** How many refresh tokens there have been. */
  readonly tokens: number
  readonly ended: boolean
}

/** Its secret is unknown if the response never arrived. */
interface Key {
  readonly id?: string | undefined
  readonly secret?: string | undefined
  readonly revoked: boolean
}

export interface Account {
  readonly email: string
  readonly password: string
  readonly exists: boolean
  readonly sessions: readonly Session[]
  readonly keys: readonly Key[]
}

/** Sessions and keys are given by their index in the account. */
export type Step =
  | { readonly kind: 'sign up' | 'sign in' }
  | { readonly kind: 'refresh'; readonly session: number }
  | { readonly kind: 'sign out'; readonly session: number; readonly scope: Scope }
  | { readonly kind: 'make a key'; readonly session: number }
  | { readonly kind: 'revoke a key'; readonly session: number; readonly key: number }
  | { readonly kind: 'use a key'; readonly key: number }

export type Scope = 'global' | 'local' | 'others'

/** The fields of the responses that are used. */
export interface Answer {
  readonly access_token?: string
  readonly refresh_token?: string
  readonly id?: string
  readonly key?: string
}

export const newAccount = (email: string): Account => ({
  email,
  password: `password of ${email}`,
  exists: false,
  sessions: [],
  keys: [],
})

/** A step that this account can take. */
export function stepOf({ exists, sessions, keys }: Account, chance: Chance): Step {
  if (!exists) return { kind: 'sign up' }
  const session = randomIndexOf(sessions, ({ access, ended }) => access !== undefined && !ended, chance)
  if (session === undefined) return { kind: 'sign in' }
  const key = randomIndexOf(keys, ({ secret, revoked }) => secret !== undefined && !revoked, chance)
  const scope: Scope = chance.pick<Scope>(['global', 'local', 'local', 'others'])
  const refresh: Step = { kind: 'refresh', session }
  return chance.pick<Step>([
    ...[refresh, refresh, refresh],
    ...([{ kind: 'sign in' }, { kind: 'sign out', session, scope }, { kind: 'make a key', session }] as const),
    ...(key === undefined
      ? []
      : ([
          { kind: 'revoke a key', session, key },
          { kind: 'use a key', key },
          { kind: 'use a key', key },
        ] as const)),
  ])
}

/** The index of a random element that matches. */
function randomIndexOf<T>(all: readonly T[], matches: (one: T) => boolean, chance: Chance): number | undefined {
  const indexes = all.flatMap((one, i) => (matches(one) ? [i] : []))
  return indexes[chance.below(indexes.length)]
}

/** Takes the step. Rejects with a TypeError, as `fetch` does, when no complete response arrives. */
export async function take(place: Place, account: Account, step: Step): Promise<Answer> {
  const response = await send(place, account, step)
  const text = await response.text()
  if (!response.ok) throw new Error(`${account.email} could not ${step.kind}: ${response.status} ${text}`)
  return text === '' ? {} : JSON.parse(text)
}

function send(place: Place, { email, password, sessions, keys }: Account, step: Step): Promise<Response> {
  const post = (path: string, body: object) => askAuth(place, path, { method: 'POST', body: JSON.stringify(body) })
  const bearer = (token = '') => ({ authorization: `Bearer ${token}` })
  const keysApi = (session: number, path: string, method: string, body?: object) =>
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
      return keysApi(step.session, '', 'POST', { name: email })
    case 'revoke a key':
      return keysApi(step.session, `/${keys[step.key]?.id}`, 'DELETE')
    case 'use a key':
      return fetch(`${place.url}/v1/models`, { headers: bearer(keys[step.key]?.secret) })
  }
}

/** The account after the step. Without an answer the step counts as done, but its tokens and keys are unknown. */
export function after(account: Account, step: Step, answer: Answer = {}): Account {
  const { sessions, keys } = account
  const { access_token: access, refresh_token: refresh, id, key: secret } = answer
  const session: Session = { access, refresh, tokens: 1, ended: false }
  const key: Key = { id, secret, revoked: false }
  const withoutKey = (i: number) => keys.map((old, at) => (at === i ? { ...old, revoked: true } : old))
  switch (step.kind) {
    case 'sign up':
    case 'sign in':
      return { ...account, exists: true, sessions: [...sessions, session] }
    case 'refresh':
      return { ...account, sessions: sessions.map((old, i) => (i === step.session ? refreshed(old, answer) : old)) }
    case 'sign out':
      return { ...account, sessions: sessions.map((old, i) => (endsSession(step, i) ? { ...old, ended: true } : old)) }
    case 'make a key':
      return { ...account, keys: [...keys, key] }
    case 'revoke a key':
      return { ...account, keys: withoutKey(step.key) }
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

function endsSession({ session, scope }: { session: number; scope: Scope }, i: number): boolean {
  switch (scope) {
    case 'global':
      return true
    case 'local':
      return i === session
    case 'others':
      return i !== session
  }
}
