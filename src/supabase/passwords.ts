/** Passwords: checks their strength, hashes them, and verifies them. */
import { createCipheriv, randomBytes, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { firebaseHash, ownHash, problemOfHash } from '../core/secrets.js'
import { inWorker, TimeLimitError } from '../core/work.js'
import type { AuthSettings } from './backend.js'
import { tooManySignIns, validationFailed, weakPassword } from './errors.js'

const scrypt = promisify<string | Buffer, Buffer, number, object, Buffer>(scryptWithCallback)

type PasswordSettings = Pick<AuthSettings, 'passwordMinLength'>

/** bcrypt, which Supabase uses for passwords, ignores anything beyond this. */
const LONGEST_BYTES = 72

/** Throws a 422 or 400 for a password that is not accepted. The messages are Supabase's. */
export function requireStrength(password: string, settings: PasswordSettings): void {
  if (Buffer.byteLength(password) > LONGEST_BYTES) {
    throw validationFailed(`Password cannot be longer than ${LONGEST_BYTES} characters`)
  }
  const weakness = weaknessOf(password, settings)
  if (weakness) throw weakPassword(weakness.message, weakness.reasons)
}

/** Returns what is too weak about a password, or `undefined`. */
export function weaknessOf(password: string, { passwordMinLength: minLength }: PasswordSettings) {
  if (Buffer.byteLength(password) >= minLength) return undefined
  return { message: `Password should be at least ${minLength} characters.`, reasons: ['length'] }
}

/** The password rule as a sentence for forms. */
export const ruleOfPasswords = ({ passwordMinLength: minLength }: PasswordSettings): string =>
  `At least ${minLength} character${minLength === 1 ? '' : 's'}.`

/**
 * Chosen for one machine where many sign-ins per second are tests, not attacks: ten milliseconds on a thread of the
 * pool. Our own tests lower it.
 */
export const hashCost = { logN: 12 }
const BLOCK_SIZE = 8

/** Returns the hash to store for a password, in the PHC string format. */
export async function hashOf(password: string): Promise<string> {
  const { logN } = hashCost
  const salt = randomBytes(16)
  const key = await scrypt(password, salt, 32, { N: 2 ** logN, r: BLOCK_SIZE, p: 1 })
  return `$scrypt$ln=${logN},r=${BLOCK_SIZE},p=1$${unpadded(salt)}$${unpadded(key)}`
}

/**
 * Whether `password` matches `hash`, which is ours or imported by an admin. Rejects with a 429 if too many checks are
 * waiting.
 */
export async function matchesHash(password: string, hash: string | null): Promise<boolean> {
  // Earlier versions stored hashes that are too expensive to check. An admin has to set a new password.
  if (hash === null || problemOfHash(hash) !== undefined) {
    // Takes as long as for an existing user, so that the time does not reveal who has an account.
    await hashOf(password)
    return false
  }
  return isOwnHash(hash) ? matchesOwn(password, hash) : matchesImported({ password, hash })
}

const isOwnHash = (hash: string) => hash.startsWith('$scrypt$')

/**
 * Returns our own hash of a password that matches an imported one, which takes longer to check; `undefined` if `hash`
 * is ours already.
 */
export const rehashImported = async (password: string, hash: string): Promise<string | undefined> =>
  isOwnHash(hash) ? undefined : hashOf(password)

interface Check {
  readonly password: string
  readonly hash: string
}

/** At most this many checks wait for a worker. More would have to wait for minutes. */
const MOST_CHECKS = 32
/** Hashes at the highest accepted cost take some seconds, and longer on a busy machine. */
const LONGEST_CHECK_MS = 30_000
let runningChecks = 0

async function matchesImported(check: Check): Promise<boolean> {
  if (runningChecks >= MOST_CHECKS) throw tooManySignIns()
  runningChecks++
  try {
    return await inWorker<boolean>('password', check, LONGEST_CHECK_MS)
  } catch (error) {
    if (error instanceof TimeLimitError) return false
    throw error
  } finally {
    runningChecks--
  }
}

/**
 * Runs in a worker: bcrypt and argon2 can block their thread for seconds. A hash that cannot be computed matches
 * nothing.
 */
export async function passwordJob({ password, hash }: Check): Promise<boolean> {
  if (hash.startsWith('$fbscrypt$')) return matchesFirebase(password, hash).catch(() => false)
  const { argon2Verify, bcryptVerify } = await import('hash-wasm')
  const check = { password: Buffer.from(password), hash }
  return (hash.startsWith('$argon2') ? argon2Verify(check) : bcryptVerify(check)).catch(() => false)
}

/** A random password for users who are created without one. It satisfies all strength settings. */
export const randomPassword = () => `${randomBytes(24).toString('base64url')}aA1!`

async function matchesOwn(password: string, hash: string): Promise<boolean> {
  const [, ln, r, p, salt = '', expected = ''] = ownHash.exec(hash) ?? []
  const key = Buffer.from(expected, 'base64')
  const cost = { N: 2 ** Number(ln), r: Number(r), p: Number(p), maxmem: MOST_SCRYPT_BYTES }
  return timingSafeEqual(await scrypt(password, Buffer.from(salt, 'base64'), key.length, cost), key)
}

/** More than node allows by default, and more than any stored hash needs. */
const MOST_SCRYPT_BYTES = 2 ** 29

/** Firebase's scrypt: the derived key encrypts the project's signer key (github.com/firebase/scrypt). */
async function matchesFirebase(password: string, hash: string): Promise<boolean> {
  const [, n = '', r = '', p = '', separator = '', signer = '', salt = '', expected = ''] =
    firebaseHash.exec(hash) ?? []
  const saltWithSeparator = Buffer.concat([Buffer.from(salt, 'base64'), Buffer.from(separator, 'base64')])
  const cost = { N: 2 ** Number(n), r: Number(r), p: Number(p), maxmem: MOST_SCRYPT_BYTES }
  const key = await scrypt(password, saltWithSeparator, 32, cost)
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const encrypted = Buffer.concat([cipher.update(Buffer.from(signer, 'base64')), cipher.final()])
  const expectedBytes = Buffer.from(expected, 'base64')
  return encrypted.length === expectedBytes.length && timingSafeEqual(encrypted, expectedBytes)
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
