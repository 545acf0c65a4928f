/** Reads a file of signing keys: an array of private JWKs, in the format of Supabase Auth (GOTRUE_JWT_KEYS). */
import { createPrivateKey, createPublicKey, type JsonWebKey, sign, verify } from 'node:crypto'
import path from 'node:path'
import * as v from 'valibot'
import { check, type Mistake, oneOfWords, type Path } from '../check/check.js'
import { filled, open, where } from '../check/forms.js'
import { placeOfMistake } from '../check/json-places.js'
import { type Loaded, ProblemsError, readText } from '../check/problem.js'
import { readYaml } from '../check/yaml.js'

const algorithms = {
  EC: ['ES256', 'ES384', 'ES512'],
  RSA: ['RS256', 'RS384', 'RS512'],
  OKP: ['EdDSA', 'Ed25519'],
  oct: ['HS256'],
} as const

const keyTypes = ['EC', 'RSA', 'OKP', 'oct'] as const
const supportsAlgorithm = (kty: keyof typeof algorithms, alg: string) =>
  (algorithms[kty] as readonly string[]).includes(alg)

const key = v.pipe(
  open({
    kty: v.picklist(keyTypes, oneOfWords(keyTypes)),
    kid: filled,
    alg: filled,
    key_ops: v.optional(v.array(v.picklist(['sign', 'verify'], 'sign or verify'), 'a list of sign and verify')),
    d: v.optional(filled),
    k: v.optional(filled),
  }),
  where(
    'alg',
    'an algorithm of its kty: ES256, ES384, ES512 (EC), RS256, RS384, RS512 (RSA), EdDSA (OKP) or HS256 (oct)',
    ({ kty, alg }) => supportsAlgorithm(kty, alg),
  ),
  where('d', 'present: it is the private part of the key', ({ kty, d }) => kty === 'oct' || d !== undefined),
  where('k', 'present: it is the secret', ({ kty, k }) => kty !== 'oct' || k !== undefined),
)

const signs = ({ key_ops }: { key_ops?: readonly string[] | undefined }) => key_ops?.includes('sign') ?? false

const keys = v.pipe(
  v.array(key, 'an array of private JWKs'),
  v.nonEmpty('an array with at least one private JWK'),
  v.check(keys => new Set(keys.map(({ kid }) => kid)).size === keys.length, 'an array without duplicate kids'),
  v.check(keys => keys.filter(signs).length === 1, 'an array in which exactly one key has sign in its key_ops'),
)

type ConfiguredKeys = v.InferOutput<typeof keys>

/** The configured keys; `undefined` if there are none. Throws as `readSigningKeys` does. */
export const signingKeysOf = ({
  config: { auth },
  dir,
}: Loaded<{ readonly auth: { readonly signingKeys: string } }>): ConfiguredKeys | undefined =>
  auth.signingKeys === '' ? undefined : readSigningKeys(auth.signingKeys, dir)

/** Reads the keys in `file`, which is relative to `dir`. Throws a ProblemsError that never quotes parts of a key. */
export function readSigningKeys(file: string, dir: string): ConfiguredKeys {
  const yaml = read(path.resolve(dir, file), file)
  const checked = check(keys, yaml.value, { whole: 'The file', secret: isSecretPart })
  const mistakes = 'mistakes' in checked ? checked.mistakes : unusable(checked.value)
  const problems = mistakes.map(({ path, sentence }) => ({ origin: file, ...yaml.locate(path), sentence }))
  if ('mistakes' in checked || problems.length > 0) throw new ProblemsError(problems)
  return checked.value
}

/** Checks that keys of the right form work: each one signs something, and its public part must verify it. */
function unusable(keys: ConfiguredKeys): readonly Mistake[] {
  return keys.flatMap((key, i) => {
    if (isUsable(key)) return []
    return [{ path: [i], sentence: `[${i}] is not a usable ${key.alg} key: its parts do not match.` }]
  })
}

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }
const probe = Buffer.from('standin')
const LEAST_RSA_BITS = 2048
const LEAST_SECRET_BYTES = 32

function isUsable(key: ConfiguredKeys[number]): boolean {
  if (key.kty === 'oct') return Buffer.from(String(key.k), 'base64url').length >= LEAST_SECRET_BYTES
  if (key.kty === 'EC' && curves[key.alg] !== key.crv) return false
  try {
    const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...publicHalf } = key
    const jwk = (key: object) => ({ key: key as JsonWebKey, format: 'jwk' }) as const
    const publicKey = createPublicKey(jwk(publicHalf))
    const { modulusLength = LEAST_RSA_BITS } = publicKey.asymmetricKeyDetails ?? {}
    if (modulusLength < LEAST_RSA_BITS) return false
    const digest = key.kty === 'OKP' ? null : 'sha256'
    return verify(digest, probe, publicKey, sign(digest, probe, createPrivateKey(jwk(key))))
  } catch {
    return false
  }
}

/** Everything except what identifies a key. */
const isSecretPart = (path: Path) => !['kty', 'kid', 'alg', 'key_ops'].includes(String(path[1]))

function read(file: string, name: string) {
  const text = readText(file, name)
  // JSON is also YAML, so each mistake gets its line.
  const yaml = readYaml(text, name)
  const problem = text.trim() === '' ? undefined : placeOfMistake(text)
  if (problem) throw new ProblemsError([{ origin: name, ...problem, sentence: 'This is not valid JSON.' }])
  if (yaml.problems.length > 0) throw new ProblemsError(yaml.problems)
  return yaml
}
