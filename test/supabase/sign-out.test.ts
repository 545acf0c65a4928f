import { expect, test } from 'vitest'
import { type Backend, backendWith, newUser, refusal } from './backend.js'

/** Three devices of one user. */
async function threeDevices(backend: Backend) {
  const { email, password } = newUser()
  await backend.client().auth.signUp({ email, password })
  const devices = [backend.client().auth, backend.client().auth, backend.client().auth] as const
  for (const device of devices) await device.signInWithPassword({ email, password })
  const sessions = await Promise.all(devices.map(async device => (await device.getSession()).data.session))
  const statusOf = async (i: number) => (await backend.ask('/user', { bearer: sessions[i]?.access_token ?? '' })).status
  return { devices, sessions, statuses: () => Promise.all([0, 1, 2].map(statusOf)) }
}

test.each([
  ['global', [403, 403, 403]],
  ['local', [403, 200, 200]],
  ['others', [200, 403, 403]],
] as const)('signing out with the scope %s ends the right sessions', async (scope, expected) => {
  const { devices, statuses } = await threeDevices(await backendWith())
  expect((await devices[0].signOut({ scope })).error).toBeNull()
  expect(await statuses()).toEqual(expected)
})

test('without a scope, all sessions end and the response is a 204 without a body', async () => {
  const backend = await backendWith()
  const { sessions, statuses } = await threeDevices(backend)
  const response = await backend.ask('/logout', { method: 'POST', bearer: sessions[0]?.access_token ?? '' })
  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
  expect(response.headers.has('content-length')).toBe(false)
  expect(await statuses()).toEqual([403, 403, 403])
})

test('the token of an ended session is refused with that reason, and its refresh token is gone', async () => {
  const backend = await backendWith()
  const { devices, sessions } = await threeDevices(backend)
  await devices[0].signOut()
  expect(await refusal(await backend.ask('/user', { bearer: sessions[1]?.access_token ?? '' }))).toEqual({
    status: 403,
    code: 'session_not_found',
    message: 'Session from session_id claim in JWT does not exist',
  })
  const { error } = await devices[1].refreshSession()
  expect(error?.code).toBe('refresh_token_not_found')
})

test("Supabase's client treats an ended session as a missing one", async () => {
  const { devices } = await threeDevices(await backendWith())
  await devices[0].signOut()
  const { data, error } = await devices[1].getUser()
  expect(data.user).toBeNull()
  expect(error).toMatchObject({ name: 'AuthSessionMissingError', status: 400, message: 'Auth session missing!' })
  expect((await devices[1].getSession()).data.session).toBeNull()
})

test("an admin signs a user out with the user's token", async () => {
  const backend = await backendWith()
  const { sessions, statuses } = await threeDevices(backend)
  expect((await backend.admin.signOut(sessions[0]?.access_token ?? '', 'others')).error).toBeNull()
  expect(await statuses()).toEqual([200, 403, 403])
})

test('an unknown scope is refused before any session ends', async () => {
  const backend = await backendWith()
  const { sessions, statuses } = await threeDevices(backend)
  const bearer = sessions[0]?.access_token ?? ''
  expect(await refusal(await backend.ask('/logout?scope=all', { method: 'POST', bearer }))).toEqual({
    status: 400,
    code: 'validation_failed',
    message: 'Unsupported logout scope "all"',
  })
  expect(await statuses()).toEqual([200, 200, 200])
})

test('signing out works for a user who was deleted', async () => {
  const { client, admin } = await backendWith()
  const { auth } = client()
  const { data } = await auth.signUp(newUser())
  await admin.deleteUser(data.user?.id ?? '')
  expect((await auth.signOut()).error).toBeNull()
  expect((await auth.getSession()).data.session).toBeNull()
})

test('signing out with an invalid token is refused', async () => {
  const { admin } = await backendWith()
  const { error } = await admin.signOut('this-is-a-bad-token')
  expect(error?.message).toMatch(/^invalid JWT/)
  expect(error).toMatchObject({ status: 403, code: 'bad_jwt' })
})
