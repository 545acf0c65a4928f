import { chmodSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { ProblemsError } from '../../../src/check/problem.js'
import { startPlatform } from '../../../src/index.js'
import { readSigningKeys } from '../../../src/supabase/signing-keys.js'
import { folderWith, run, runInProcess, writeInto } from '../../command.js'
import { written } from '../../keys/edited.js'
import { AN_OBJECT, cannotBeRead, isMissing, mustBe, NOT_EMPTY, notValid, oneOf } from '../../sentences.js'
import { algorithms, keyFile, newKey, ownKeys } from '../../supabase/signing-keys.js'

const signing = newKey('ES256', 'signing', { signs: true })
const rsa = newKey('RS256', 'rsa', { signs: true })
const shared = newKey('HS256', 'shared', { signs: true })
const edwards = newKey('EdDSA', 'edwards', { signs: true })

/** The beginning and end of every secret in these keys. */
const secretsIn = (keys: readonly object[]) =>
  keys.flatMap(key =>
    ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi'].flatMap(member => {
      const secret = (key as Record<string, unknown>)[member]
      return typeof secret === 'string' && secret.length > 20 ? [secret.slice(0, 12), secret.slice(-12)] : []
    }),
  )

/** The problems in a file with this text. */
const complaintsAbout = (text: string) => complaintsIn(folderWith(), text)

function complaintsIn(dir: string, text: string): readonly string[] {
  writeInto(dir, { 'keys.json': text })
  try {
    readSigningKeys('keys.json', dir)
  } catch (error) {
    return (error as ProblemsError).message.split('\n')
  }
  return []
}

const asText = (...keys: readonly unknown[]) => JSON.stringify(keys, null, 2)
const without = (key: object, member: string) => ({ ...key, [member]: undefined })

test.each(algorithms)('a key of %s is accepted', alg => {
  expect(complaintsAbout(asText(newKey(alg, 'one', { signs: true })))).toEqual([])
})

test('keys of several kinds can be mixed, and one of them signs', () => {
  expect(complaintsAbout(asText(signing, newKey('RS256', 'b'), newKey('HS256', 'c')))).toEqual([])
})

const bad: readonly (readonly [string, string, readonly string[]])[] = [
  ['is empty', '', [mustBe('keys.json:1:1: The file', 'an array of private JWKs')]],
  ['is a string', '"hello"', [mustBe('keys.json:1:1: The file', 'an array of private JWKs')]],
  ['is an object', JSON.stringify(signing), [mustBe('keys.json:1:1: The file', 'an array of private JWKs')]],
  [
    'is a set, as JWKS are published',
    JSON.stringify({ keys: [signing] }),
    [mustBe('keys.json:1:1: The file', 'an array of private JWKs')],
  ],
  ['has no key', '[]', [mustBe('keys.json:1:1: The file', 'an array with at least one private JWK')]],
  ['has text in place of a key', '["key"]', [mustBe('keys.json:1:2: [0]', AN_OBJECT)]],
  [
    'has no key that signs',
    asText(newKey('ES256', 'a')),
    [mustBe('keys.json:1:1: The file', 'an array in which exactly one key has sign in its key_ops')],
  ],
  [
    'has two keys that sign',
    asText(signing, rsa),
    [mustBe('keys.json:1:1: The file', 'an array in which exactly one key has sign in its key_ops')],
  ],
  [
    'has a duplicate id',
    asText(signing, newKey('RS256', 'signing')),
    [mustBe('keys.json:1:1: The file', 'an array without duplicate kids')],
  ],
  ['has a key without an id', asText(without(signing, 'kid')), [isMissing('keys.json:2:3: [0].kid', 'a string')]],
  ['has a key with an empty id', asText({ ...signing, kid: '' }), [mustBe('keys.json:8:5: [0].kid', NOT_EMPTY, '')]],
  [
    'has a key with a number as its id',
    asText({ ...signing, kid: 7 }),
    [mustBe('keys.json:8:5: [0].kid', 'a string', 7)],
  ],
  [
    'has a key without an algorithm',
    asText(without(signing, 'alg')),
    [isMissing('keys.json:2:3: [0].alg', 'a string')],
  ],
  [
    'has a key without a kind',
    asText(without(signing, 'kty')),
    [isMissing('keys.json:2:3: [0].kty', oneOf('EC', 'RSA', 'OKP', 'oct'))],
  ],
  [
    'has a key of an unknown kind',
    asText({ ...signing, kty: 'DSA' }),
    [mustBe('keys.json:3:5: [0].kty', oneOf('EC', 'RSA', 'OKP', 'oct'), 'DSA')],
  ],
  ...(['none', 'HS384', 'PS256', 'es256', 'RS256'] as const).map(
    alg =>
      [
        `has an EC key with the algorithm ${alg}`,
        asText({ ...signing, alg }),
        [
          mustBe(
            'keys.json:9:5: [0].alg',
            'an algorithm of its kty: ES256, ES384, ES512 (EC), RS256, RS384, RS512 (RSA), EdDSA (OKP) or HS256 (oct)',
            alg,
          ),
        ],
      ] as const,
  ),
  [
    'has an EC key without its private half',
    asText(without(signing, 'd')),
    [isMissing('keys.json:2:3: [0].d', 'present: it is the private part of the key')],
  ],
  [
    'has an RSA key without its private half',
    asText(without(rsa, 'd')),
    [isMissing('keys.json:2:3: [0].d', 'present: it is the private part of the key')],
  ],
  [
    'has an OKP key without its private half',
    asText(without(edwards, 'd')),
    [isMissing('keys.json:2:3: [0].d', 'present: it is the private part of the key')],
  ],
  [
    'has a shared key without its secret',
    asText(without(shared, 'k')),
    [isMissing('keys.json:2:3: [0].k', 'present: it is the secret')],
  ],
  [
    'has an unknown operation',
    asText({ ...signing, key_ops: ['sing'] }),
    [mustBe('keys.json:11:7: [0].key_ops[0]', 'sign or verify', 'sing')],
  ],
  [
    'has operations that are not a list',
    asText({ ...signing, key_ops: 'sign' }),
    [mustBe('keys.json:10:5: [0].key_ops', 'a list of sign and verify', 'sign')],
  ],
]

