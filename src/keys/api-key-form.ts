/** The form of API keys: a start that shows where they belong, 32 random characters, and a checksum to recognize typos by. */
import { randomInt } from 'node:crypto'

const START = 'sk-local-'
const RANDOM_CHARACTERS = 32
const CHECKSUM_CHARACTERS = 6
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A new secret; 32 characters of 62 are 190 bits. */
export function newSecret(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${START}${random}${checksumOf(random)}`
}

/** Whether `secret` claims to be one of ours and cannot be: characters of it are missing or wrong. */
export function isMistyped(secret: string): boolean {
  if (!secret.startsWith(START)) return false
  const rest = secret.slice(START.length)
  const random = rest.slice(0, RANDOM_CHARACTERS)
  return rest !== `${random}${checksumOf(random)}`
}

/** Whether some Standin made it, perhaps another one. */
export const isStandinKey = (secret: string) => secret.startsWith(START) && !isMistyped(secret)

/** CRC-32 of `text` in base 62, as long as the largest can get. */
function checksumOf(text: string): string {
  // Loaded when a key is looked at: importing it takes 2 ms of every start.
  let rest = process.getBuiltinModule('node:zlib').crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    digits = `${alphabet[rest % alphabet.length]}${digits}`
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}

const SHOWN_CHARACTERS = START.length + 4

/** As much of a secret as may be shown, to recognize keys by; at most a third of a short one. */
export const startOf = (secret: string) => secret.slice(0, Math.min(SHOWN_CHARACTERS, Math.floor(secret.length / 3)))
