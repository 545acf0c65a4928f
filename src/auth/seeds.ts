/** Users and API keys of the configuration: in the state from the start, with ids that stay the same. */
import { scrypt as scryptWithCallback } from 'node:crypto'
import { promisify } from 'node:util'
import type { ApiKeyRow, Json, State, Tables, UserRow } from '../core/state.js'
import { validEmail, validPhone } from './addresses.js'
import { digestOf, startOf } from './api-key-form.js'
import { hashOf } from './passwords.js'
import { identityData, mergeMetadata, newIdentity, newUser, providersOf } from './users.js'

const scrypt = promisify<string, string, number, object, Buffer>(scryptWithCallback)

/** A user as configured. */
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

/** An API key as configured. */
export interface ApiKeySeed {
  readonly id?: string | undefined
  readonly name: string
  readonly key: string
  /** The e-mail address of one of the users. */
  readonly user?: string | undefined
  /** An ISO 8601 time. */
  readonly expiresAt?: string | undefined
  readonly revoked: boolean
}

export interface Seeds {
  readonly users: readonly UserSeed[]
  readonly apiKeys: readonly ApiKeySeed[]
}

/** An id that follows from a name: the same on every machine. */
export function stableId(name: string): string {
  const hex = digestOf(`standin ${name}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const idOfUser = ({ id, email, phone }: Pick<UserSeed, 'id' | 'email' | 'phone'>) =>
  id?.toLowerCase() ?? stableId(`user ${email?.toLowerCase() ?? phone}`)

/**
 * Puts the seeds into the state. What is there already stays as the app left it, unless its seed was changed since; a
 * configured key that is configured no longer is taken away.
 */
export async function plantSeeds(state: State, { users, apiKeys }: Seeds, now: () => number): Promise<void> {
  const at = new Date(now()).toISOString()
  // Hashed before: writers wait for one another, and this takes a moment.
  const present = await state.read(tables => Promise.all(users.map(seed => tables.users.get(idOfUser(seed)))))
  const rows = await Promise.all(users.map(async (seed, i) => rowUnlessMarked(seed, present[i], at)))
  await state.write(async tables => {
    for (const row of rows) if (row) await plantUser(tables, row)
    await plantKeys(tables, apiKeys, users, at)
  })
}

/** What tells whether a seed was changed. A password is part of it, hence no quick hash. */
async function markOf(seed: UserSeed): Promise<string> {
  const mark = await scrypt(JSON.stringify(seed), idOfUser(seed), 16, { N: 2 ** 10 })
  return mark.toString('base64url')
}

async function rowUnlessMarked(seed: UserSeed, present: UserRow | undefined, at: string): Promise<UserRow | undefined> {
  const mark = await markOf(seed)
  return present?.seed === mark ? undefined : rowOf(seed, mark, at)
}

async function rowOf(seed: UserSeed, mark: string, at: string): Promise<UserRow> {
  const id = idOfUser(seed)
  const email = seed.email === undefined ? null : validEmail(seed.email)
  const phone = seed.phone === undefined ? null : validPhone(seed.phone)
  const identities = [
    ...(email === null ? [] : [newIdentity(id, 'email', identityData(id, 'email', email, seed.confirmed), at)]),
    ...(phone === null ? [] : [newIdentity(id, 'phone', identityData(id, 'phone', phone, seed.confirmed), at)]),
  ]
  return newUser(at, {
    ...{ id, email, phone, identities },
    role: seed.role,
    encrypted_password: seed.password === undefined ? null : await hashOf(seed.password),
    email_confirmed_at: seed.confirmed && email !== null ? at : null,
    phone_confirmed_at: seed.confirmed && phone !== null ? at : null,
    user_metadata: { ...seed.user_metadata },
    app_metadata: mergeMetadata(providersOf({}, identities), seed.app_metadata),
    seed: mark,
  })
}

/** Whoever signed up with a seed's address before it was one becomes it. */
async function plantUser({ users }: Tables, row: UserRow): Promise<void> {
  const { id, created_at: _created, ...changes } = row
  const [byEmail] = row.email === null ? [] : await users.find({ email: row.email })
  const [byPhone] = row.phone === null ? [] : await users.find({ phone: row.phone })
  const known = (await users.get(id)) ?? byEmail ?? byPhone
  if (!known) return users.insert(row)
  if (known.seed === row.seed) return
  await users.update(known.id, {
    ...changes,
    identities: row.identities.map(one => ({ ...one, id: known.id, user_id: known.id })),
  })
}

async function plantKeys(
  { api_keys, users }: Tables,
  seeds: readonly ApiKeySeed[],
  people: readonly UserSeed[],
  at: string,
) {
  const configured = new Set(seeds.map(({ key }) => digestOf(key)))
  for (const { id, digest } of await api_keys.find({ seeded: true })) {
    if (!configured.has(digest)) await api_keys.remove({ id })
  }
  for (const seed of seeds) {
    const owner = people.find(({ email }) => email !== undefined && email.toLowerCase() === seed.user?.toLowerCase())
    const [holder] = owner?.email === undefined ? [] : await users.find({ email: owner.email.toLowerCase() })
    await plantKey({ api_keys }, seed, holder?.id ?? null, at)
  }
}

async function plantKey({ api_keys }: Pick<Tables, 'api_keys'>, seed: ApiKeySeed, user_id: string | null, at: string) {
  const digest = digestOf(seed.key)
  const expires_at = seed.expiresAt === undefined ? null : new Date(seed.expiresAt).toISOString()
  const [known] = await api_keys.find({ digest })
  if (known) {
    // Revoked on the dashboard stays revoked; revoked in the configuration is revoked.
    const revoked_at = known.revoked_at ?? (seed.revoked ? at : null)
    const changes = { name: seed.name, user_id, expires_at, revoked_at, seeded: true }
    const isSame = (Object.keys(changes) as (keyof typeof changes)[]).every(key => known[key] === changes[key])
    return isSame ? undefined : api_keys.update(known.id, changes)
  }
  const row: ApiKeyRow = {
    id: seed.id ?? stableId(`key ${digest}`),
    ...{ user_id, digest, expires_at },
    name: seed.name,
    start: startOf(seed.key),
    seeded: true,
    created_at: at,
    last_used_at: null,
    revoked_at: seed.revoked ? at : null,
  }
  return api_keys.insert(row)
}
