/** Passwords: how strong they must be, how they are kept, and whether one fits. */
import { createCipheriv, randomBytes, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { validationFailed, weakPassword } from '../core/auth-errors.js'
import type { AuthSettings } from './backend.js'

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

/** `abc:123` as two sets; `\:` is a colon itself. */
const setsOf = (written: string) =>
  written
    .split(/(?<!\\):/)
    .map(set => set.replaceAll('\\:', ':'))
    .filter(set => set !== '')

// Made for one machine where many sign-ins a second are tests, not attacks: some milliseconds on a thread of the pool.
const LOG_N = 12
const BLOCK = 8

/** The hash that is kept of a password, in the PHC string format. */
export async function hashOf(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await scrypt(password, salt, 32, { N: 2 ** LOG_N, r: BLOCK, p: 1 })
  return `$scrypt$ln=${LOG_N},r=${BLOCK},p=1$${unpadded(salt)}$${unpadded(key)}`
}

/** Whether `password` is the one that `hash` was made of: ours, or one of those that admins bring along. */
export async function fits(password: string, hash: string | null): Promise<boolean> {
  if (hash === null) {
    // As long as for a user who has one, so that the time does not tell who exists.
    await hashOf(password)
    return false
  }
  if (hash.startsWith('$scrypt$')) return fitsScrypt(password, hash)
  // The numbers in it are the admin's: what nobody can compute fits nothing.
  return fitsForeign(password, hash).catch(() => false)
}

async function fitsForeign(password: string, hash: string): Promise<boolean> {
  if (hash.startsWith('$fbscrypt$')) return fitsFirebase(password, hash)
  const { argon2Verify, bcryptVerify } = await import('hash-wasm')
  return hash.startsWith('$argon2') ? argon2Verify({ password, hash }) : bcryptVerify({ password, hash })
}

/** Whether a hash that an admin brings along is of a kind that can be verified. */
export const isKnownHash = (hash: string) =>
  /^\$2[aby]\$\d\d\$[./\dA-Za-z]{53}$/.test(hash) ||
  /^\$argon2id?\$v=19\$m=\d+,t=\d+,p=\d+\$[\dA-Za-z+/]+\$[\dA-Za-z+/]+$/.test(hash) ||
  firebase.test(hash)

/** A password that nobody knows, for users who are made without one; strong enough for every setting. */
export const unknownPassword = () => `${randomBytes(24).toString('base64url')}aA1!`

async function fitsScrypt(password: string, hash: string): Promise<boolean> {
  const [, , parameters = '', salt = '', expected = ''] = hash.split('$')
  const { ln, r, p } = numbersIn(parameters)
  const key = Buffer.from(expected, 'base64')
  const found = await scrypt(password, Buffer.from(salt, 'base64'), key.length, { N: 2 ** (ln ?? 0), r, p })
  return timingSafeEqual(found, key)
}

const firebase =
  /^\$fbscrypt\$v=1,n=(\d+),r=(\d+),p=(\d+)(?:,ss=([\w+/=-]*))?,sk=([\w+/=-]+)\$([\w+/=-]+)\$([\w+/=-]+)$/

/** Firebase's own: the key that scrypt makes encrypts the project's signer key (github.com/firebase/scrypt). */
async function fitsFirebase(password: string, hash: string): Promise<boolean> {
  const [, n = '', r = '', p = '', separator = '', signer = '', salt = '', expected = ''] = firebase.exec(hash) ?? []
  const seasoned = Buffer.concat([Buffer.from(salt, 'base64'), Buffer.from(separator, 'base64')])
  const cost = { N: 2 ** Number(n), r: Number(r), p: Number(p), maxmem: 2 ** 28 }
  const key = await scrypt(password, seasoned, 32, cost)
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const found = Buffer.concat([cipher.update(Buffer.from(signer, 'base64')), cipher.final()])
  const wanted = Buffer.from(expected, 'base64')
  return found.length === wanted.length && timingSafeEqual(found, wanted)
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

const numbersIn = (parameters: string): Partial<Record<string, number>> =>
  Object.fromEntries(parameters.split(',').map(pair => [pair.split('=')[0], Number(pair.split('=')[1])]))