test.each(bad)('a file that %s is reported with its line', (_what, text, sentences) => {
  expect(complaintsAbout(text)).toEqual(sentences)
})

test('a file that is not JSON is reported once, with its line', () => {
  const complaints = complaintsAbout(asText(signing, newKey('RS256', 'b')).replace('},', '}],'))
  expect(complaints).toEqual([expect.stringMatching(/^keys\.json:\d+:\d+: This .*JSON\.?$/)])
})

test('all problems are reported at once', () => {
  const complaints = complaintsAbout(asText(without(signing, 'kid'), { ...rsa, kty: 'DSA' }))
  expect(complaints).toHaveLength(2)
  expect(complaints.map(complaint => complaint.split(': ')[0])).toEqual(['keys.json:2:3', expect.any(String)])
})

test('invalid JSON is reported at its position, even if it is valid YAML', () => {
  expect(complaintsAbout('[\n  { "kty": "oct" },\n]')).toEqual([`keys.json:3:1: ${notValid('JSON')}.`])
})

test('a file that is missing, a folder or unreadable is reported', () => {
  const dir = folderWith({ 'folder/inside': '', 'locked.json': asText(signing) })
  const reading = (file: string) => () => readSigningKeys(file, dir)
  expect(reading('nowhere.json')).toThrow(`nowhere.json: ${cannotBeRead()}`)
  expect(reading('folder')).toThrow(`folder: ${cannotBeRead('EISDIR')}`)
  chmodSync(path.join(dir, 'locked.json'), 0)
  if (process.getuid?.() === 0) return
  expect(reading('locked.json')).toThrow(`locked.json: ${cannotBeRead('EACCES')}`)
})

