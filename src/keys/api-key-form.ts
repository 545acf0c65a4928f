/** The format of API keys: a prefix, 32 random characters, and a checksum that reveals typos. */
import { randomInt } from 'node:crypto'

const PREFIX = 'sk-local-'
const RANDOM_CHARACTERS = 32
const CHECKSUM_CHARACTERS = 6
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns a new secret. 32 characters out of 62 have 190 bits. */
export function newSecret(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${PREFIX}${random}${checksumOf(random)}`
}

/** Whether `secret` looks like one of ours but has missing or wrong characters. */
export function isMistyped(secret: string): boolean {
  if (!secret.startsWith(PREFIX)) return false
  const rest = secret.slice(PREFIX.length)
  const random = rest.slice(0, RANDOM_CHARACTERS)
  return rest !== `${random}${checksumOf(random)}`
}

/** Whether `secret` is a key of Standin, perhaps of another instance. */
export const isStandinKey = (secret: string) => secret.startsWith(PREFIX) && !isMistyped(secret)

/** CRC-32 of `text` in base 62, padded to the length of the largest value. */
function checksumOf(text: string): string {
  // Loaded when the first key is checked, since importing it would add 2 ms to every start.
  let rest = process.getBuiltinModule('node:zlib').crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    digits = `${alphabet[rest % alphabet.length]}${digits}`
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}

const SHOWN_CHARACTERS = PREFIX.length + 4

/** The part of a secret that may be shown to recognize keys; at most a third of a short one. */
export const startOf = (secret: string) => secret.slice(0, Math.min(SHOWN_CHARACTERS, Math.floor(secret.length / 3)))
