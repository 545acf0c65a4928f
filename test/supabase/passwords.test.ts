import { expect, test } from 'vitest'
import { developmentUser } from '../../src/core/secrets.js'
import { openState } from '../../src/state/index.js'
import { matchesHash } from '../../src/supabase/passwords.js'
import { plantSeeds } from '../../src/supabase/seeds.js'
import { backendWith, bodyOf, clock, newUser, refusal } from './backend.js'

const password = 'correct horse'

test('a password hash is not imported, neither for a new user nor for an existing one', async () => {
  const { ask, serviceKey, admin } = await backendWith()
  const { email } = newUser()
  const password_hash = `$2b$10$${'a'.repeat(53)}`
  const refused = {
    status: 400,
    code: 'validation_failed',
    message: 'Password hashes cannot be imported here. Set a password instead.',
  }
  const body = { email, password_hash, email_confirm: true }
  expect(await refusal(ask('/admin/users', { body, bearer: serviceKey }))).toEqual(refused)
  expect((await admin.listUsers()).data.users).toEqual([])
  const { data } = await admin.createUser({ email, password })
  const change = { method: 'PUT', body: { password_hash }, bearer: serviceKey }
  expect(await refusal(ask(`/admin/users/${data.user?.id}`, change))).toEqual(refused)
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

test('a password that has become too weak still signs in, with a warning', async () => {
  const { email } = newUser()
  const { ask } = await backendWith({ passwordMinLength: 20 }, { users: [{ email, password }] })
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

test('a start has the hash of the public password at hand, and computes those of others', async () => {
  const state = await openState('memory', { dir: '.' })
  const seeds = [developmentUser.password, developmentUser.password, 'a secret', 'a secret']
  const users = seeds.map((password, i) => ({ email: `${i}@example.com`, password, confirmed: true, role: '' }))
  await plantSeeds(state, { users, apiKeys: [] }, 0)
  const rows = await state.read(tables => tables.users.find({}))
  expect(new Set(rows.map(row => row.encrypted_password)).size).toBe(3)
})
