/** The users whose requests belong to a scope, by all that a request may say of them. */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { isEmail, open, text } from '../check/forms.js'

const aName = 'a name of printable ASCII characters'

/** Names can be sent in a header, so they only have characters that a header can contain unencoded. */
export const scopeName = v.pipe(v.string(aName), v.regex(/^[!-~]([ -~]*[!-~])?$/, aName))

const form = 'an email address, the id of a user, or a user with an id'
const uuid = v.pipe(text, v.uuid(form))
const address = v.pipe(text, v.check(isEmail, form))

/** A user as an address, an id, or the object that Supabase Auth returns. */
export const scopedUser = v.union([address, uuid, open({ id: uuid, email: v.nullish(text) })], form)
export type ScopedUser = v.InferInput<typeof scopedUser>

/** What identifies a user, in lower case. */
export interface UserIdentity {
  readonly id?: string | undefined
  readonly email?: string | undefined
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null }

/** The users with these identities; `undefined` for those that do not exist yet. */
export type FindUsers = (wanted: readonly UserIdentity[]) => Promise<readonly (UserIdentity | undefined)[]>

interface Followed {
  readonly scope: string
  readonly given: UserIdentity
  /** The same user in the state, as last looked up. */
  found: UserIdentity | undefined
}

/** Far more than tests run in parallel. Beyond that, the oldest is dropped. */
const MOST_USERS = 1000

export class ScopedUsers {
  /** The scopes by what requests say: id, address, or the SHA-256 of one of them, which OpenAI recommends. */
  readonly #scopes = new Map<string, string>()
  #all: readonly Followed[] = []
  /** Users of scopes that have ended, by what is known of them. */
  #former: readonly string[] = []

  constructor(private readonly findUsers: FindUsers) {}

  readonly areAny = () => this.#all.length > 0
  readonly scopeOf = (said: string | undefined) => said && this.#scopes.get(said.toLowerCase())

  /** Returns the scope: by default the user's own, with the address as its name, or the id of a user without an address. */
  follow(user: ScopedUser, name?: string): string {
    const given = identityOf(user)
    const same = this.#all.filter(followed => isSame(followed, given))
    const scope = name ?? same.at(-1)?.scope ?? given.email ?? given.id ?? ''
    const merged = Object.assign({}, ...same.map(one => one.given), given)
    const followed = { scope, given: merged, found: same.at(-1)?.found }
    this.#replaceAll([...this.#all.filter(one => !same.includes(one)), followed])
    return scope
  }

  unfollow(scope: string): void {
    const ended = this.#all.filter(followed => followed.scope === scope)
    const known = ended.flatMap(({ given, found }) => [given.id, given.email, found?.id, found?.email])
    this.#former = [...this.#former, ...known.filter(said => said !== undefined)].slice(-MOST_USERS)
    this.#replaceAll(this.#all.filter(followed => followed.scope !== scope))
  }

  /** Whether a user belongs, or has belonged, to another scope: the user of another test. */
  readonly isOfOther = (scope: string, { id, email }: Nullable<UserIdentity>): boolean => {
    const said = [id, email].filter(one => typeof one === 'string').map(one => one.toLowerCase())
    const own = said.map(one => this.#scopes.get(one)).find(Boolean)
    return own === undefined ? said.some(one => this.#former.includes(one)) : own !== scope
  }

  /** Looks the users up, since those who were given by address may have an id by now. */
  async lookUp(): Promise<void> {
    const wanted = this.#all
    const found = await this.findUsers(wanted.map(({ given }) => given))
    const changed = wanted.filter(
      ({ found: before }, i) => before?.id !== found[i]?.id || before?.email !== found[i]?.email,
    )
    for (const followed of changed) followed.found = found[wanted.indexOf(followed)]
    if (changed.length > 0) this.#replaceAll(this.#all)
  }

  #replaceAll(followed: readonly Followed[]): void {
    this.#all = followed.slice(-MOST_USERS)
    this.#scopes.clear()
    for (const { scope, given, found } of this.#all)
      for (const said of [given.id, given.email, found?.id, found?.email])
        if (said) this.#scopes.set(said, scope).set(hash('sha256', said), scope)
  }
}

function identityOf(user: ScopedUser): UserIdentity {
  if (typeof user === 'string') return isEmail(user) ? { email: user.toLowerCase() } : { id: user.toLowerCase() }
  const id = user.id.toLowerCase()
  return user.email ? { id, email: user.email.toLowerCase() } : { id }
}

const isSame = ({ given, found }: Followed, { id, email }: UserIdentity) =>
  [given, found].some(one => (id && one?.id === id) || (email && one?.email === email))