/** What a start with these keys prints. */
async function starting(keys: readonly object[]): Promise<string> {
  const dir = folderWith(written(ownKeys, keyFile(...keys)))
  try {
    await (await startPlatform({ config: path.join(dir, 'platform.config.yaml'), state: 'memory' })).stop()
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
  return 'started'
}

const p384 = newKey('ES384', 'p384', { signs: true })

// Valid JSON with unusable keys. Each would end in a stack trace from the library.
const unusable: readonly (readonly [string, object])[] = [
  ['a curve that does not fit its algorithm', { ...p384, alg: 'ES256' }],
  ['no curve', without(signing, 'crv')],
  ['an unknown curve', { ...signing, crv: 'P-999' }],
  ['half a public point', without(signing, 'y')],
  ['a point that is not on its curve', { ...signing, x: newKey('ES256', 'x').x }],
  ['a private half that is too short', { ...signing, d: 'AAAA' }],
  ['a private half that is not base64', { ...signing, d: '!!!' }],
  ['a private half of another key', { ...signing, d: newKey('ES256', 'x').d }],
  ['no modulus', without(rsa, 'n')],
  ['a modulus of another key', { ...rsa, n: newKey('RS256', 'x').n }],
  ['no primes', { ...rsa, p: undefined, q: undefined, dp: undefined, dq: undefined, qi: undefined }],
  ['a small modulus', { ...rsa, n: 'AQAB' }],
  ['an unknown Edwards curve', { ...edwards, crv: 'Ed999' }],
  ['an empty shared secret', { ...shared, k: 'A' }],
]

test.each(unusable)(
  'a key with %s is reported in one sentence about the file, before anything starts',
  async (_what, key) => {
    const said = await starting([key])
    expect(said).toMatch(/^ProblemsError: keys\.json:\d+:\d+: /)
    for (const secret of secretsIn([key, signing, rsa, shared, edwards, p384])) expect(said).not.toContain(secret)
  },
)

test('no error repeats parts of a key, wherever the file is damaged', () => {
  const keys = [signing, newKey('RS256', 'b'), newKey('HS256', 'c'), newKey('EdDSA', 'd')]
  const text = asText(...keys)
  const secrets = secretsIn(keys)
  const dir = folderWith()
  const damages: readonly ((at: number) => string)[] = [
    at => text.slice(0, at),
    at => text.slice(at),
    at => `${text.slice(0, at)}"${text.slice(at)}`,
    at => `${text.slice(0, at)}:${text.slice(at)}`,
    at => `${text.slice(0, at)}\n${text.slice(at)}`,
    at => `${text.slice(0, at)} *${text.slice(at)}`,
    at => `${text.slice(0, at)}${text.slice(at + 1)}`,
    at => text.slice(0, at) + text.slice(at).replace('"', ''),
  ]
  const leaks = damages.flatMap((damage, kind) => {
    const places = Array.from({ length: Math.ceil(text.length / 37) }, (_, i) => i * 37)
    const complaints = places.map(at => complaintsIn(dir, damage(at)).join('\n'))
    return places
      .filter((_at, i) => secrets.some(secret => complaints[i]?.includes(secret)))
      .map(at => `damage ${kind} at ${at}`)
  })
  expect(leaks).toEqual([])
})

test('a PEM in place of JWKs is reported without its content', () => {
  const body = Array.from({ length: 3 }, (_, i) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC${i}`)
  const pem = ['-----BEGIN PRIVATE KEY-----', ...body, '-----END PRIVATE KEY-----', ''].join('\n')
  const complaint = complaintsAbout(pem).join('\n')
  expect(complaint).toMatch(/^keys\.json:1:1: /)
  expect(complaint).not.toContain('MIIE')
})

test('on the command line the problem is one sentence, and the exit code is 2', async () => {
  const files = written(ownKeys, keyFile(without(signing, 'd')))
  const { code, stdout, stderr } = await runInProcess(['dev', '--state', 'memory'], { files })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toBe(`${isMissing('keys.json:2:3: [0].d', 'present: it is the private part of the key')}\n`)
})

test('`standin config check` reports an unusable key file', async () => {
  const files = written(ownKeys, keyFile(without(signing, 'd')))
  const { code, stderr } = await run(['config', 'check'], { files })
  expect([code, stderr]).toEqual([
    2,
    `${isMissing('keys.json:2:3: [0].d', 'present: it is the private part of the key')}\n`,
  ])
})

test('a key file beside the configuration is found from wherever the platform is started', async () => {
  const dir = folderWith({ ...renamed(written(ownKeys, keyFile(signing)), 'sub/') })
  const platform = await startPlatform({ config: path.join(dir, 'sub', 'platform.config.yaml'), state: 'memory' })
  await platform.stop()
})

const renamed = (files: Readonly<Record<string, string>>, prefix: string) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${prefix}${name}`, text]))
