/** Operations on users: their sessions, tokens without a password, and the outbox. */
import * as v from 'valibot'
import {
  arrayOf,
  boolean,
  closed,
  isEmail,
  LONGEST_EMAIL_BYTES,
  moment,
  objectOf,
  open,
  optional,
  optionalMember,
  orNull,
  text,
  where,
  wholeNumber,
  word,
} from '../check/forms.js'
import { noSuchSession } from '../core/errors.js'
import { type ListingQuery, listingQuery, operation, pageOf, type ValueOf } from '../core/operation.js'
import { testKeyExpiry, testKeyName } from '../keys/api-keys.js'
import type { Json } from '../state/rows.js'
import { idTokenProviders, providerNames } from './providers.js'
import type { UserJson } from './users.js'

const session = closed({
  id: text,
  user_id: text,
  email: orNull(text),
  phone: orNull(text),
  is_anonymous: boolean,
  created_at: moment,
  refreshed_at: orNull(moment),
  /** When the session's latest access token expires. */
  token_expires_at: moment,
  aal: word(['aal1']),
  methods: arrayOf(text),
})
export type OpenSession = ValueOf<typeof session>

export interface OpenSessions {
  /** Returns one page, newest first, and the total count. */
  list(query: ListingQuery): Promise<{ readonly data: readonly OpenSession[]; readonly total: number }>
  /** Ends a session; returns whether it existed. Its access token is refused from then on. */
  end(id: string): Promise<boolean>
}

const anEmail = 'an email address'
const email = v.pipe(
  v.string(anEmail),
  v.check(written => isEmail(written) && Buffer.byteLength(written) <= LONGEST_EMAIL_BYTES, anEmail),
)

const signInFields = closed({
  email: optional(email, 'The user; by default the development user. Unknown users are signed up.'),
  password: optional(text, 'Checked if given. A user who signs up gets it.'),
  user_id: optional(text, 'The id of an existing user, such as one without an email address.'),
  provider: optional(word(providerNames), 'Another provider at which the user has an account, such as github.'),
})
const signInInput = v.pipe(
  signInFields,
  where<v.InferOutput<typeof signInFields>>(
    'user_id',
    'left out if email, password or provider is given',
    ({ user_id, ...others }) => user_id === undefined || Object.values(others).every(value => value === undefined),
  ),
  where(
    'password',
    'left out if provider is given',
    ({ password, provider }) => password === undefined || provider === undefined,
  ),
)
export type SignInInput = ValueOf<typeof signInInput>

const grantedSession = closed({
  access_token: text,
  token_type: text,
  expires_in: wholeNumber,
  expires_at: wholeNumber,
  refresh_token: text,
  user: objectOf<UserJson>(),
  /** A made-up one, after a sign-in by another provider. */
  provider_token: optionalMember(text),
  provider_refresh_token: optionalMember(text),
})
/** A session in the format of Supabase Auth, as `setSession` takes it. */
export type SessionJson = ValueOf<typeof grantedSession>

const newKeyInput = closed({
  name: optional(testKeyName, 'Its name; by default "made by a test".'),
  user: optional(
    email,
    'The address of its owner. An unknown user signs up. Without an address the key belongs to no user.',
  ),
  expiresInMs: optional(testKeyExpiry, 'Milliseconds until it expires; negative for one that has expired.'),
  scope: optional(text, 'The scope of requests that use this key. Given alone, the answer is the same key each time.'),
})
export type NewKeyInput = ValueOf<typeof newKeyInput>

const idTokenInput = closed({
  provider: word(idTokenProviders),
  email: optional(email, "The account's address; by default that of the development user."),
  nonce: optional(text, 'What the app sends beside the token, which has its hash.'),
})
export type IdTokenInput = ValueOf<typeof idTokenInput>

/** What tests can do without a password. */
export interface Accounts {
  /** Returns an ID token, as an app gets it from the button of another provider. */
  idToken(input: IdTokenInput): Promise<string>
  /** Returns a session as if the user had just signed in. */
  signIn(input: SignInInput): Promise<SessionJson>
  createKey(input: NewKeyInput): Promise<{ readonly key: string }>
}

