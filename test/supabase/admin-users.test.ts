import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { BANNED, NOT_A_PHONE, passwordShorterThan } from '../sentences.js'
import { backendWith, bodyOf, clock, follow, newcomer, newUser, refusal, somePhone, TIME, UUID } from './backend.js'

const password = 'correct horse'

test('an admin creates a user with exactly the given metadata', async () => {
  const { admin } = await backendWith()
  const { email } = newUser()
  const user_metadata = { profile_image: 'https://example.com/ada.png', tags: ['one', { two: 2 }] }
  const { data, error } = await admin.createUser({ email, password, user_metadata })
  expect(error).toBeNull()
  expect(data.user).toEqual({
    id: expect.stringMatching(UUID),
    aud: 'authenticated',
    role: 'authenticated',
    email,
    phone: '',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata,
    identities: [
      {
        identity_id: expect.stringMatching(UUID),
        id: data.user?.id,
        user_id: data.user?.id,
        identity_data: { sub: data.user?.id, email, email_verified: false, phone_verified: false },
        provider: 'email',
        last_sign_in_at: expect.stringMatching(TIME),
        created_at: expect.stringMatching(TIME),
        updated_at: expect.stringMatching(TIME),
        email,
      },
    ],
    created_at: expect.stringMatching(TIME),
    updated_at: expect.stringMatching(TIME),
    is_anonymous: false,
  })
  const { data: read } = await admin.getUserById(data.user?.id ?? '')
  expect(read.user).toEqual(data.user)
})

test('an admin can create a user with a confirmed email', async () => {
  const { admin, client } = await backendWith({ mailerAutoconfirm: false })
  const { email } = newUser()
  const { data } = await admin.createUser({ email, password, email_confirm: true, user_metadata: { name: 'Ada' } })
  expect(data.user).toMatchObject({ email_confirmed_at: expect.stringMatching(TIME) })
  expect(data.user?.user_metadata).toEqual({ name: 'Ada', email_verified: true })
  const { data: read } = await admin.getUserById(data.user?.id ?? '')
  expect(read.user?.confirmed_at).toBe(data.user?.email_confirmed_at)
  expect((await client().auth.signInWithPassword({ email, password })).error).toBeNull()
})

test('an admin can set every field of a new user', async () => {
  const time = clock()
  const { admin, client } = await backendWith()
  const { email } = newUser()
  const [id, phone] = [randomUUID(), somePhone()]
  const { data, error } = await admin.createUser({
    ...{ id, email: email.toUpperCase(), phone: `+${phone}`, password, role: 'editor' },
    ...{ email_confirm: true, phone_confirm: true, ban_duration: '1h30m' },
    app_metadata: { plan: 'pro', nothing: null },
  })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({
    ...{ id, email, phone, role: 'editor' },
    app_metadata: { provider: 'email', providers: ['email', 'phone'], plan: 'pro' },
    banned_until: new Date(Date.now() + 90 * 60_000).toISOString(),
  })
  expect(data.user?.app_metadata).not.toHaveProperty('nothing')
  expect(data.user?.identities?.map(({ provider }) => provider)).toEqual(['email', 'phone'])
  expect((await client().auth.signInWithPassword({ phone, password })).error?.code).toBe('user_banned')
  time.pass(90 * 60)
  expect((await client().auth.signInWithPassword({ phone, password })).error).toBeNull()
})

test.each([
  [{}, 400, 'validation_failed', 'Cannot create a user without either an email or phone'],
  [{ phone: '123abc' }, 400, 'validation_failed', NOT_A_PHONE],
  [{ email: 'a@example.com', password: '123' }, 422, 'weak_password', passwordShorterThan(6)],
  [{ email: 'a@example.com', id: 'one' }, 400, 'validation_failed', 'ID must conform to the uuid v4 format'],
  [
    { email: 'a@example.com', id: '00000000-0000-0000-0000-000000000000' },
    400,
    'validation_failed',
    'ID cannot be a nil uuid',
  ],
  [
    { email: 'a@example.com', ban_duration: 'a while' },
    400,
    'validation_failed',
    'invalid format for ban duration: time: invalid duration "a while"',
  ],
  [{ email: 1 }, 400, 'bad_json', 'Could not parse request body as JSON: email must be of type string'],
])('a new user with %j is refused', async (body, status, code, message) => {
  const { ask, serviceKey, admin } = await backendWith()
  expect(await refusal(ask('/admin/users', { body, bearer: serviceKey }))).toEqual({ status, code, message })
  expect((await admin.listUsers()).data.users).toEqual([])
})

