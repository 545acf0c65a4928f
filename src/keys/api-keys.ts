/** The API keys of users and of the configuration: their format, and how they are created, listed, revoked and found. */

import { randomInt, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { numberBetween } from '../check/forms.js'
import type { KeyFault, RefusedCredential } from '../core/caller.js'
import type { PlatformError } from '../core/errors.js'
import type { Caller } from '../core/exchange.js'
import { developmentApiKey, digestOf } from '../core/secrets.js'
import { type ApiKeyRow, isStorableText, type Moment, mayAct, type State, type Tables } from '../state/rows.js'
import {
  barredUser,
  expiredApiKey,
  fromAnotherState,
  mistypedApiKey,
  noSuchApiKey,
  ownerlessApiKey,
  revokedApiKey,
  unknownApiKey,
} from './errors.js'
import type { ApiKeyView, UserKeys } from './operations.js'

const PREFIX = 'sk-local-'
const RANDOM_CHARACTERS = 32
const CHECKSUM_CHARACTERS = 6
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns a new secret. 32 characters out of 62 have 190 bits. */
export function newSecret(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${PREFIX}${random}${checksumOf(random)}`
}

/** Whether `secret` looks like one of ours but has missing or wrong characters. */
export function isMistyped(secret: string): boolean {
  if (!secret.startsWith(PREFIX)) return false
  const rest = secret.slice(PREFIX.length)
  const random = rest.slice(0, RANDOM_CHARACTERS)
  return rest !== `${random}${checksumOf(random)}`
}

/** CRC-32 of `text` in base 62, padded to the length of the largest value. */
function checksumOf(text: string): string {
  // Loaded when the first key is checked, since importing it would add 2 ms to every start.
  let rest = process.getBuiltinModule('node:zlib').crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    digits = `${alphabet[rest % alphabet.length]}${digits}`
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}

const SHOWN_CHARACTERS = PREFIX.length + 4

/** The part of a secret that may be shown to recognize keys; at most a third of a short one. */
export const startOf = (secret: string) => secret.slice(0, Math.min(SHOWN_CHARACTERS, Math.floor(secret.length / 3)))

const aName = 'a string of at most 1000 characters, without unpaired surrogates or NUL characters'
/** A thousand years. */
const LONGEST_MS = 1000 * 365 * 86_400_000

export const testKeyName = v.pipe(v.string(aName), v.maxLength(1000, aName), v.check(isStorableText, aName))
export const testKeyExpiry = numberBetween(-LONGEST_MS, LONGEST_MS, 'milliseconds')

/** A valid credential. */
export interface ValidCredential {
  readonly caller: Caller
  /** When it expires, in milliseconds since 1970. */
  readonly expiresAtMs: number
  /** Whether a live backend has set the expiry. It then refers to the real time, whatever the clock here shows. */
  readonly isLive?: boolean
}

export interface ApiKeys extends UserKeys {
  /**
   * Finds the key with this secret. Rejects with a 401 if it is unknown, mistyped, revoked or expired, or if its owner
   * no longer exists.
   */
  find(secret: string): Promise<ValidCredential>
  /** Notes that a key was used. Saved later, with the uses of other keys. */
  noteUse(id: string, atMs: number): void
  /** Saves which keys were used, and resolves when that is done. */
  flush(): Promise<void>
}

interface Parts {
  readonly state: State
  /** Whether users are those of a live backend. Then it is unknown here which of them still exist. */
  readonly usersAreElsewhere?: () => boolean
  readonly now?: () => number
  readonly report: (error: unknown) => void
}

/** How long uses of keys are collected before they are saved. */
const FLUSH_AFTER_MS = 1000

const refusals: Record<Exclude<KeyFault, 'unknown'>, (tried: RefusedCredential) => PlatformError> = {
  mistyped: mistypedApiKey,
  revoked: revokedApiKey,
  expired: expiredApiKey,
  ownerless: ownerlessApiKey,
}

/** The hint in the log for a key that this state does not have. */
function hintOf(secret: string): string | undefined {
  if (secret === developmentApiKey)
    return 'It is the development key. Send one of the configuration, or the one that Standin printed when it started.'
  return secret.startsWith(PREFIX) ? fromAnotherState.key : undefined
}

/** The error for an invalid key. */
function refusalOf(secret: string, reason: KeyFault, key?: ApiKeyRow): PlatformError {
  const tried: RefusedCredential = { kind: 'apiKey', reason, start: startOf(secret), ...(key && { name: key.name }) }
  return reason === 'unknown' ? unknownApiKey(tried, hintOf(secret)) : refusals[reason](tried)
}

/** Collects uses of keys and saves them together. */
function createUses({ write }: State, report: Parts['report']) {
  const usedAtMs = new Map<string, number>()
  let flushTimer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(flushTimer)
    flushTimer = undefined
    if (usedAtMs.size === 0) return
    const uses = [...usedAtMs]
    await write(async ({ api_keys }) => {
      for (const [id, ms] of uses) await api_keys.update(id, { last_used_at: new Date(ms).toISOString() })
    })
    for (const [id, ms] of uses) if (usedAtMs.get(id) === ms) usedAtMs.delete(id)
  }

  return {
    flush,
    lastUsedMs: (id: string) => usedAtMs.get(id),
    noteUse(id: string, atMs: number): void {
      usedAtMs.set(id, atMs)
      flushTimer ??= setTimeout(() => flush().catch(report), FLUSH_AFTER_MS).unref()
    },
  }
}

/** Times are compared as text, so all years have four digits. */
const LATEST_MS = Date.UTC(10_000, 0, 1) - 1

const momentOf = (ms: number): Moment => new Date(Math.min(ms, LATEST_MS)).toISOString()

/** `usedAtMs` is the time of the last use, if that has not been saved yet. */
function viewOf(row: ApiKeyRow, usedAtMs: number | undefined, nowMs: number): ApiKeyView {
  const { id, name, start, user_id, created_at, last_used_at, expires_at, revoked_at } = row
  const isExpired = expires_at !== null && Date.parse(expires_at) <= nowMs
  return {
    id,
    name,
    start,
    user_id,
    created_at,
    expires_at,
    revoked_at,
    state: revoked_at !== null ? 'revoked' : isExpired ? 'expired' : 'active',
    last_used_at: usedAtMs === undefined ? last_used_at : momentOf(usedAtMs),
  }
}

function newRow(
  secret: string,
  created_at: Moment,
  fields: Pick<ApiKeyRow, 'user_id' | 'name' | 'expires_at'>,
): ApiKeyRow {
  const [digest, start] = [digestOf(secret), startOf(secret)]
  return { id: randomUUID(), digest, start, seeded: false, created_at, last_used_at: null, revoked_at: null, ...fields }
}

/** Returns a key of this user, or of any user. Throws a 404 if there is none with this id. */
async function getKey({ api_keys }: Tables, userId: string | undefined, id: string): Promise<ApiKeyRow> {
  const row = await api_keys.get(id)
  if (!row || (userId !== undefined && row.user_id !== userId)) throw noSuchApiKey()
  return row
}

export function createApiKeys(parts: Parts): ApiKeys {
  const { state, usersAreElsewhere = () => false, now = Date.now, report } = parts
  const { write } = state
  const uses = createUses(state, report)
  const view = (row: ApiKeyRow) => viewOf(row, uses.lastUsedMs(row.id), now())

  return {
    async find(secret) {
      const { key, owner } = await state.read(async ({ api_keys, users }) => {
        const [key] = await api_keys.find({ digest: digestOf(secret) })
        return { key, owner: key?.user_id == null ? null : await users.get(key.user_id) }
      })
      if (!key) throw refusalOf(secret, isMistyped(secret) ? 'mistyped' : 'unknown')
      // The time in `revoked_at` does not matter: the clock of the process that revoked the key may be ahead.
      if (key.revoked_at !== null) throw refusalOf(secret, 'revoked', key)
      const expiresAtMs = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at)
      if (expiresAtMs <= now()) throw refusalOf(secret, 'expired', key)
      if (owner !== null && !usersAreElsewhere() && !mayAct(owner, now())) throw refusalOf(secret, 'ownerless', key)
      const ownership = key.user_id === null ? {} : { owner: key.user_id }
      const email = owner?.email ? { email: owner.email } : {}
      return { caller: { kind: 'apiKey', name: key.name, id: key.id, ...ownership, ...email }, expiresAtMs }
    },
    noteUse: uses.noteUse,
    async list(userId) {
      const filter = userId === undefined ? {} : { user_id: userId }
      const rows = await state.read(({ api_keys }) => api_keys.find(filter))
      return rows.map(view)
    },
    async create(userId, { name, expiresAt, key = newSecret() }) {
      const row = newRow(key, momentOf(now()), { user_id: userId, name, expires_at: expiresAt })
      await write(async ({ api_keys, users }) => {
        const owner = userId === null || usersAreElsewhere() ? null : await users.get(userId)
        // A token may outlive its user, or may have been minted for a user that never existed.
        if (owner === undefined || owner?.deleted_at) throw barredUser()
        await api_keys.insert(row)
      })
      return { ...view(row), key }
    },
    revoke: (userId, id) =>
      write(async tables => {
        const old = await getKey(tables, userId, id)
        const revoked_at = old.revoked_at ?? momentOf(now())
        await tables.api_keys.update(id, { revoked_at })
        return view({ ...old, revoked_at })
      }),
    flush: uses.flush,
  }
}