/** What most tests need first: a signed-in user, and a key. */
export const accountOperations = ({ accounts }: { readonly accounts: Accounts }) => ({
  startSession: operation({
    at: 'POST /sessions',
    does: 'Signs a user in without a password, for a test. Unknown users are signed up.',
    body: signInInput,
    isBodyOptional: true,
    returns: grantedSession,
    status: 201,
    run: ({ body }) => accounts.signIn(body),
  }),
  createIdToken: operation({
    at: 'POST /id-tokens',
    does: 'Creates an ID token of another provider, for a test of signInWithIdToken.',
    body: idTokenInput,
    returns: closed({ token: text }),
    status: 201,
    run: async ({ body }) => ({ token: await accounts.idToken(body) }),
  }),
  createTestKey: operation({
    at: 'POST /keys',
    does: 'Creates an API key for a test.',
    body: newKeyInput,
    isBodyOptional: true,
    returns: closed({ key: text }),
    status: 201,
    run: async ({ body }) => ({ key: (await accounts.createKey(body)).key }),
  }),
})

export const sessionOperations = ({ sessions }: { readonly sessions: OpenSessions }) => ({
  listSessions: operation({
    at: 'GET /sessions',
    does: 'Lists the open sessions, newest first, without their tokens.',
    query: listingQuery,
    returns: pageOf(session),
    run: ({ query }) => sessions.list(query),
  }),
  endSession: operation({
    at: 'DELETE /sessions/{id}',
    does: 'Ends one session. Its access token is refused from then on.',
    async run({ id }) {
      if (!(await sessions.end(id))) throw noSuchSession(id)
    },
  }),
})

const message = closed({
  id: text,
  user_id: orNull(text),
  channel: word(['email', 'sms']),
  recipient: text,
  kind: text,
  subject: text,
  /** The text of the message, without link and code. */
  text,
  code: orNull(text),
  link: orNull(text),
  /** The text of the link. */
  link_text: orNull(text),
  /** Where the link redirects to. */
  redirect_to: orNull(text),
  created_at: moment,
  expires_at: moment,
  /** Whether its code and link still work. A newer message of the kind, or another proof of the address, replaces it. */
  state: word(['valid', 'used', 'expired', 'replaced']),
})

export type Message = ValueOf<typeof message>

/** A user in the format of Supabase Auth. There are further members. */
const userForm = open({
  id: text,
  aud: text,
  role: text,
  /** Empty if there is none, like `phone`. */
  email: text,
  phone: text,
  app_metadata: objectOf<Json>(),
  user_metadata: objectOf<Json>(),
  created_at: moment,
  is_anonymous: boolean,
  confirmed_at: optionalMember(moment),
  email_confirmed_at: optionalMember(moment),
  phone_confirmed_at: optionalMember(moment),
  last_sign_in_at: optionalMember(moment),
  banned_until: optionalMember(moment),
  deleted_at: optionalMember(moment),
})

const userWithSessions = open({
  ...userForm.entries,
  sessions: wholeNumber,
})
/** A user in the format of Supabase Auth, with the number of open sessions. */
export type ListedUser = ValueOf<typeof userWithSessions>

export interface UserList {
  /** Returns one page, newest first, and the total count. */
  users(query: ListingQuery): Promise<{ readonly data: readonly ListedUser[]; readonly total: number }>
}

export const userOperations = ({ userList }: { readonly userList: UserList }) => ({
  listUsersWithSessions: operation({
    at: 'GET /users',
    does: 'Lists users, newest first. The search looks at addresses, phone numbers, ids and metadata. To change users, use the admin API of Supabase Auth.',
    query: listingQuery,
    returns: pageOf(userWithSessions),
    run: ({ query }) => userList.users(query),
  }),
})

const messageQuery = closed({
  ...listingQuery.entries,
  after: optional(text, 'The id of a message: only those that came after it.'),
})
type MessageQuery = ValueOf<typeof messageQuery>

/** The outbox: emails and text messages that were not sent. */
export interface Messages {
  /** Newest first. */
  messages(query?: MessageQuery): Promise<{ readonly data: readonly Message[]; readonly total: number }>
  clearMessages(): Promise<void>
}

export const outboxOperations = ({ people }: { readonly people: Messages }) => ({
  listMessages: operation({
    at: 'GET /outbox',
    does: 'Lists emails and text messages, newest first, with their codes and links.',
    query: messageQuery,
    returns: pageOf(message),
    run: ({ query }) => people.messages(query),
  }),
  clearMessages: operation({
    at: 'DELETE /outbox',
    does: 'Empties the outbox.',
    run: () => people.clearMessages(),
  }),
})
