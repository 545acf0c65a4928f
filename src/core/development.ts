/**
 * The fixed secrets of development: the same strings on every machine, so that docs and `.env` files just work.
 * They are public. What they open is a stand-in on the developer's own machine, and nothing else.
 */

/** Signs the anon and the service key, HS256. */
export const developmentSecret = 'standin-development-secret-that-everybody-may-know'

/** Whether a secret stands in public documents: this one, and those of Supabase's own examples. */
export const isPublicSecret = (secret: string) =>
  [
    developmentSecret,
    'super-secret-jwt-token-with-at-least-32-characters-long',
    'your-super-secret-jwt-token-with-at-least-32-characters-long',
  ].includes(secret)

/** The API key that exists from the start. Its last six characters are a checksum of the 32 before them. */
export const developmentApiKey = 'sk-local-StandinDevelopmentKeyDoNotDeploy41E9kt'

/** The opaque keys that stand for the anon and the service key at the gateway, in Supabase's form. */
export const developmentPublishableKey = 'sb_publishable_StandinDevelopmentPub0_tx4Q3FHD'
export const developmentSecretKey = 'sb_secret_StandinDevelopmentSec0_d9E0atI4'

/** The user who exists from the start. */
export const developmentUser = { email: 'developer@example.com', password: 'developer' }

/** Signs user tokens, ES256; the JWKS publishes its public half. */
export const developmentSigningKey = {
  kty: 'EC',
  crv: 'P-256',
  alg: 'ES256',
  use: 'sig',
  kid: '4c39314c-9985-434e-9fe9-bd57be991471',
  x: 'A99yT8YX-BHWgXP6Is3E1mnqymeio66ZQ3AXWZT9lMQ',
  y: 'PRUPlERSNpFHNo3a4GikO-vcHflhuE0-I8IMpzbMhHM',
  d: '2QMPaKtWpQubKjI_-z5aqJSME8gdqY-xGXDk4DfMGak',
} as const
