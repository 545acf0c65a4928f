/** Passwords: checks their strength, hashes them, and verifies them. */
import { randomBytes, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { AuthSettings } from './backend.js'
import { validationFailed, weakPassword } from './errors.js'

const scrypt = promisify<string, Buffer, number, object, Buffer>(scryptWithCallback)

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

const ownHash = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/]{22})\$([\w+/]{43})$/

/** Whether `password` matches `hash`. */
export async function matchesHash(password: string, hash: string | null): Promise<boolean> {
  const [, ln, r, p, salt = '', expected = ''] = ownHash.exec(hash ?? '') ?? []
  if (ln === undefined) {
    // Takes as long as for an existing user, so that the time does not reveal who has an account.
    await hashOf(password)
    return false
  }
  const key = Buffer.from(expected, 'base64')
  const cost = { N: 2 ** Number(ln), r: Number(r), p: Number(p) }
  return timingSafeEqual(await scrypt(password, Buffer.from(salt, 'base64'), key.length, cost), key)
}

/** A random password for users who are created without one. */
export const randomPassword = () => randomBytes(24).toString('base64url')

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
