/** Hides what the auth backend is told and tells that signs somebody in: passwords and tokens, which are known by the names of their fields only. */

const names = [
  ...[
    'password',
    'current_password',
    'nonce',
    'access_token',
    'refresh_token',
    'provider_token',
    'provider_refresh_token',
  ],
  ...['token', 'token_hash', 'hashed_token', 'email_otp', 'auth_code', 'code_verifier', 'action_link'],
]

/** In the text, because a long body is cut in its midst. A code of digits is one to sign in with; that of an error is a word or a number. */
const fields = new RegExp(
  `"(?:(${names.join('|')})"\\s*:\\s*"(?:[^"\\\\]|\\\\.)+|(code)"\\s*:\\s*"\\d+)("|\\\\?$)`,
  'g',
)

/** `text` is JSON, or the beginning of it; it stays so. */
export const withoutSecretFields = (text: string): string =>
  text.replace(fields, (_all, field, code) => {
    const name = String(field ?? code)
    return `"${name}":"[${name.replaceAll('_', '-')}]"`
  })
