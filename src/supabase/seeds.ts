/** Adds the configured users and API keys to the state at the start, with stable ids. */
import { randomUUID, scrypt as scryptWithCallback } from 'node:crypto'
import { promisify } from 'node:util'
import { developmentUser, digestOf } from '../core/secrets.js'
import { memoized } from '../core/work.js'
import { startOf } from '../keys/api-keys.js'
import { type ApiKeyRow, type Json, type State, type Tables, TakenError, type UserRow } from '../state/rows.js'
import { hashOf } from './passwords.js'
import { endSessionsOf, removeUser } from './sessions.js'
import {
  identityData,
  mergeMetadata,
  newIdentity,
  newUser,
  providersOf,
  takenAddress,
  validEmail,
  validPhone,
} from './users.js'

const scrypt = promisify<string, string, number, object, Buffer>(scryptWithCallback)

export interface UserSeed {
  readonly id?: string | undefined
  readonly email?: string | undefined
  readonly phone?: string | undefined
  readonly password?: string | undefined
  readonly confirmed: boolean
  readonly role: string
  readonly user_metadata?: Json | undefined
  readonly app_metadata?: Json | undefined
}

interface ApiKeySeed {
  readonly id?: string | undefined
  readonly name: string
  readonly key: string
  /** The email address of one of the users. */
  readonly user?: string | undefined
  /** An ISO 8601 time. */
  readonly expiresAt?: string | undefined
  readonly revoked: boolean
}

export interface Seeds {
  readonly users: readonly UserSeed[]
  readonly apiKeys: readonly ApiKeySeed[]
}

