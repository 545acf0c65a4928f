/** Random secrets in the formats of real ones. */
import fc from 'fast-check'
import type { RedactionRules } from '../../src/redact/index.js'

/** Rules without any entry. */
export const noRules: RedactionRules = { names: [], emails: false, patterns: [], known: [] }

/** A random string of these letters. */
const drawn = (letters: string, length: number) =>
  fc.array(fc.constantFrom(...letters), { minLength: length, maxLength: length }).map(list => list.join(''))

const small = 'abcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'
const alnum = small + small.toUpperCase() + digits

/** A key with a digit and letters of both cases, as nearly every random key has. */
const keyOf = (prefix: string, length: number, letters = alnum) =>
  drawn(letters, length).map(rest => `${prefix}${rest}7aB3cD9`)

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

export const jwt = fc
  .tuple(fc.uuid(), drawn(`${alnum}-_`, 43))
  .map(([sub, signature]) => `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url({ sub })}.${signature}`)

export const privateKey = fc
  .tuple(
    fc.constantFrom('', 'RSA ', 'EC ', 'OPENSSH '),
    fc.array(drawn(`${alnum}+/`, 64), { minLength: 1, maxLength: 5 }),
  )
  .map(([kind, lines]) => `-----BEGIN ${kind}PRIVATE KEY-----\n${lines.join('\n')}\n-----END ${kind}PRIVATE KEY-----`)

export const key = fc.oneof(
  keyOf('sk-', 40),
  keyOf('sk-proj-', 60),
  keyOf('sk-ant-api03-', 40),
  keyOf('sk-or-v1-', 57, `abcdef${digits}`),
  keyOf('sk_live_', 20),
  keyOf('pk_live_', 20),
  keyOf('rk_live_', 20),
  keyOf('sb_secret_', 20),
  keyOf('sb_publishable_', 20),
  keyOf('ghp_', 30),
  keyOf('gho_', 30),
  keyOf('github_pat_', 60),
  keyOf('xoxb-', 40, `${alnum}-`),
  keyOf('hf_', 28),
  keyOf('glpat-', 14),
  keyOf('gsk_', 46),
  drawn(small.toUpperCase() + digits, 16).map(rest => `AKIA${rest}`),
  drawn(`${alnum}-_`, 35).map(rest => `AIza${rest}`),
)

export const secret = fc.oneof(key, jwt, privateKey)

/** Credentials that an app may send: our own keys, JWTs, and strings in no recognizable format. */
export const credential = fc.oneof(
  keyOf('sk-local-', 30),
  jwt,
  fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' }).map(text => `q${text}Q~7`),
)

/** Text that neither starts nor continues a secret, and is not a placeholder. */
export const prose = fc
  .array(
    fc.oneof(fc.constantFrom(' ', '\n', '"', '\\', 'é', '日本', '😀', '. ', ', ', '/', '%'), fc.lorem({ maxCount: 2 })),
    {
      maxLength: 8,
    },
  )
  .map(parts => ` ${parts.join('')} `)
