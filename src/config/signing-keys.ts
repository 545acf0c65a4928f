/** Reads a file of signing keys: private JWKs in an array, as Supabase Auth takes them (GOTRUE_JWT_KEYS). */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { check, open, type Path, where } from '../core/check.js'
import { ProblemsError, unreadable } from '../core/problem.js'
import { readYaml } from '../core/yaml.js'

const text = v.string('text')
const filled = v.pipe(text, v.nonEmpty('text that is not empty'))

/** The private half of each kind of key. */
const privateParts = { EC: 'd', RSA: 'd', OKP: 'd', oct: 'k' } as const
const algorithms = {
  EC: ['ES256', 'ES384', 'ES512'],
  RSA: ['RS256', 'RS384', 'RS512'],
  OKP: ['EdDSA', 'Ed25519'],
  oct: ['HS256'],
} as const

const kinds = ['EC', 'RSA', 'OKP', 'oct'] as const
const isOf = (kty: keyof typeof algorithms, alg: string) => (algorithms[kty] as readonly string[]).includes(alg)

const key = v.pipe(
  open({
    kty: v.picklist(kinds, `one of ${kinds.join(', ')}`),
    kid: filled,
    alg: filled,
    key_ops: v.optional(v.array(v.picklist(['sign', 'verify'], 'sign or verify'), 'a list of sign and verify')),
    d: v.optional(filled),
    k: v.optional(filled),
  }),
  where(
    'alg',
    'an algorithm of its kty: ES256, ES384, ES512 (EC), RS256, RS384, RS512 (RSA), EdDSA (OKP) or HS256 (oct)',
    ({ kty, alg }) => isOf(kty, alg),
  ),
  where('d', 'there: it is the private half of the key', ({ kty, d }) => privateParts[kty] !== 'd' || d !== undefined),
  where('k', 'there: it is the secret', ({ kty, k }) => privateParts[kty] !== 'k' || k !== undefined),
)

const signs = ({ key_ops }: { key_ops?: readonly string[] | undefined }) => key_ops?.includes('sign') ?? false

const keys = v.pipe(
  v.array(key, 'an array of private JWKs'),
  v.nonEmpty('an array with at least one private JWK'),
  v.check(keys => new Set(keys.map(({ kid }) => kid)).size === keys.length, 'an array in which every kid stands once'),
  v.check(keys => keys.filter(signs).length === 1, 'an array in which exactly one key has sign in its key_ops'),
)

export type ConfiguredKeys = v.InferOutput<typeof keys>

/** The keys of `file`, which is named relative to `dir`. Throws a ProblemsError that never shows what is in a key. */
export function readSigningKeys(file: string, dir: string): ConfiguredKeys {
  const yaml = read(path.resolve(dir, file), file)
  const checked = check(keys, yaml.value, { whole: 'The file', secret: isSecretPart })
  if ('value' in checked) return checked.value
  throw new ProblemsError(
    checked.mistakes.map(({ path, sentence }) => ({ origin: file, ...yaml.locate(path), sentence })),
  )
}

/** Everything but what names a key. */
const isSecretPart = (path: Path) => !['kty', 'kid', 'alg', 'key_ops'].includes(String(path[1]))

function read(file: string, name: string) {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ProblemsError([unreadable(name, error)])
  }
  // JSON is YAML as well, and so each mistake has its line.
  const yaml = readYaml(text, name)
  if (yaml.problems.length > 0) throw new ProblemsError(yaml.problems)
  return yaml
}
