/** Secrets: digests of random ones, and the development secrets, which are public. */
import { hash, timingSafeEqual } from 'node:crypto'

/** The digest under which a secret is stored and found: SHA-256, hex. Sufficient for random secrets, and fast. */
export const digestOf = (secret: string) => hash('sha256', secret, 'hex')

/** Compares digests, which all have one length, so that the time does not reveal where the texts differ. */
export const isSameSecret = (one: string, other: string) =>
  timingSafeEqual(Buffer.from(digestOf(one)), Buffer.from(digestOf(other)))

/*
 * The fixed development secrets are the same on every machine, so that docs and `.env` files just work. They are
 * public, and only give access to a stand-in on the developer's own machine.
 */

/** Signs the anon and the service key with HS256. */
export const developmentSecret = 'standin-development-secret-that-everybody-may-know'

/** Whether a secret is public: the development secret, or one from Supabase's examples. */
export const isPublicSecret = (secret: string) =>
  [
    developmentSecret,
    'super-secret-jwt-token-with-at-least-32-characters-long',
    'your-super-secret-jwt-token-with-at-least-32-characters-long',
  ].includes(secret)

/** The API key that exists from the start. Its last six characters are a checksum of the 32 before them. */
export const developmentApiKey = 'sk-local-StandinDevelopmentKeyDoNotDeploy41E9kt'

/** The opaque keys that the gateway accepts in place of the anon and the service key, in Supabase's format. */
export const developmentPublishableKey = 'sb_publishable_StandinDevelopmentPub0_tx4Q3FHD'
export const developmentSecretKey = 'sb_secret_StandinDevelopmentSec0_d9E0atI4'

/** The user that exists from the start. */
export const developmentUser = { email: 'developer@example.com', password: 'developer' }

/** Signs user tokens with ES256. The JWKS contains its public part. */
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
