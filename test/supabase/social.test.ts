/** Sign-ins by other providers, through Supabase's own client. */
import type { Provider, SupabaseClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import { type Backend, backendWith, bodyOf, claimsOf, clock, follow, newUser, refusal, UUID } from './backend.js'

const external = { github: {}, google: {} }
const app = 'http://localhost:5173/welcome'

/** Chooses on the page, or on that to which `url` leads, and returns where the browser ends up. */
async function choose(url: string | null | undefined, choice: Record<string, string>) {
  const page = new URL(url?.includes('/authorize/account') ? url : (await follow(url ?? '')).location)
  const query = new URLSearchParams({ state: page.searchParams.get('state') ?? '', ...choice })
  return follow(`${new URL('../callback', page)}?${query}`)
}

/** Begins a sign-in as an app does. */
async function begin({ auth }: SupabaseClient, provider: Provider = 'github', options: object = {}) {
  const { data } = await auth.signInWithOAuth({ provider, options: { redirectTo: app, ...options } })
  return data.url
}

/** Signs in by an account, and returns the client with its session. */
async function signedIn(backend: Backend, email: string, provider: Provider = 'github', choice = {}) {
  const client = backend.client({ flowType: 'pkce', persistSession: true })
  const { query } = await choose(await begin(client, provider), { code: email, ...choice })
  const { data, error } = await client.auth.exchangeCodeForSession(query.code ?? '')
  expect(error).toBeNull()
  return { client, user: data.user ?? expect.fail(), session: data.session ?? expect.fail() }
}

test('with PKCE, the app exchanges a code for the session of a new user, and gets a token of the provider', async () => {
  const backend = await backendWith({ external })
  const client = backend.client({ flowType: 'pkce' })
  const url = await begin(client, 'github', {
    scopes: 'repo',
    queryParams: { login_hint: 'ada@example.com', state: 'x' },
  })
  const page = await follow(url ?? '')
  expect([page.status, page.query]).toEqual([
    302,
    { state: expect.stringMatching(UUID), login_hint: 'ada@example.com' },
  ])
  const { status, location, query } = await choose(url, { code: 'Ada.Lovelace@example.com' })
  expect([status, location]).toEqual([302, `${app}?code=${query.code}`])
  const { data } = await client.auth.exchangeCodeForSession(query.code ?? '')
  const email = 'ada.lovelace@example.com'
  const profile = { name: 'Ada Lovelace', full_name: 'Ada Lovelace', user_name: 'ada.lovelace', email_verified: true }
  expect(data.session?.provider_token).toMatch(/^standin-github-access-/)
  expect(data.session?.provider_refresh_token).toBeUndefined()
  expect(data.user).toMatchObject({
    email,
    email_confirmed_at: expect.any(String),
    app_metadata: { provider: 'github', providers: ['github'] },
    user_metadata: { ...profile, email, iss: 'https://api.github.com', avatar_url: expect.stringMatching(/^data:/) },
    identities: [{ provider: 'github', id: expect.stringMatching(/^\d+$/), email, identity_data: profile }],
  })
  const [identity] = data.user?.identities ?? []
  expect(identity?.identity_data).toMatchObject({ sub: identity?.id, provider_id: identity?.id })
  expect(claimsOf(data.session?.access_token ?? '').amr).toMatchObject([{ method: 'oauth' }])
})

test('without PKCE, the session is in the fragment, with a refresh token of the provider if the app asks for it', async () => {
  const backend = await backendWith({ external })
  const url = await begin(backend.client(), 'google', { queryParams: { access_type: 'offline' } })
  const { fragment } = await choose(url, { code: 'ada@example.com' })
  expect(Object.keys(fragment)).toEqual([
    ...['access_token', 'expires_at', 'expires_in', 'provider_refresh_token', 'provider_token', 'refresh_token'],
    ...['sb', 'token_type'],
  ])
  const { auth } = backend.client()
  const { access_token = '', refresh_token = '' } = fragment
  const { data } = await auth.setSession({ access_token, refresh_token })
  expect(data.user).toMatchObject({ email: 'ada@example.com', app_metadata: { provider: 'google' } })
})

test('a configured account signs in without the page', async () => {
  const backend = await backendWith({ external: { github: { account: 'Ada@example.com' } } })
  const { location: callback } = await follow((await begin(backend.client())) ?? '')
  expect(callback).toContain('/auth/v1/callback?')
  expect((await follow(callback)).fragment).toHaveProperty('access_token')
})

test('the same account is the same user; a verified address leads to the user who has it, and links the account', async () => {
  const backend = await backendWith({ external })
  const { email, password } = newUser()
  const { data } = await backend.client().auth.signUp({ email, password, options: { data: { name: 'Grace' } } })
  const first = await signedIn(backend, email)
  const again = await signedIn(backend, email)
  const other = await signedIn(backend, email, 'google')
  expect(new Set([data.user?.id, first.user.id, again.user.id, other.user.id])).toHaveProperty('size', 1)
  expect(other.user.app_metadata).toEqual({ provider: 'email', providers: ['email', 'github', 'google'] })
  expect(other.user.user_metadata).toMatchObject({ name: 'Grace', full_name: 'Grace' })
  expect((await backend.client().auth.signInWithPassword({ email, password })).error).toBeNull()
})

test('nobody keeps a password for an address that they have not confirmed, when its holder signs in', async () => {
  const backend = await backendWith({ external, mailerAutoconfirm: false })
  const { email, password } = newUser()
  await backend.client().auth.signUp({ email, password, options: { data: { by: 'a stranger' } } })
  const { user } = await signedIn(backend, email)
  expect(user.identities?.map(({ provider }) => provider)).toEqual(['github'])
  expect(user.user_metadata).not.toHaveProperty('by')
  const { error } = await backend.client().auth.signInWithPassword({ email, password })
  expect(error?.code).toBe('invalid_credentials')
})

test('an unverified address never links; its user has to confirm it', async () => {
  const backend = await backendWith({ external, mailerAutoconfirm: false })
  const { email } = newUser()
  const { data } = await backend.admin.createUser({ email, email_confirm: true })
  const unverified = async (code: string) =>
    (await choose(await begin(backend.client()), { code, unverified: 'true' })).query
  expect(await unverified(email)).toEqual({
    error: 'access_denied',
    error_code: 'provider_email_needs_verification',
    error_description: 'Unverified email with github. Verify the email with github in order to sign in',
  })
  expect((await backend.admin.getUserById(data.user?.id ?? '')).data.user?.identities).toHaveLength(1)
  const { email: fresh } = newUser()
  expect((await unverified(fresh)).error_description).toBe(
    'Unverified email with github. A confirmation email has been sent to your github email',
  )
  expect((await follow(backend.messageTo(fresh).link)).fragment).toHaveProperty('access_token')
  expect((await signedIn(backend, fresh, 'github', { unverified: 'true' })).user.email).toBe(fresh)
})

const denied = { error: 'access_denied', error_description: 'The user has denied your application access.' }

test.each([
  ['access is denied', {}, denied, denied],
  [
    'the provider fails',
    {},
    { code: 'fails' },
    {
      error: 'server_error',
      error_code: 'unexpected_failure',
      error_description: 'Unable to exchange external code: fail',
    },
  ],
  [
    'sign-ups are switched off',
    { disableSignup: true },
    { code: 'new@example.com' },
    {
      error: 'access_denied',
      error_code: 'signup_disabled',
      error_description: 'Signups not allowed for this instance',
    },
  ],
])('when %s, the app gets the error in the query and in the fragment', async (_when, settings, choice, error) => {
  const backend = await backendWith({ external, ...settings })
  const { status, query, fragment } = await choose(await begin(backend.client()), choice)
  expect([status, query, fragment]).toEqual([302, error, { ...error, sb: '' }])
})

test('a banned user is refused', async () => {
  const backend = await backendWith({ external })
  const { user } = await signedIn(backend, 'ada@example.com')
  await backend.admin.updateUserById(user.id, { ban_duration: '1h' })
  const { query } = await choose(await begin(backend.client()), { code: 'ada@example.com' })
  expect(query).toMatchObject({ error: 'access_denied', error_code: 'user_banned' })
})

test('the browser returns only to addresses that are allowed, and otherwise to the site', async () => {
  const backend = await backendWith({ external, siteUrl: 'https://app.example.com' })
  const url = await begin(backend.client(), 'github', { redirectTo: 'https://evil.example.com' })
  expect((await choose(url, denied)).location).toMatch(/^https:\/\/app\.example\.com\/\?error=access_denied/)
})

test('a state works once, for five minutes, and only if Standin issued it', async () => {
  const time = clock()
  const backend = await backendWith({ external, siteUrl: 'https://app.example.com' })
  const callback = (state: string) =>
    follow(`${backend.url}/auth/v1/callback?code=ada@example.com${state && `&state=${state}`}`)
  const pkce = await follow((await begin(backend.client({ flowType: 'pkce' }))) ?? '')
  const [implicit, late] = [await begin(backend.client()), await begin(backend.client())]
  const used = (await follow(implicit ?? '')).query.state ?? ''
  await callback(used)
  await callback(pkce.query.state ?? '')
  const over = (await follow(late ?? '')).query.state ?? ''
  time.pass(301)
  const states: [string, string, string][] = [
    ['', 'bad_oauth_callback', 'OAuth state parameter missing'],
    ['nonsense', 'bad_oauth_state', 'OAuth state parameter is invalid'],
    [used, 'bad_oauth_state', 'OAuth state not found or expired'],
    [over, 'bad_oauth_state', 'OAuth state has expired'],
  ]
  for (const [state, error_code, error_description] of states) {
    const { status, location, query } = await callback(state)
    expect([status, new URL(location).origin]).toEqual([303, 'https://app.example.com'])
    expect(query).toEqual({ error: 'invalid_request', error_code, error_description })
  }
  const twice = await follow((await begin(backend.client({ flowType: 'pkce' }))) ?? '')
  await callback(twice.query.state ?? '')
  expect((await callback(twice.query.state ?? '')).query).toMatchObject({ error_code: 'flow_state_already_used' })
})

test.each([
  ['provider=gitlab', 'Unsupported provider: provider is not enabled'],
  ['provider=nobody', 'Unsupported provider: Provider nobody could not be found'],
  ['provider=github&code_challenge=x', 'PKCE flow requires code_challenge_method and code_challenge'],
])('/authorize?%s is refused', async (query, message) => {
  const { ask } = await backendWith({ external })
  expect(await refusal(ask(`/authorize?${query}`))).toEqual({ status: 400, code: 'validation_failed', message })
})

test('the settings list the providers that are enabled', async () => {
  const { ask } = await backendWith({ external })
  const { external: listed } = await bodyOf(ask('/settings'))
  expect(listed).toMatchObject({ github: true, google: true, gitlab: false, zoom: false })
})

test('a user links a second account, signs in by it, and unlinks it again', async () => {
  const backend = await backendWith({ external })
  const { client, user } = await signedIn(backend, 'ada@example.com')
  const link = async () =>
    (await client.auth.linkIdentity({ provider: 'google', options: { redirectTo: app } })).data.url
  const { query } = await choose(await link(), { code: 'countess@example.org' })
  const { data } = await client.auth.exchangeCodeForSession(query.code ?? '')
  expect(data.user).toMatchObject({
    id: user.id,
    email: 'ada@example.com',
    app_metadata: { providers: ['github', 'google'] },
  })
  expect((await signedIn(backend, 'countess@example.org', 'google')).user.id).toBe(user.id)

  const own = await choose(await link(), { code: 'countess@example.org' })
  expect(own.query).toMatchObject({
    error_code: 'identity_already_exists',
    error_description: 'Identity is already linked',
  })
  await signedIn(backend, 'bob@example.com', 'google')
  const taken = await choose(await link(), { code: 'bob@example.com' })
  expect(taken.query.error_description).toBe('Identity is already linked to another user')

  const { data: held } = await client.auth.getUserIdentities()
  const [github, google] = held?.identities ?? []
  expect((await client.auth.unlinkIdentity(github ?? expect.fail())).error).toBeNull()
  // The other account's address becomes the user's.
  expect((await client.auth.getUser()).data.user).toMatchObject({
    email: 'countess@example.org',
    app_metadata: { provider: 'google', providers: ['google'] },
  })
  expect((await client.auth.unlinkIdentity(google ?? expect.fail())).error?.code).toBe('single_identity_not_deletable')
  expect((await signedIn(backend, 'ada@example.com')).user.id).not.toBe(user.id)
})

test('an anonymous user who links an account keeps their id and gets its address', async () => {
  const backend = await backendWith({ external })
  const client = backend.client()
  const { data } = await client.auth.signInAnonymously()
  const { data: link } = await client.auth.linkIdentity({ provider: 'github', options: { redirectTo: app } })
  const { fragment } = await choose(link.url, { code: 'ada@example.com' })
  expect(claimsOf(fragment.access_token ?? '')).toMatchObject({
    sub: data.user?.id,
    email: 'ada@example.com',
    is_anonymous: false,
  })
})

test('an address that two users have, one of them by a link, signs nobody in', async () => {
  const backend = await backendWith({ external })
  const { client } = await signedIn(backend, 'ada@example.com')
  const { email, password } = newUser()
  await backend.client().auth.signUp({ email, password })
  const { data } = await client.auth.linkIdentity({ provider: 'google', options: { redirectTo: app } })
  await choose(data.url, { code: email })
  const { query } = await choose(await begin(backend.client()), { code: email })
  expect(query).toMatchObject({ error: 'server_error', error_description: /Multiple accounts/ })
})

test.each([
  ['DELETE', '/user/identities/nonsense', 404, 'validation_failed'],
  ['DELETE', '/user/identities/6c8b5a0e-9a41-4c86-8b1e-0f3f4d6c2a11', 422, 'identity_not_found'],
  ['GET', '/user/identities/authorize?provider=gitlab', 400, 'validation_failed'],
])('%s %s is refused', async (method, path, status, code) => {
  const backend = await backendWith({ external })
  const { client, session } = await signedIn(backend, 'ada@example.com')
  const { data } = await client.auth.linkIdentity({ provider: 'google', options: { redirectTo: app } })
  await choose(data.url, { code: 'ada@example.com' })
  expect(await refusal(backend.ask(path, { method, bearer: session.access_token }))).toMatchObject({ status, code })
})