test('an email or phone number belongs to one user only', async () => {
  const { admin } = await backendWith()
  const { email } = newUser()
  const phone = somePhone()
  await admin.createUser({ email, phone })
  expect((await admin.createUser({ email: email.toUpperCase() })).error).toMatchObject({
    status: 422,
    code: 'email_exists',
    message: 'A user with this email address has already been registered',
  })
  expect((await admin.createUser({ phone })).error).toMatchObject({
    status: 422,
    code: 'phone_exists',
    message: 'Phone number already registered by another user',
  })
})

/** A backend with this many users, and their emails, the newest first. */
async function backendOf(count: number) {
  const time = clock()
  const backend = await backendWith()
  const emails = Array.from({ length: count }, () => newUser().email)
  for (const email of emails) {
    await backend.admin.createUser({ email, user_metadata: { full_name: `Name of ${email}` } })
    time.pass(1)
  }
  return { backend, emails: emails.reverse() }
}

test('users are listed in pages, the newest first', async () => {
  const { backend, emails } = await backendOf(5)
  const { data, error } = await backend.admin.listUsers({ page: 2, perPage: 2 })
  expect(error).toBeNull()
  expect(data.users.map(({ email }) => email)).toEqual(emails.slice(2, 4))
  expect(data).toMatchObject({ aud: 'authenticated', total: 5, nextPage: 3, lastPage: 3 })
  expect((await backend.admin.listUsers({ page: 3, perPage: 2 })).data).toMatchObject({ nextPage: null, lastPage: 3 })
})

test.each([
  ['page=-1', 'Bad Pagination Parameters: "-1" is no number of up to 15 digits'],
  ['page=x', 'Bad Pagination Parameters: "x" is no number of up to 15 digits'],
  ['per_page=0', 'Bad Pagination Parameters: per_page must be greater than 0'],
  [`page=${'9'.repeat(30)}`, `Bad Pagination Parameters: "${'9'.repeat(30)}" is no number of up to 15 digits`],
  ['sort=email+asc', 'Bad Sort Parameters: "email asc"'],
  ['sort=created_at+up', 'Bad Sort Parameters: "created_at up"'],
])('a list with %s is refused', async (query, message) => {
  const { ask, serviceKey } = await backendWith()
  expect(await refusal(ask(`/admin/users?${query}`, { bearer: serviceKey }))).toEqual({
    status: 400,
    code: 'validation_failed',
    message,
  })
})

test('a list can start with the oldest user and can be filtered', async () => {
  const { backend, emails } = await backendOf(3)
  const listed = async (query: string) => {
    const { users } = await bodyOf(backend.ask(`/admin/users?${query}`, { bearer: backend.serviceKey }))
    return users.map(({ email }: { email: string }) => email)
  }
  expect(await listed('sort=created_at+asc')).toEqual(emails.toReversed())
  expect(await listed(`filter=${emails[1]}`)).toEqual([emails[1]])
  expect(await listed(`filter=NAME+OF+${emails[0]}`)).toEqual([emails[0]])
  expect(await listed('filter=nobody')).toEqual([])
})

test.each([
  ['GET', 'nonsense', 404, 'validation_failed', 'user_id must be an UUID'],
  ['GET', randomUUID(), 404, 'user_not_found', 'User not found'],
  ['PUT', randomUUID(), 404, 'user_not_found', 'User not found'],
  ['DELETE', randomUUID(), 404, 'user_not_found', 'User not found'],
])('%s of the user %s is a 404', async (method, id, status, code, message) => {
  const { ask, serviceKey } = await backendWith()
  expect(await refusal(ask(`/admin/users/${id}`, { method, bearer: serviceKey }))).toEqual({ status, code, message })
})

test('an admin can confirm an email, change it and set a role', async () => {
  const { admin, client } = await backendWith({ mailerAutoconfirm: false })
  const { data: made } = await admin.createUser({ email: newUser().email, password })
  const id = made.user?.id ?? ''
  const { data: confirmed } = await admin.updateUserById(id, { email_confirm: true })
  expect(confirmed.user?.email_confirmed_at).toBeDefined()
  const { email } = newUser()
  const { data } = await admin.updateUserById(id, { email: email.toUpperCase(), role: 'editor' })
  expect(data.user).toMatchObject({ email, role: 'editor' })
  expect(data.user?.identities).toMatchObject([{ email, identity_data: { email, email_verified: false } }])
  expect((await client().auth.signInWithPassword({ email, password })).data.user?.id).toBe(id)
})

