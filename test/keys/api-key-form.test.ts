import { expect, test } from 'vitest'
import { isMistyped, newSecret, startOf } from '../../src/keys/api-keys.js'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** CRC-32 computed bit by bit (ISO 3309), in base 62, padded to six digits. */
function checksum(text: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = BigInt((crc ^ 0xffffffff) >>> 0)
  let digits = ''
  for (; rest > 0n; rest /= 62n) digits = `${alphabet[Number(rest % 62n)]}${digits}`
  return digits.padStart(6, '0')
}

const keys = Array.from({ length: 300 }, newSecret)

test("the checksum in these tests is GitHub's: it matches the sample that GitHub published", () => {
  expect(checksum('zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ')).toBe('0mLq17')
})

test('a key is sk-local-, 32 random characters and their checksum', () => {
  for (const key of keys) {
    expect(key).toMatch(/^sk-local-[0-9A-Za-z]{38}$/)
    const random = key.slice('sk-local-'.length, -6)
    expect(key.slice(-6)).toBe(checksum(random))
  }
})

test('any single wrong character is detected, and so are two swapped characters', () => {
  const [key = ''] = keys
  for (let i = 'sk-local-'.length; i < key.length; i++) {
    const other = key[i] === 'x' ? 'y' : 'x'
    expect(isMistyped(`${key.slice(0, i)}${other}${key.slice(i + 1)}`)).toBe(true)
    const [one, next] = [key[i], key[i + 1]]
    if (next === undefined || one === next) continue
    expect(isMistyped(`${key.slice(0, i)}${next}${one}${key.slice(i + 2)}`)).toBe(true)
  }
})

test.each([
  ['without its last character', (key: string) => key.slice(0, -1)],
  ['cut down to its prefix', () => 'sk-local-'],
])('a key %s is detected as mistyped', (_how, changed) => {
  for (const key of keys.slice(0, 50)) expect(isMistyped(changed(key))).toBe(true)
})

test.each(['sk-proj-abcdef', 'eyJhbGciOiJIUzI1NiJ9'])(
  '%j does not have the prefix of our keys, so it does not count as mistyped',
  other => expect(isMistyped(other)).toBe(false),
)

test('the visible start of a key tells keys apart and keeps the rest secret', () => {
  const [key = ''] = keys
  expect(startOf(key)).toBe(key.slice(0, 13))
  expect(startOf('short1')).toBe('sh')
  expect(startOf('ab')).toBe('')
})
