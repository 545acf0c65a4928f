/**
 * Secrets: digests of random ones, the hashes of passwords that are accepted, and the development secrets, which are
 * public.
 */
import { hash, timingSafeEqual } from 'node:crypto'

/** The digest under which a secret is stored and found: SHA-256, hex. Sufficient for random secrets, and fast. */
export const digestOf = (secret: string) => hash('sha256', secret, 'hex')

/** Compares digests, which all have one length, so that the time does not reveal where the texts differ. */
export const isSameSecret = (one: string, other: string) =>
  timingSafeEqual(Buffer.from(digestOf(one)), Buffer.from(digestOf(other)))

// An admin chooses the parameters in a hash. Without limits, one sign-in could take hours or all of the memory.

/** Each step doubles the work. 14 takes about two seconds. */
const MOST_BCRYPT_COST = 14
/**
 * The memory that one check of argon2 or scrypt may use at a time, and in total. The total takes about three seconds.
 */
const MOST_MEMORY_KIB = 256 * 1024
const MOST_WORK_KIB = 1024 * 1024
const LONGEST_HASH = 1000

// The supported kinds of password hashes, with their parameters.

/** Standin's own, in the PHC string format. */
export const ownHash = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/]{22})\$([\w+/]{43})$/
const bcryptHash = /^\$2[aby]\$(\d\d)\$[./\dA-Za-z]{53}$/
const argon2Hash = /^\$argon2id?\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$[\dA-Za-z+/]{11,}\$[\dA-Za-z+/]{6,}$/
/** Firebase's variant of scrypt, as Supabase imports it. */
export const firebaseHash =
  /^\$fbscrypt\$v=1,n=(\d+),r=(\d+),p=(\d+)(?:,ss=([\w+/=-]*))?,sk=([\w+/=-]+)\$([\w+/=-]+)\$([\w+/=-]+)$/

/** Returns why an imported hash is not accepted, as a sentence without a period; `undefined` if it is. */
export function problemOfImported(hash: string): string | undefined {
  return ownHash.test(hash) ? unknownKind : problemOfHash(hash)
}

const unknownKind = 'The password hash is not a bcrypt, argon2 or Firebase scrypt hash'

/** Returns why a hash cannot be checked, as such a sentence; `undefined` if it can. */
export function problemOfHash(hash: string): string | undefined {
  if (hash.length > LONGEST_HASH) return unknownKind
  const [, cost] = bcryptHash.exec(hash) ?? []
  if (cost !== undefined) return problemOfCost(Number(cost))
  const [, m, t, lanes] = (argon2Hash.exec(hash) ?? []).map(Number)
  if (m !== undefined && t !== undefined && lanes !== undefined) {
    const isPossible = t >= 1 && lanes >= 1 && m >= 8 * lanes
    return isPossible ? problemOfWork('argon2', m, m * t) : impossible('argon2')
  }
  const [, ln, r, p] = (ownHash.exec(hash) ?? firebaseHash.exec(hash) ?? []).map(Number)
  if (ln === undefined || r === undefined || p === undefined) return unknownKind
  // scrypt uses 128 bytes for each of 2^ln blocks of size r.
  const memoryKib = (2 ** ln * r) / 8
  return ln >= 1 && r >= 1 && p >= 1 ? problemOfWork('scrypt', memoryKib, memoryKib * p) : impossible('scrypt')
}

const impossible = (kind: string) => `The password hash has parameters that ${kind} does not have`

function problemOfCost(cost: number): string | undefined {
  if (cost < 4) return impossible('bcrypt')
  if (cost <= MOST_BCRYPT_COST) return undefined
  return `The password hash has the bcrypt cost ${cost}; at most ${MOST_BCRYPT_COST} is accepted`
}

function problemOfWork(kind: string, memoryKib: number, workKib: number): string | undefined {
  if (memoryKib <= MOST_MEMORY_KIB && workKib <= MOST_WORK_KIB) return undefined
  return (
    `The password hash costs too much to check: ${kind} may use ${MOST_MEMORY_KIB} KiB of memory, ` +
    `and ${MOST_WORK_KIB} KiB with all passes counted`
  )
}

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