/** An id derived from a name. It is the same on every machine. */
function stableId(name: string): string {
  const hex = digestOf(`standin ${name}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const idOfUser = ({ id, email, phone }: Pick<UserSeed, 'id' | 'email' | 'phone'>) =>
  id?.toLowerCase() ?? stableId(`user ${email?.toLowerCase() ?? phone}`)

/** The id of a new user: that of a configured one with this address, unless a user has it who has changed their address. */
export async function newUserId({ users }: Tables, email: string): Promise<string> {
  const id = idOfUser({ email })
  return (await users.get(id)) ? randomUUID() : id
}

/**
 * Adds the seeds to the state. Existing rows stay as the app left them, unless their seed has changed since. A
 * configured key that is no longer in the configuration is removed. New rows are dated `atMs`.
 */
export async function plantSeeds(state: State, { users, apiKeys }: Seeds, atMs: number): Promise<void> {
  const at = new Date(atMs).toISOString()
  // Hashed before the transaction: writers wait for one another, and hashing takes a moment.
  const existing = await state.read(tables => Promise.all(users.map(seed => userOfSeed(tables, namesOf(seed), users))))
  const marks = await Promise.all(users.map(markOf))
  const changed = await Promise.all(users.flatMap((seed, i) => (existing[i]?.seed === marks[i] ? [] : rowOf(seed, at))))
  await state.write(async tables => {
    if (!users.some(seed => idOfUser(seed) === developmentUserId)) await removeDevelopmentUser(tables)
    await plantUsers(tables, changed, users)
    await plantKeys(tables, apiKeys, users, at)
  })
}

/**
 * Adds one configured user to the state, unless they exist. For commands, which must change nothing else of a running
 * platform's state.
 */
export async function plantUser(state: State, seed: UserSeed, now: () => number): Promise<void> {
  const row = await rowOf(seed, new Date(now()).toISOString())
  await state.write(async tables => {
    if (!(await userOfSeed(tables, row, [seed]))) await tables.users.insert(row)
  })
}

/** A mark that changes with the seed. It covers the password, so it is not a fast hash. */
const markOf = cachedBySeed(async seed => {
  const mark = await scrypt(JSON.stringify(seed), idOfUser(seed), 16, { N: 2 ** 10 })
  return mark.toString('base64url')
})

/** Of the development user's password, which is public. Computing it would take a tenth of a start. */
const developmentHash = '$scrypt$ln=12,r=8,p=1$xHEnvbrQ9Dd3kNM36s9jSw$mC4CQSRYxmX7OxjqCZPWnwqmLOIDGi9sf4Fj3Ndckg4'

/** Every other seed has its own hash, even if passwords are equal. */
const passwordHashOf = cachedBySeed(async ({ password }) => {
  if (password === undefined) return null
  return password === developmentUser.password ? developmentHash : hashOf(password)
})

/** The id and the addresses of a seed as in a user's row. */
const namesOf = (seed: UserSeed) => ({
  id: idOfUser(seed),
  email: seed.email === undefined ? null : validEmail(seed.email),
  phone: seed.phone === undefined ? null : validPhone(seed.phone),
})

async function rowOf(seed: UserSeed, at: string): Promise<UserRow> {
  const { id, email, phone } = namesOf(seed)
  const identities = (['email', 'phone'] as const).flatMap(provider => {
    const address = { email, phone }[provider]
    if (address === null) return []
    const identity = newIdentity(id, provider, identityData(id, provider, address, seed.confirmed), at)
    return [{ ...identity, identity_id: stableId(`identity ${provider} of ${id}`) }]
  })
  return newUser(at, {
    id,
    email,
    phone,
    identities,
    role: seed.role,
    encrypted_password: await passwordHashOf(seed),
    email_confirmed_at: seed.confirmed && email !== null ? at : null,
    phone_confirmed_at: seed.confirmed && phone !== null ? at : null,
    user_metadata: { ...seed.user_metadata },
    app_metadata: mergeMetadata(providersOf({}, identities), seed.app_metadata),
    seed: await markOf(seed),
  })
}

/**
 * Finds the user of a seed. A user who signed up with the seed's address becomes the seed's user, unless they belong to
 * another seed that is about to give up the address.
 */
async function userOfSeed(
  { users }: Tables,
  { id, email, phone }: ReturnType<typeof namesOf>,
  all: readonly UserSeed[],
): Promise<UserRow | undefined> {
  const byId = await users.get(id)
  if (byId) return byId
  const [byEmail] = email === null ? [] : await users.find({ email })
  const [byPhone] = phone === null ? [] : await users.find({ phone })
  return [byEmail, byPhone].find(user => user && !all.some(other => idOfUser(other) === user.id))
}

async function plantUsers(tables: Tables, rows: readonly UserRow[], all: readonly UserSeed[]): Promise<void> {
  const existing = await Promise.all(rows.map(row => userOfSeed(tables, row, all)))
  // All addresses are released first, since two users may have swapped theirs.
  for (const user of existing) if (user) await tables.users.update(user.id, { email: null, phone: null })
  for (const [i, row] of rows.entries()) {
    const user = existing[i]
    const taken = await takenAddress(tables, row, user?.id)
    if (taken) {
      const [value] = Object.values(taken.address)
      throw new TakenError(`${value} belongs to another user, ${taken.holder.id}.`)
    }
    if (!user) await tables.users.insert(row)
    else await replant(tables, user, row)
  }
}

/** Updates a user to a changed seed. If they had a password before, their sessions end. */
async function replant(tables: Tables, { id, encrypted_password }: UserRow, row: UserRow): Promise<void> {
  const { id: _id, created_at: _created, ...changes } = row
  const identities = row.identities.map(one => ({ ...one, id, user_id: id }))
  await tables.users.update(id, { ...changes, identities })
  if (encrypted_password !== null) await endSessionsOf(tables, id)
}

const developmentUserId = idOfUser(developmentUser)

/** Its password is public, so it is removed from a configuration with users of its own. */
async function removeDevelopmentUser(tables: Tables): Promise<void> {
  const user = await tables.users.get(developmentUserId)
  if (user && user.seed !== null) await removeUser(tables, user)
}

async function plantKeys(
  tables: Tables,
  seeds: readonly ApiKeySeed[],
  userSeeds: readonly UserSeed[],
  at: string,
): Promise<void> {
  const configured = new Set(seeds.map(({ key }) => digestOf(key)))
  for (const { id, digest } of await tables.api_keys.find({ seeded: true })) {
    if (!configured.has(digest)) await tables.api_keys.remove({ id })
  }
  for (const seed of seeds) {
    const [existing] = await tables.api_keys.find({ digest: digestOf(seed.key) })
    const owner = userSeeds.find(({ email }) => email !== undefined && email.toLowerCase() === seed.user?.toLowerCase())
    const user_id = owner ? await ownerIdOf(tables, owner, existing) : null
    await plantKey(tables, seed, existing, user_id, at)
  }
}

/** A key stays with its owner even if their address changes. Only a new key goes to the user with the address. */
async function ownerIdOf({ users }: Tables, owner: UserSeed, existing: ApiKeyRow | undefined): Promise<string | null> {
  const own = await users.get(idOfUser(owner))
  if (own) return own.id
  if (existing && existing.user_id !== null) return existing.user_id
  const [userWithAddress] = await users.find({ email: owner.email?.toLowerCase() ?? '' })
  return userWithAddress?.id ?? null
}

async function plantKey(
  { api_keys }: Tables,
  seed: ApiKeySeed,
  existing: ApiKeyRow | undefined,
  user_id: string | null,
  at: string,
): Promise<void> {
  const digest = digestOf(seed.key)
  const expires_at = seed.expiresAt === undefined ? null : new Date(seed.expiresAt).toISOString()
  if (!existing) {
    return api_keys.insert({
      id: seed.id ?? stableId(`key ${digest}`),
      user_id,
      digest,
      expires_at,
      name: seed.name,
      start: startOf(seed.key),
      seeded: true,
      created_at: at,
      last_used_at: null,
      revoked_at: seed.revoked ? at : null,
    })
  }
  const changes = {
    name: seed.name,
    user_id,
    expires_at,
    revoked_at: revocationOf(existing, seed),
  }
  const isSame = (Object.keys(changes) as (keyof typeof changes)[]).every(key => existing[key] === changes[key])
  if (!isSame) await api_keys.update(existing.id, changes)
}

/**
 * A key that its user revoked stays revoked. A key revoked since its creation was revoked by the configuration, which
 * may undo that.
 */
function revocationOf({ revoked_at, created_at }: ApiKeyRow, { revoked }: ApiKeySeed): string | null {
  const isRevokedByUser = revoked_at !== null && revoked_at !== created_at
  if (isRevokedByUser) return revoked_at
  return revoked ? created_at : null
}

/** Caches slow work. Tests start many platforms with the same seeds, and a reset compares old rows with new marks. */
function cachedBySeed<T>(work: (seed: UserSeed) => Promise<T>): (seed: UserSeed) => Promise<T> {
  const cached = memoized((seed: string) => work(JSON.parse(seed)), 1000)
  return seed => cached(JSON.stringify(seed))
}