test.each([
  [{ phone: 'none' }, 400, 'validation_failed', NOT_A_PHONE],
  [{ ban_duration: 'x' }, 400, 'validation_failed', 'invalid format for ban duration: time: invalid duration "x"'],
  [{ password: '123' }, 422, 'weak_password', passwordShorterThan(6)],
])('a change to %j is refused', async (body, status, code, message) => {
  const { ask, admin, serviceKey } = await backendWith()
  const { data } = await admin.createUser({ email: newUser().email })
  const response = ask(`/admin/users/${data.user?.id}`, { method: 'PUT', body, bearer: serviceKey })
  expect(await refusal(response)).toEqual({ status, code, message })
})

test('a password set by an admin ends every session and invalidates every code sent', async () => {
  const backend = await backendWith()
  const { user, email, access_token } = await newcomer(backend)
  await backend.client().auth.resetPasswordForEmail(email)
  const { link } = backend.messageTo(email)
  const { error } = await backend.admin.updateUserById(user.id, { password: 'battery staple' })
  expect(error).toBeNull()
  expect((await backend.ask('/user', { bearer: access_token })).status).toBe(403)
  expect((await follow(link)).fragment).toMatchObject({ error_code: 'otp_expired' })
  const again = await backend.client().auth.signInWithPassword({ email, password: 'battery staple' })
  expect(again.error).toBeNull()
})

test('a ban takes effect at once and lasts until it is lifted', async () => {
  const backend = await backendWith()
  const { user, email, password, access_token, refresh_token } = await newcomer(backend)
  const { data } = await backend.admin.updateUserById(user.id, { ban_duration: '24h' })
  expect(data.user).toHaveProperty('banned_until')
  expect(await refusal(backend.ask('/user', { bearer: access_token }))).toEqual({
    status: 403,
    code: 'user_banned',
    message: BANNED,
  })
  expect(await refusal(backend.ask('/token?grant_type=refresh_token', { body: { refresh_token } }))).toEqual({
    status: 400,
    code: 'user_banned',
    message: 'Invalid Refresh Token: User Banned',
  })
  expect((await backend.client().auth.signInWithPassword({ email, password })).error).toMatchObject({
    status: 400,
    code: 'user_banned',
    message: BANNED,
  })
  const { data: lifted } = await backend.admin.updateUserById(user.id, { ban_duration: 'none' })
  expect(lifted.user).not.toHaveProperty('banned_until')
  expect((await backend.ask('/user', { bearer: access_token })).status).toBe(200)
})

test('deleting a user removes everything that belongs to the user', async () => {
  const backend = await backendWith()
  const { user, email, password, access_token, refresh_token } = await newcomer(backend)
  expect((await backend.admin.deleteUser(user.id)).error).toBeNull()
  expect((await backend.admin.getUserById(user.id)).error?.code).toBe('user_not_found')
  expect(await refusal(backend.ask('/user', { bearer: access_token }))).toEqual({
    status: 403,
    code: 'user_not_found',
    message: 'User from sub claim in JWT does not exist',
  })
  const refreshed = await refusal(backend.ask('/token?grant_type=refresh_token', { body: { refresh_token } }))
  expect(refreshed.code).toBe('refresh_token_not_found')
  const { data: next } = await backend.client().auth.signUp({ email, password })
  expect(next.user?.id).not.toBe(user.id)
})

test('a soft-deleted user leaves only an id and digests', async () => {
  const backend = await backendWith()
  const { user, email, password, access_token } = await newcomer(backend)
  expect((await backend.admin.deleteUser(user.id, true)).error).toBeNull()
  const { data } = await backend.admin.getUserById(user.id)
  expect(data.user).toMatchObject({
    id: user.id,
    email: expect.stringMatching(/^[\w-]{43}$/),
    phone: expect.stringMatching(/^[\w-]{15}$/),
    user_metadata: {},
    app_metadata: {},
    deleted_at: expect.stringMatching(TIME),
  })
  expect(JSON.stringify(data)).not.toContain(email)
  expect((await backend.ask('/user', { bearer: access_token })).status).toBe(403)
  expect((await backend.admin.deleteUser(user.id, true)).error).toBeNull()
  const { data: next, error } = await backend.client().auth.signUp({ email, password })
  expect(error).toBeNull()
  expect(next.user?.id).not.toBe(user.id)
})
