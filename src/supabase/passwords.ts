/** Passwords: how strong they must be, how they are kept, and whether one fits. */
import { createCipheriv, randomBytes, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { firebaseHash, ownHash, problemOfHash } from '../core/secrets.js'
import { inWorker, TookTooLong } from '../core/work.js'
import type { AuthSettings } from './backend.js'
import { tooManySignIns, validationFailed, weakPassword } from './errors.js'

const scrypt = promisify<string | Buffer, Buffer, number, object, Buffer>(scryptWithCallback)

/** bcrypt, which Supabase keeps passwords with, reads no further. */
const LONGEST_BYTES = 72

/** Throws a 422 or 400 for a password that may not be taken; the sentences are Supabase's. */
export function requireStrength(
  password: string,
  settings: Pick<AuthSettings, 'passwordMinLength' | 'passwordRequiredCharacters'>,
): void {
  if (Buffer.byteLength(password) > LONGEST_BYTES) throw tooLong()
  const weakness = weaknessOf(password, settings)
  if (weakness) throw weakPassword(weakness.message, weakness.reasons)
}

const tooLong = () => validationFailed(`Password cannot be longer than ${LONGEST_BYTES} characters`)

/** What is too weak about a password, or `undefined`. */
export function weaknessOf(
  password: string,
  settings: Pick<AuthSettings, 'passwordMinLength' | 'passwordRequiredCharacters'>,
): { readonly message: string; readonly reasons: readonly string[] } | undefined {
  const { passwordMinLength: least, passwordRequiredCharacters: sets } = settings
  const reasons: string[] = []
  const messages: string[] = []
  if (Buffer.byteLength(password) < least) {
    reasons.push('length')
    messages.push(`Password should be at least ${least} characters.`)
  }
  const wanted = setsOf(sets)
  if (!wanted.every(set => [...set].some(character => password.includes(character)))) {
    reasons.push('characters')
    messages.push(`Password should contain at least one character of each: ${wanted.join(', ')}.`)
  }
  return reasons.length > 0 ? { message: messages.join(' '), reasons } : undefined
}

/** What a password must be, as a sentence for forms. */
export function ruleOfPasswords({
  passwordMinLength: least,
  passwordRequiredCharacters: sets,
}: Pick<AuthSettings, 'passwordMinLength' | 'passwordRequiredCharacters'>): string {
  const wanted = setsOf(sets)
  const characters = wanted.length > 0 ? `, with at least one character of each: ${wanted.join(', ')}` : ''
  return `At least ${least} character${least === 1 ? '' : 's'}${characters}.`
}

/** `abc:123` as two sets; `\:` is a colon itself. */
const setsOf = (written: string) =>
  written
    .split(/(?<!\\):/)
    .map(set => set.replaceAll('\\:', ':'))
    .filter(set => set !== '')

/** Tuned for one machine where many sign-ins a second are tests, not attacks: ten milliseconds on a thread of the pool. Our tests lower it. */
export const hashCost = { logN: 12 }
const BLOCK = 8

/** The hash that is kept of a password, in the PHC string format. */
export async function hashOf(password: string): Promise<string> {
  const { logN } = hashCost
  const salt = randomBytes(16)
  const key = await scrypt(password, salt, 32, { N: 2 ** logN, r: BLOCK, p: 1 })
  return `$scrypt$ln=${logN},r=${BLOCK},p=1$${unpadded(salt)}$${unpadded(key)}`
}

/** Whether `password` is the one that `hash` was made of: ours, or one of those that admins bring along. Rejects with a 429 when too many wait. */
export async function fits(password: string, hash: string | null): Promise<boolean> {
  // Earlier versions kept hashes that cost too much; admins set a new password then.
  if (hash === null || problemOfHash(hash) !== undefined) {
    // As long as for a user who has one, so that the time does not show who exists.
    await hashOf(password)
    return false
  }
  return isOwn(hash) ? fitsOwn(password, hash) : fitsForeign({ password, hash })
}

const isOwn = (hash: string) => hash.startsWith('$scrypt$')

/** Our own hash of a password that fits an imported one, which takes longer to check; `undefined` where `hash` is ours already. */
export const renewedHash = async (password: string, hash: string): Promise<string | undefined> =>
  isOwn(hash) ? undefined : hashOf(password)

interface Check {
  readonly password: string
  readonly hash: string
}

/** At most this many wait for a worker; more would wait for minutes. */
const MOST_CHECKS = 32
/** The costs that are accepted take some seconds; on a machine that has other things to do, longer. */
const LONGEST_CHECK_MS = 30_000
let checks = 0

async function fitsForeign(check: Check): Promise<boolean> {
  if (checks >= MOST_CHECKS) throw tooManySignIns()
  checks++
  try {
    return await inWorker<boolean>('password', check, LONGEST_CHECK_MS)
  } catch (error) {
    if (error instanceof TookTooLong) return false
    throw error
  } finally {
    checks--
  }
}

/** What a worker does: bcrypt and argon2 compute for up to seconds, and block their thread. What cannot be computed fits nothing. */
export async function passwordJob({ password, hash }: Check): Promise<boolean> {
  if (hash.startsWith('$fbscrypt$')) return fitsFirebase(password, hash).catch(() => false)
  const { argon2Verify, bcryptVerify } = await import('hash-wasm')
  const check = { password: Buffer.from(password), hash }
  return (hash.startsWith('$argon2') ? argon2Verify(check) : bcryptVerify(check)).catch(() => false)
}

/** A random password for users who are made without one; strong enough for every setting. */
export const unknownPassword = () => `${randomBytes(24).toString('base64url')}aA1!`

async function fitsOwn(password: string, hash: string): Promise<boolean> {
  const [, ln, r, p, salt = '', expected = ''] = ownHash.exec(hash) ?? []
  const key = Buffer.from(expected, 'base64')
  const cost = { N: 2 ** Number(ln), r: Number(r), p: Number(p), maxmem: MOST_SCRYPT_BYTES }
  return timingSafeEqual(await scrypt(password, Buffer.from(salt, 'base64'), key.length, cost), key)
}

/** More than node allows by itself, and more than any hash that is kept needs. */
const MOST_SCRYPT_BYTES = 2 ** 29

/** Firebase's own: the key that scrypt makes encrypts the project's signer key (github.com/firebase/scrypt). */
async function fitsFirebase(password: string, hash: string): Promise<boolean> {
  const [, n = '', r = '', p = '', separator = '', signer = '', salt = '', expected = ''] =
    firebaseHash.exec(hash) ?? []
  const seasoned = Buffer.concat([Buffer.from(salt, 'base64'), Buffer.from(separator, 'base64')])
  const cost = { N: 2 ** Number(n), r: Number(r), p: Number(p), maxmem: MOST_SCRYPT_BYTES }
  const key = await scrypt(password, seasoned, 32, cost)
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const found = Buffer.concat([cipher.update(Buffer.from(signer, 'base64')), cipher.final()])
  const wanted = Buffer.from(expected, 'base64')
  return found.length === wanted.length && timingSafeEqual(found, wanted)
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
