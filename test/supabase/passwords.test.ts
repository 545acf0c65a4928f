import { randomBytes } from 'node:crypto'
import { argon2d, argon2i, argon2id, bcrypt } from 'hash-wasm'
import { expect, test } from 'vitest'
import { matchesHash } from '../../src/supabase/passwords.js'
import { backendWith, bodyOf, clock, firebase, newUser, refusal } from './backend.js'

const password = 'correct horse'

/** Whether a user with this hash can sign in with a password. */
async function signsIn(password_hash: string, given: string): Promise<boolean> {
  const { ask, client, serviceKey } = await backendWith()
  const { email } = newUser()
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

test.each(['2a', '2b', '2y'])('a user can sign in with an imported bcrypt hash ($%s$)', async kind => {
  const hash = await bcrypt({ password, salt, costFactor: 4, outputType: 'encoded' })
  expect(await signsIn(hash.replace(/^\$2.\$/, `$${kind}$`), password)).toBe(true)
})

test.each([
  ['argon2i', () => argon2i({ ...argon, outputType: 'encoded' })],
  ['argon2id', () => argon2id({ ...argon, outputType: 'encoded' })],
])('a user can sign in with an imported %s hash', async (_kind, hash) => {
  expect(await signsIn(await hash(), password)).toBe(true)
})

test('a user can sign in with an imported Firebase hash', async () => {
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
])('the hash %j is not imported', async password_hash => {
  const { ask, serviceKey } = await backendWith()
  const { email } = newUser()
  const response = await ask('/admin/users', { body: { email, password_hash }, bearer: serviceKey })
  // An empty hash counts as none.
  expect(response.status).toBe(password_hash === '' ? 200 : 400)
})

test('an argon2d hash is refused, as at Supabase', async () => {
  const { ask, serviceKey } = await backendWith()
  const password_hash = await argon2d({ ...argon, outputType: 'encoded' })
  const body = { email: newUser().email, password_hash }
  expect((await ask('/admin/users', { body, bearer: serviceKey })).status).toBe(400)
})

const bcryptOf = (cost: string) => `$2b$${cost}$${'a'.repeat(53)}`
const argonOf = (parameters: string) => `$argon2id$v=19$${parameters}$${'A'.repeat(22)}$${'A'.repeat(22)}`

const tooCostly = [
  [bcryptOf('31'), 'The password hash has the bcrypt cost 31; at most 14 is accepted'],
  [bcryptOf('15'), 'The password hash has the bcrypt cost 15; at most 14 is accepted'],
  [bcryptOf('03'), 'The password hash has parameters that bcrypt does not have'],
  [argonOf('m=999999999,t=1,p=1'), expect.stringMatching(/costs too much to check: argon2 may use 262144 KiB/)],
  [argonOf('m=65536,t=99999,p=1'), expect.stringContaining('costs too much to check: argon2')],
  [argonOf('m=7,t=1,p=1'), 'The password hash has parameters that argon2 does not have'],
  ['$fbscrypt$v=1,n=40,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA', expect.stringContaining('costs too much to check: scrypt')],
  ['$fbscrypt$v=1,n=14,r=8,p=999999,ss=Bw==,sk=AAAA$AAAA$AAAA', expect.stringContaining('costs too much')],
] as const

test.each(tooCostly)(
  'the hash %s is refused, and matches no password if it is already stored',
  async (hash, message) => {
    const { ask, serviceKey } = await backendWith()
    const body = { email: newUser().email, password_hash: hash }
    const refused = await refusal(ask('/admin/users', { body, bearer: serviceKey }))
    expect(refused).toEqual({ status: 400, code: 'validation_failed', message })
    expect(await matchesHash(password, hash)).toBe(false)
  },
)

test('a state with a hash that costs too much is refused with an error that names it', async () => {
  const { exportState, importState, ask } = await backendWith()
  await ask('/signup', { body: newUser() })
  const document = await exportState()
  const users = document.users.map(user => ({ ...user, encrypted_password: bcryptOf('31') }))
  await expect(importState({ ...document, users })).rejects.toThrow(
    /users\[0\]\.encrypted_password must be null, or a hash/,
  )
  expect(await exportState()).toEqual(document)
})

test('other requests are answered while an imported password is checked', async () => {
  const { ask, url, serviceKey } = await backendWith()
  const { email } = newUser()
  const password_hash = await bcrypt({ password, salt, costFactor: 12, outputType: 'encoded' })
  await ask('/admin/users', { body: { email, password_hash, email_confirm: true }, bearer: serviceKey })
  let isChecking = true
  const signIn = ask('/token?grant_type=password', { body: { email, password } }).finally(() => {
    isChecking = false
  })
  let answered = 0
  for (; isChecking; answered++) await (await fetch(`${url}/health`)).text()
  expect((await signIn).status).toBe(200)
  expect(answered).toBeGreaterThan(10)
})

test('the first sign-in replaces an imported hash with one of Standin, even when several come at once', async () => {
  const { ask, client, serviceKey, exportState } = await backendWith()
  const { email } = newUser()
  const password_hash = await bcrypt({ password, salt, costFactor: 8, outputType: 'encoded' })
  await ask('/admin/users', { body: { email, password_hash, email_confirm: true }, bearer: serviceKey })
  const storedHash = async () => (await exportState()).users.find(user => user.email === email)?.encrypted_password
  await client().auth.signInWithPassword({ email, password: 'wrong horse' })
  expect(await storedHash()).toBe(password_hash)
  const together = await Promise.all(
    Array.from({ length: 6 }, () => client().auth.signInWithPassword({ email, password })),
  )
  expect(together.map(({ error }) => error)).toEqual(together.map(() => null))
  expect(await storedHash()).toMatch(/^\$scrypt\$/)
  expect((await client().auth.signInWithPassword({ email, password })).error).toBeNull()
  expect((await client().auth.signInWithPassword({ email, password: 'wrong horse' })).error?.code).toBe(
    'invalid_credentials',
  )
})

test('when too many imported passwords are to be checked at once, some sign-ins get a 429', async () => {
  const { ask, serviceKey } = await backendWith()
  const { email } = newUser()
  const password_hash = await bcrypt({ password, salt, costFactor: 6, outputType: 'encoded' })
  await ask('/admin/users', { body: { email, password_hash, email_confirm: true }, bearer: serviceKey })
  const requests = Array.from({ length: 80 }, () =>
    ask('/token?grant_type=password', { body: { email, password: 'wrong' } }),
  )
  const statuses = (await Promise.all(requests)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([400, 429]))
  expect((await ask('/token?grant_type=password', { body: { email, password } })).status).toBe(200)
})

test('a password may have any characters, up to 72 bytes', async () => {
  const { client } = await backendWith()
  const { email } = newUser()
  const long = '\u{1f434}'.repeat(18)
  expect((await client().auth.signUp({ email, password: long })).error).toBeNull()
  expect((await client().auth.signInWithPassword({ email, password: long })).error).toBeNull()
  const longer = await client().auth.signUp({ email: newUser().email, password: `${long}.` })
  expect(longer.error).toMatchObject({ status: 400, code: 'validation_failed' })
})

test('passwords that look the same but differ in their bytes are different', async () => {
  const { client } = await backendWith()
  const { email } = newUser()
  await client().auth.signUp({ email, password: 'caf\u00e9 caf\u00e9' })
  const { error } = await client().auth.signInWithPassword({ email, password: 'cafe\u0301 cafe\u0301' })
  expect(error?.code).toBe('invalid_credentials')
})

test('a password that has become too weak still signs in, with a warning', async () => {
  const { ask, serviceKey } = await backendWith({ passwordMinLength: 20 })
  const { email } = newUser()
  const password_hash = await bcrypt({ password, salt, costFactor: 4, outputType: 'encoded' })
  await ask('/admin/users', { body: { email, password_hash, email_confirm: true }, bearer: serviceKey })
  const answer = await bodyOf(ask('/token?grant_type=password', { body: { email, password } }))
  expect(answer).toHaveProperty('access_token')
  expect(answer.weak_password).toEqual({
    message: 'Password should be at least 20 characters.',
    reasons: ['length'],
  })
})

test('Standin hashes passwords at the full cost; only its tests use less', async () => {
  // Loaded a second time, without the cost that test/runs.ts sets.
  const asShipped = '../../src/supabase/passwords.js?as-shipped'
  const { hashOf }: typeof import('../../src/supabase/passwords.js') = await import(asShipped)
  expect(await hashOf(password)).toMatch(/^\$scrypt\$ln=12,r=8,p=1\$/)
  expect(await matchesHash(password, await hashOf(password))).toBe(true)
})

test('password hashes are never returned', async () => {
  const time = clock()
  const { admin, client } = await backendWith()
  const { email } = newUser()
  const { data } = await admin.createUser({ email, password, email_confirm: true })
  time.pass(1)
  const signedIn = await client().auth.signInWithPassword({ email, password })
  const listed = await admin.listUsers()
  expect(JSON.stringify([data, signedIn.data.user, listed.data])).not.toMatch(/scrypt|password/)
})
