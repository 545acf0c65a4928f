/** Complete rows for tests, which pass only the columns that matter to them. */
import type {
  ApiKeyRow,
  FlowStateRow,
  MessageRow,
  Moment,
  OneTimeTokenRow,
  RefreshTokenRow,
  ResourceHead,
  ResourceRow,
  SessionRow,
  UserRow,
} from '../../src/state/rows.js'

/** The moment this many seconds after the start of 2026. */
export const at = (seconds: number): Moment => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()

export const user = (changes: Partial<UserRow> = {}): UserRow => ({
  id: 'ada',
  aud: 'authenticated',
  role: 'authenticated',
  email: null,
  phone: null,
  encrypted_password: null,
  email_confirmed_at: null,
  phone_confirmed_at: null,
  invited_at: null,
  confirmation_sent_at: null,
  recovery_sent_at: null,
  new_email: null,
  email_change_sent_at: null,
  email_change_confirm_status: 0,
  new_phone: null,
  phone_change_sent_at: null,
  reauthentication_sent_at: null,
  last_sign_in_at: null,
  app_metadata: { provider: 'email', providers: ['email'] },
  user_metadata: {},
  identities: [],
  is_anonymous: false,
  banned_until: null,
  deleted_at: null,
  seed: null,
  created_at: at(0),
  updated_at: at(0),
  ...changes,
})

export const session = (changes: Partial<SessionRow> = {}): SessionRow => ({
  id: 'session',
  user_id: 'ada',
  amr: [{ method: 'password', timestamp: 1_767_225_600 }],
  created_at: at(0),
  refreshed_at: null,
  ...changes,
})

export const refreshToken = (changes: Partial<RefreshTokenRow> = {}): RefreshTokenRow => ({
  token: 'token',
  session_id: 'session',
  user_id: 'ada',
  parent: null,
  salt: null,
  revoked: false,
  created_at: at(0),
  updated_at: at(0),
  ...changes,
})

export const oneTimeToken = (changes: Partial<OneTimeTokenRow> = {}): OneTimeTokenRow => ({
  id: 'ada recovery_token',
  user_id: 'ada',
  token_type: 'recovery_token',
  token_hash: 'hash',
  created_at: at(0),
  ...changes,
})

export const flowState = (changes: Partial<FlowStateRow> = {}): FlowStateRow => ({
  id: 'flow',
  user_id: null,
  auth_code: 'code',
  code_challenge: 'challenge',
  code_challenge_method: 's256',
  authentication_method: 'magiclink',
  created_at: at(0),
  auth_code_issued_at: null,
  provider: null,
  redirect_to: null,
  linking_user_id: null,
  is_offline: false,
  ...changes,
})

export const apiKey = (changes: Partial<ApiKeyRow> = {}): ApiKeyRow => ({
  id: 'key',
  user_id: 'ada',
  name: 'laptop',
  digest: 'digest',
  start: 'sk-1234',
  seeded: false,
  created_at: at(0),
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
  ...changes,
})

export const message = (changes: Partial<MessageRow> = {}): MessageRow => ({
  id: 'message',
  user_id: 'ada',
  channel: 'email',
  recipient: 'ada@example.com',
  kind: 'recovery',
  subject: 'Reset your password',
  code: '123456',
  link: 'http://localhost:3000/',
  created_at: at(0),
  used_at: null,
  ...changes,
})

export const resource = (changes: Partial<ResourceHead> = {}): ResourceHead => ({
  id: 'resource',
  scope: '',
  path: '/builder/projects',
  seed: 'digest',
  next_position: 2,
  next_id: 2,
  created_at: at(0),
  updated_at: at(0),
  ...changes,
})

export const resourceRow = (changes: Partial<ResourceRow> = {}): ResourceRow => ({
  id: 'row',
  resource: 'resource',
  parent: '',
  owner: null,
  row: { id: 1, name: 'Atlas' },
  position: 1,
  seed: null,
  created_at: at(0),
  updated_at: at(0),
  ...changes,
})
