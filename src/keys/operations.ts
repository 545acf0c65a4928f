/** Operations on API keys: users list, create and revoke their own; the developer lists and revokes those of all users. */
import * as v from 'valibot'
import { closed, integer, isMoment, moment, optional, orNull, text, where, word } from '../check/forms.js'
import { dataOf, operation, type ValueOf } from '../core/operation.js'
import { isStorableText } from '../state/rows.js'

const aShortName = 'a string of 1 to 100 characters'
const name = v.pipe(
  v.string(aShortName),
  v.trim(),
  v.minLength(1, aShortName),
  v.maxLength(100, aShortName),
  v.check(isStorableText, `${aShortName}, without unpaired surrogates or NUL characters`),
)

const aFutureTime = 'a time in the future, such as 2030-01-31T12:00:00Z, or null'
const futureTime = (now: () => number) =>
  v.pipe(
    v.string(aFutureTime),
    v.check(written => isMoment(written) && Date.parse(written) > now(), aFutureTime),
  )

const TEN_YEARS_S = 10 * 365 * 24 * 3600
const seconds = 'a whole number of seconds'

const newKeyFields = (now: () => number) =>
  closed({
    name,
    expires_at: v.optional(v.nullable(futureTime(now))),
    expires_in: v.optional(integer(1, TEN_YEARS_S, seconds)),
  })

type NewKeyRequest = v.InferOutput<ReturnType<typeof newKeyFields>>

const newKeyRequest = (now: () => number) =>
  v.pipe(
    newKeyFields(now),
    where<NewKeyRequest>(
      'expires_in',
      'left out if expires_at is given',
      ({ expires_at, expires_in }) => expires_at === undefined || expires_in === undefined,
    ),
  )

/** When a new key expires; `null` if it never does. */
function expiryOf({ expires_at = null, expires_in }: NewKeyRequest, nowMs: number): string | null {
  const expiry = expires_in === undefined ? expires_at : nowMs + expires_in * 1000
  return expiry === null ? null : new Date(expiry).toISOString()
}

const keyFields = {
  id: text,
  name: text,
  /** The first characters of the secret. */
  start: text,
  /** Its owner; null for a key that belongs to no user, such as one of the configuration. */
  user_id: orNull(text),
  state: word(['active', 'expired', 'revoked']),
  created_at: moment,
  last_used_at: orNull(moment),
  expires_at: orNull(moment),
  revoked_at: orNull(moment),
}
const key = closed(keyFields)
const newKey = closed({ ...keyFields, key: text })

/** A key without its secret. */
export type ApiKeyView = ValueOf<typeof key>
/** A key with its secret, which is known only at this moment. */
export type NewApiKey = ValueOf<typeof newKey>

export interface UserKeys {
  /** Lists the keys of a user, or of all users, newest first. */
  list(userId?: string): Promise<readonly ApiKeyView[]>
  create(userId: string | null, input: { name: string; expiresAt: string | null; key?: string }): Promise<NewApiKey>
  /**
   * Revokes a key of this user, or of any user. It is refused from the next request on. Rejects with a 404 if there is
   * no such key.
   */
  revoke(userId: string | undefined, id: string): Promise<ApiKeyView>
}

interface Parts {
  readonly apiKeys: UserKeys
  /** Milliseconds since 1970, on the clock that keys expire by. */
  readonly now: () => number
}

export const keyOperations = ({ apiKeys, now }: Parts) => ({
  listKeys: operation({
    at: 'GET /keys',
    does: 'Lists the API keys of the user.',
    access: 'user',
    returns: dataOf(key),
    run: async ({ user }) => ({ data: await apiKeys.list(user.id) }),
  }),
  createKey: operation({
    at: 'POST /keys',
    does: 'Creates an API key.',
    access: 'user',
    body: newKeyRequest(now),
    // The key with its secret, which is shown only once.
    returns: newKey,
    status: 201,
    run: ({ user, body }) => apiKeys.create(user.id, { name: body.name, expiresAt: expiryOf(body, now()) }),
  }),
  revokeKey: operation({
    at: 'DELETE /keys/{id}',
    does: 'Revokes a key.',
    access: 'user',
    returns: key,
    run: ({ user, id }) => apiKeys.revoke(user.id, id),
  }),
})

/** What the developer may do with the keys of all users. */
export const allKeyOperations = ({ apiKeys }: Pick<Parts, 'apiKeys'>) => ({
  listAllKeys: operation({
    at: 'GET /keys',
    does: 'Lists API keys, newest first, without their secrets.',
    query: closed({ user: optional(text, 'The id of the owner; without it, all keys.') }),
    returns: dataOf(key),
    run: async ({ query }) => ({ data: await apiKeys.list(query.user) }),
  }),
  revokeAnyKey: operation({
    at: 'DELETE /keys/{id}',
    does: 'Revokes an API key. It is refused from the next request on.',
    returns: key,
    run: ({ id }) => apiKeys.revoke(undefined, id),
  }),
})
