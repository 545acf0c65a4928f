import { randomBytes } from 'node:crypto'
import { argon2d, argon2i, argon2id, bcrypt } from 'hash-wasm'
import { expect, test } from 'vitest'
import { backendWith, bodyOf, clock, firebase, somebody } from './backend.js'

const password = 'correct horse'

/** Whether somebody with this hash signs in with a password. */
async function signsIn(password_hash: string, given: string): Promise<boolean> {
  const { ask, client, serviceKey } = await backendWith()
  const { email } = somebody()
  const made = await ask('/admin/users', { body: { email, password_hash, email_confirm: true }, bearer: serviceKey })
  expect(made.status).toBe(200)
  expect(await made.text()).not.toContain(password_hash)
  const wrong = await client().auth.signInWithPassword({ email, password: `${given}.` })
  expect(wrong.error?.code).toBe('invalid_credentials')
  const { error } = await client().auth.signInWithPassword({ email, password: given })
  return error === null
}

const salt = randomBytes(16)
const argon = { password, salt, iterations: 2, parallelism: 1, memorySize: 64, hashLength: 32 }

test.each(['2a', '2b', '2y'])(
  'a hash of bcrypt ($%s$) that an admin brings along is good for signing in',
  async kind => {
    const hash = await bcrypt({ password, salt, costFactor: 4, outputType: 'encoded' })
    expect(await signsIn(hash.replace(/^\$2.\$/, `$${kind}$`), password)).toBe(true)
  },
)

test.each([
  ['argon2i', () => argon2i({ ...argon, outputType: 'encoded' })],
  ['argon2id', () => argon2id({ ...argon, outputType: 'encoded' })],
])('a hash of %s that an admin brings along is good for signing in', async (_kind, hash) => {
  expect(await signsIn(await hash(), password)).toBe(true)
})

test('a hash of Firebase that an admin brings along is good for signing in', async () => {
  expect(await signsIn(firebase.password_hash, firebase.password)).toBe(true)
})

test.each([
  'nonsense',
  '',
  '$1$abc$def',
  '$2a$10$short',
  '$scrypt$ln=12,r=8,p=1$AAAA$AAAA',
  '$argon2id$v=19$m=16$AAAA$AAAA',
  `$2b$10$${'a'.repeat(53)}\n`,
  '$fbscrypt$v=1,n=14,r=8,p=1$AAAA$AAAA',
])('the hash %j is of no known kind', async password_hash => {
  const { ask, serviceKey } = await backendWith()
  const { email } = somebody()
  const response = await ask('/admin/users', { body: { email, password_hash }, bearer: serviceKey })
  // An empty one is none.
  expect(response.status).toBe(password_hash === '' ? 200 : 400)
})

test('a hash of argon2d is refused, as at Supabase', async () => {
  const { ask, serviceKey } = await backendWith()
  const password_hash = await argon2d({ ...argon, outputType: 'encoded' })
  const body = { email: somebody().email, password_hash }
  expect((await ask('/admin/users', { body, bearer: serviceKey })).status).toBe(400)
})

test.each([
  '$argon2id$v=19$m=999999999,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
  '$fbscrypt$v=1,n=40,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA',
  `$2b$99$${'a'.repeat(53)}`,
])('the hash %s that cannot be computed fits nothing, and breaks nothing', async password_hash => {
  const { ask, client, serviceKey } = await backendWith()
  const { email } = somebody()
  await ask('/admin/users', { body: { email, password_hash, email_confirm: true }, bearer: serviceKey })
  const { error } = await client().auth.signInWithPassword({ email, password })
  expect(error?.code).toBe('invalid_credentials')
})

test('a password may have any characters up to 72 bytes', async () => {
  const { client } = await backendWith()
  const { email } = somebody()
  const long = '\u{1f434}'.repeat(18)
  expect((await client().auth.signUp({ email, password: long })).error).toBeNull()
  expect((await client().auth.signInWithPassword({ email, password: long })).error).toBeNull()
  const longer = await client().auth.signUp({ email: somebody().email, password: `${long}.` })
  expect(longer.error).toMatchObject({ status: 400, code: 'validation_failed' })
})

test('passwords that look the same are told apart by their bytes', async () => {
  const { client } = await backendWith()
  const { email } = somebody()
  await client().auth.signUp({ email, password: 'caf\u00e9 caf\u00e9' })
  const { error } = await client().auth.signInWithPassword({ email, password: 'cafe\u0301 cafe\u0301' })
  expect(error?.code).toBe('invalid_credentials')
})

test.each([
  ['short', ['length', 'characters']],
  ['long enough', ['characters']],
  ['long enough 1', ['characters']],
  ['a1:', ['length']],
])('%j lacks what the settings ask for: %j', async (password, reasons) => {
  const { ask } = await backendWith({ passwordMinLength: 8, passwordRequiredCharacters: 'abcdefgh:1234567890:\\:' })
  const { weak_password } = await bodyOf(ask('/signup', { body: { ...somebody(), password } }))
  expect(weak_password).toEqual({ reasons })
})

test('a password that has become too weak still signs in, and says so', async () => {
  const { ask, serviceKey } = await backendWith({ passwordMinLength: 20 })
  const { email } = somebody()
  const password_hash = await bcrypt({ password, salt, costFactor: 4, outputType: 'encoded' })
  await ask('/admin/users', { body: { email, password_hash, email_confirm: true }, bearer: serviceKey })
  const answer = await bodyOf(ask('/token?grant_type=password', { body: { email, password } }))
  expect(answer).toHaveProperty('access_token')
  expect(answer.weak_password).toEqual({
    message: 'Password should be at least 20 characters.',
    reasons: ['length'],
  })
})

test('a hash is never told', async () => {
  const time = clock()
  const { admin, client } = await backendWith()
  const { email } = somebody()
  const { data } = await admin.createUser({ email, password, email_confirm: true })
  time.pass(1)
  const signedIn = await client().auth.signInWithPassword({ email, password })
  const listed = await admin.listUsers()
  expect(JSON.stringify([data, signedIn.data.user, listed.data])).not.toMatch(/scrypt|password/)
})
