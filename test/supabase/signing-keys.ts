/** Signing keys of every kind, new ones for each run, and the file that they are configured in. */
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Files } from '../command.js'

/** A private key in a file of signing keys. */
export interface KeyInFile {
  readonly kid: string
  readonly alg: string
  readonly kty: string
  readonly key_ops: readonly string[]
  readonly [member: string]: unknown
}

const curves = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const

/** The algorithms that a key can be for. */
export const algorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'HS256'] as const
export type Algorithm = (typeof algorithms)[number]

const RSA_PAIRS = 4
const rsaPairs: { readonly privateKey: KeyObject }[] = []
let rsaPairsTaken = 0

/** RSA keys take up to half a second each, so a few of them are reused in turn. No test needs more at a time. */
function rsaPair(): { readonly privateKey: KeyObject } {
  const at = rsaPairsTaken++ % RSA_PAIRS
  rsaPairs[at] ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
  return rsaPairs[at]
}

function pairFor(alg: Exclude<Algorithm, 'HS256'>): { readonly privateKey: KeyObject } {
  switch (alg) {
    case 'RS256':
    case 'RS384':
    case 'RS512':
      return rsaPair()
    case 'EdDSA':
      return generateKeyPairSync('ed25519')
    default:
      return generateKeyPairSync('ec', { namedCurve: curves[alg] })
  }
}

/** A key with this id, for verifying and, with `signs`, also for signing. */
export function newKey(alg: Algorithm, kid: string, { signs = false } = {}): KeyInFile {
  const jwk =
    alg === 'HS256'
      ? { kty: 'oct', k: randomBytes(32).toString('base64url') }
      : { kty: '', ...pairFor(alg).privateKey.export({ format: 'jwk' }) }
  return { ...jwk, kid, alg, key_ops: signs ? ['sign', 'verify'] : ['verify'] }
}

/** The same key, which now only verifies. */
export const retired = (key: KeyInFile): KeyInFile => ({ ...key, key_ops: ['verify'] })

export const keyFile = (...keys: readonly object[]): Files => ({ 'keys.json': `${JSON.stringify(keys, null, 2)}\n` })

/** The private members of a JWK. */
export const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** A configuration with a secret of its own and the key file. */
export const ownKeys = {
  auth: { signingKeys: 'keys.json', jwtSecret: 'a-secret-of-our-own-with-enough-characters' },
} as const
