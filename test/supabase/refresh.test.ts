import { expect, test } from 'vitest'
import { type Backend, backendWith, bodyOf, claimsOf, clock, newcomer, newUser, refusal } from './backend.js'

const refresh = ({ ask }: Backend, refresh_token: string) =>
  ask('/token?grant_type=refresh_token', { body: { refresh_token } })

/** The next refresh token. */
const next = async (backend: Backend, token: string): Promise<string> =>
  (await bodyOf(refresh(backend, token))).refresh_token

const alreadyUsed = {
  status: 400,
  code: 'refresh_token_already_used',
  message: 'Invalid Refresh Token: Already Used',
}
const notFound = {
  status: 400,
  code: 'refresh_token_not_found',
  message: 'Invalid Refresh Token: Refresh Token Not Found',
}

test('a refresh returns another refresh token, a new access token of the same session, and the user', async () => {
  const time = clock()
  const backend = await backendWith()
  const { auth } = backend.client()
  const { data } = await auth.signUp(newUser())
  time.pass(1)
  const { data: refreshed, error } = await auth.refreshSession()
  expect(error).toBeNull()
  expect(refreshed.session?.refresh_token).not.toBe(data.session?.refresh_token)
  expect(refreshed.session?.access_token).not.toBe(data.session?.access_token)
  expect(refreshed.user?.id).toBe(data.user?.id)
  const [before, after] = [data, refreshed].map(({ session }) => claimsOf(session?.access_token ?? ''))
  expect(after).toEqual({ ...before, iat: before.iat + 1, exp: before.exp + 1 })
})

test('the client refreshes a stored token by itself when it has expired', async () => {
  const time = clock()
  const backend = await backendWith()
  const { auth } = backend.client()
  const { data } = await auth.signUp(newUser())
  time.pass(3601)
  const { data: found } = await auth.getSession()
  expect(found.session?.access_token).not.toBe(data.session?.access_token)
})

test('the parent of the active token returns the active token, however late it is used', async () => {
  const time = clock()
  const backend = await backendWith()
  const { refresh_token: first } = await newcomer(backend)
  const second = await next(backend, first)
  time.pass(24 * 3600)
  expect(await next(backend, first)).toBe(second)
  expect(await next(backend, first)).toBe(second)
  expect(await next(backend, second)).not.toBe(second)
})

test('an older token returns another new one within the reuse interval', async () => {
  const time = clock()
  const backend = await backendWith()
  const { refresh_token: first } = await newcomer(backend)
  const third = await next(backend, await next(backend, first))
  time.pass(10)
  const fourth = await next(backend, first)
  expect(fourth).toMatch(/^[a-z0-9]{12}$/)
  expect([first, third]).not.toContain(fourth)
})

test('an older token revokes the family after the reuse interval, and access tokens stay valid until they expire', async () => {
  const time = clock()
  const backend = await backendWith()
  const { refresh_token: first, access_token } = await newcomer(backend)
  const second = await next(backend, first)
  const third = await next(backend, second)
  time.pass(11)
  expect(await refusal(refresh(backend, first))).toEqual(alreadyUsed)
  expect(await refusal(refresh(backend, third))).toEqual(alreadyUsed)
  expect(await refusal(refresh(backend, second))).toEqual(alreadyUsed)
  expect((await backend.ask('/user', { bearer: access_token })).status).toBe(200)
})

test.each(['', 'short', 'ABCDEFGHIJKL', 'abcdefghijkl-', 'invalid-refresh-token', 'aaaaaaaaaaaaa'])(
  'a malformed refresh token is refused: %j',
  async token => {
    const backend = await backendWith()
    expect(await refusal(refresh(backend, token))).toEqual({
      status: 400,
      code: 'validation_failed',
      message: 'Refresh token is not valid',
    })
  },
)

test('a refresh token from another run is not found', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  const { error } = await auth.refreshSession({ refresh_token: 'aaaaaaaaaaaa' })
  expect(error).toMatchObject({ status: notFound.status, code: notFound.code, message: notFound.message })
})
