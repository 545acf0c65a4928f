/**
 * Options of earlier releases, each with what to do instead, so that an old configuration is refused by name. A separate file: a table
 * that grows with each release.
 */
import { type Path, pathInWords } from '../../check/check.js'
import { variableOf } from './options.js'

/** By their path. The sentence says what Standin does now, or what to write instead. */
const goneOptions: Readonly<Record<string, string>> = {
  'contract.check': 'Live and recorded answers are always checked. Delete this option.',
  'auth.jwtAdminRoles': 'Admins have the role service_role or supabase_admin. Delete this option.',
  'auth.externalEmailEnabled': 'Users can always sign up and in with email addresses. Delete this option.',
  'auth.externalPhoneEnabled': 'Set auth.external.phone instead: auth.external: { phone: true }.',
  'auth.smsAutoconfirm': 'Phone numbers are confirmed as auth.mailerAutoconfirm says. Set that one instead.',
  'auth.mailerOtpExp': 'Codes and links are valid for an hour. Delete this option; in tests, move the clock.',
  'auth.mailerOtpLength': 'Codes have six digits. Delete this option.',
  'auth.mailerSecureEmailChangeEnabled':
    'Both addresses confirm a change of email address; with auth.mailerAutoconfirm, one is enough. Delete this option.',
  'auth.passwordRequiredCharacters':
    'Passwords only need a length, auth.passwordMinLength. Check further rules in your app, and delete this option.',
  'auth.securityRefreshTokenRotationEnabled':
    'Refresh tokens are always replaced when they are used. Delete this option.',
  'auth.securityRefreshTokenReuseInterval':
    'A used refresh token can be used again for 10 seconds. Delete this option; in tests, move the clock.',
  'auth.securityUpdatePasswordRequireReauthentication': 'A new password needs no code. Delete this option.',
  'journal.maxEntries': 'The journal keeps the last 2,000 exchanges. Delete this option.',
  'journal.maxBytes': 'The journal keeps 32 MB of bodies. Delete this option.',
  'journal.dashboard': "The dashboard's own requests are never kept. Delete this option.",
  'faults.header': 'A request may always ask for its own fault with the header x-standin-fault. Delete this option.',
  'limits.maxPromptTokens': 'Give each model its own limit: models: [{ id: gpt-4o, maxPromptTokens: 4096 }].',
  'index.list': 'GET /api/v1 lists every endpoint, including your own. Delete this option.',
  'recordings.incomplete':
    'An answer that broke off is never replayed. Record it again, or set complete: true in its file.',
  'recordings.maxAge':
    'Remove old recordings with "standin recordings prune --older-than 30d", and check them with "standin drift".',
  'recordings.maxBytes': 'Bodies of at most 16 MB are recorded. Delete this option.',
  'recordings.redact.emails': 'Add the word emails to recordings.redact.patterns.',
  'recordings.redact.headers': 'Write its names into recordings.redact.names.',
  'recordings.redact.query': 'Write its names into recordings.redact.names.',
  'recordings.save':
    'To record only requests that have no complete recording, use mode replay with recordings.onMiss: record.',
  'recordings.stale': 'Remove old recordings with "standin recordings prune --older-than 30d".',
  'recordings.then': 'After the last recording of a request, the last one is repeated. Delete this option.',
  'upstream.firstByteTimeoutMs': 'Use upstream.timeoutMs, which also limits the pauses of a stream.',
  'upstream.idleTimeoutMs': 'Use upstream.timeoutMs, which also limits the time until the first byte.',
  'upstream.insecure':
    'Start Standin with NODE_EXTRA_CA_CERTS=FILE, the certificate as PEM, or with NODE_TLS_REJECT_UNAUTHORIZED=0.',
  magic: 'Magic words in a prompt, such as standin:error-500, always take effect. Delete this option.',
  'pace.distribution': 'Pauses vary evenly around their mean, by pace.jitter; 0 means not at all.',
  'pace.promptTokensPerSecond': 'Set pace.firstTokenMs, for all models, for one, in a rule or in a request.',
  'pace.fullSpeedStreams': 'Each stream keeps its pace, however many there are. Delete this option.',
}

/**
 * The sentence about an option at `path` that is gone, or about the first one of a group that had no others; `undefined` for any other
 * path. `value` is what is written there.
 */
export function goneOption(path: Path, value?: unknown): string | undefined {
  const group = `${pathInWords(path)}.`
  const written = new Set([pathInWords(path), ...Object.keys(Object(value)).map(key => group + key)])
  const names = Object.keys(goneOptions)
  const name = names.find(name => written.has(name)) ?? names.find(name => name.startsWith(group))
  return name && `${name} is gone. ${goneOptions[name]}`
}

/** The same for an environment variable. */
export function goneVariable(variable: string): string | undefined {
  const name = Object.keys(goneOptions).find(name => variableOf(name.split('.')) === variable)
  return name && goneOption(name.split('.'))
}

/** Their names, for the tests. */
export const goneNames: readonly string[] = Object.keys(goneOptions)
