/** The state as one JSON document: what its rows may say, for writing or editing one. */
import * as v from 'valibot'
import { closed, word } from '../check/check.js'
import { problemOfHash } from '../core/secrets.js'
import { isKeepable, type Json, type Rows, type TableName } from '../core/state.js'

/** Changes when earlier documents can no longer be read. */
const VERSION = 1

/** Real metadata is never deeper; the auth backend takes less. */
const DEEPEST = 1000

const words = (what: string) => v.pipe(v.string(what), v.check(isKeepable, `${what} of whole characters, without NUL`))
const text = words('a text')
const textOrNull = v.nullable(words('a text or null'))

// Compared as text, so that one form is the only one.
const isMoment = (written: string) => {
  const ms = Date.parse(written)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === written
}
const momentSaid = (what: string) => v.pipe(v.string(what), v.check(isMoment, what))
const moment = momentSaid('a moment such as 2030-01-31T12:00:00.000Z')
const momentOrNull = v.nullable(momentSaid('a moment such as 2030-01-31T12:00:00.000Z, or null'))

const passwordSaid = `null, or a hash that Standin can check: its own, or bcrypt, argon2 or Firebase scrypt of an accepted cost`

const yesOrNo = v.boolean('true or false')

const isShallow = (value: unknown, depth = 0): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth < DEEPEST && Object.values(value).every(inside => isShallow(inside, depth + 1)))

const json = v.custom<Json>(
  value => typeof value === 'object' && value !== null && !Array.isArray(value) && isShallow(value),
  `an object of at most ${DEEPEST} levels`,
)

const identity = closed({
  identity_id: text,
  id: text,
  user_id: text,
  identity_data: json,
  provider: word(['email', 'phone']),
  last_sign_in_at: moment,
  created_at: moment,
  updated_at: moment,
  email: v.exactOptional(text),
})

const rows: { readonly [N in TableName]: v.GenericSchema<unknown, Rows[N]> } = {
  users: closed({
    id: text,
    aud: text,
    role: text,
    email: textOrNull,
    phone: textOrNull,
    encrypted_password: v.nullable(
      v.pipe(
        v.string(passwordSaid),
        v.check(hash => problemOfHash(hash) === undefined, passwordSaid),
      ),
    ),
    email_confirmed_at: momentOrNull,
    phone_confirmed_at: momentOrNull,
    invited_at: momentOrNull,
    confirmation_sent_at: momentOrNull,
    recovery_sent_at: momentOrNull,
    new_email: textOrNull,
    email_change_sent_at: momentOrNull,
    email_change_confirm_status: v.picklist([0, 1], '0 or 1'),
    new_phone: textOrNull,
    phone_change_sent_at: momentOrNull,
    reauthentication_sent_at: momentOrNull,
    last_sign_in_at: momentOrNull,
    app_metadata: json,
    user_metadata: json,
    identities: v.array(identity, 'a list of identities'),
    is_anonymous: yesOrNo,
    banned_until: momentOrNull,
    deleted_at: momentOrNull,
    seed: textOrNull,
    created_at: moment,
    updated_at: moment,
  }),
  sessions: closed({
    id: text,
    user_id: text,
    amr: v.array(closed({ method: text, timestamp: v.number('a number of seconds') }), 'a list of proofs'),
    created_at: moment,
    refreshed_at: momentOrNull,
  }),
  refresh_tokens: closed({
    token: text,
    session_id: text,
    user_id: text,
    parent: textOrNull,
    salt: v.optional(textOrNull, null),
    revoked: yesOrNo,
    created_at: moment,
    updated_at: moment,
  }),
  one_time_tokens: closed({
    id: text,
    user_id: text,
    token_type: word([
      'confirmation_token',
      'recovery_token',
      'email_change_token_new',
      'email_change_token_current',
      'phone_change_token',
      'reauthentication_token',
    ]),
    token_hash: text,
    created_at: moment,
  }),
  flow_states: closed({
    id: text,
    user_id: textOrNull,
    auth_code: text,
    code_challenge: text,
    code_challenge_method: text,
    authentication_method: text,
    created_at: moment,
    auth_code_issued_at: momentOrNull,
  }),
  api_keys: closed({
    id: text,
    user_id: textOrNull,
    name: text,
    digest: text,
    start: text,
    seeded: yesOrNo,
    created_at: moment,
    last_used_at: momentOrNull,
    expires_at: momentOrNull,
    revoked_at: momentOrNull,
  }),
  messages: closed({
    id: text,
    user_id: textOrNull,
    channel: word(['email', 'sms']),
    recipient: text,
    kind: text,
    subject: text,
    code: textOrNull,
    link: textOrNull,
    created_at: moment,
  }),
}

const list = <N extends TableName>(name: N) => v.array(rows[name], 'a list of rows')

export const stateDocument = closed({
  version: v.literal(VERSION, `${VERSION}, the version that this Standin reads and writes`),
  users: list('users'),
  sessions: list('sessions'),
  refresh_tokens: list('refresh_tokens'),
  one_time_tokens: list('one_time_tokens'),
  flow_states: list('flow_states'),
  api_keys: list('api_keys'),
  messages: list('messages'),
})

/**
 * Every table with its rows, the newest first. Passwords, keys, refresh tokens and one-time tokens are in it as the hashes that are kept of
 * them; the messages of the outbox have their codes and links in clear, as a mailbox would. Refresh tokens, links and auth codes in clear, as
 * earlier versions exported them, are read as well.
 */
export type StateDocument = { readonly version: typeof VERSION } & {
  readonly [N in TableName]: readonly Rows[N][]
}

/** A document with these rows. */
export const documentOf = (rows: Omit<StateDocument, 'version'>): StateDocument => ({ version: VERSION, ...rows })
