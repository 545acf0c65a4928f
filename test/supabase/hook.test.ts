import { createHash } from 'node:crypto'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import type { ConfigInput, PlatformOptions } from '../../src/index.js'
import { folderWith, run } from '../command.js'
import { freePort } from '../free-port.js'
import { platformOf, written } from '../keys/edited.js'
import { platformWith } from '../scene.js'
import { backendWith, bodyOf, claimsOf, newcomer, newUser, refusal, UUID, versioned } from './backend.js'
import { hookServer, secrets } from './hook-server.js'

const withClaims = (claims: Record<string, unknown>) => ({ hooks: { customAccessToken: { claims } } })

test('a hook server gets the claims of a new token, signed by each secret, and adds its own', async () => {
  const { client } = await backendWith(await hookServer())
  const { email, password } = newUser()
  const more = { org: 'acme', roles: ['admin'] }
  const { data } = await client().auth.signUp({ email, password, options: { data: { hook: { more } } } })
  const { seen, tries, ...claims } = claimsOf(data.session?.access_token ?? '')
  expect(claims).toMatchObject({ ...more, email, role: 'authenticated', sub: data.user?.id, aal: 'aal1' })
  expect(tries).toBe(1)
  expect(seen).toEqual({
    user_id: data.user?.id,
    authentication_method: 'password',
    metadata: {
      uuid: expect.stringMatching(UUID),
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      name: 'customize-access-token',
      ip_address: '127.0.0.1',
    },
    headers: expect.objectContaining({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'webhook-id': expect.stringMatching(UUID),
    }),
  })
  expect(seen.headers).not.toHaveProperty('authorization')
})

test('the hook is told how the user got each token', async () => {
  const backend = await backendWith({ ...(await hookServer()), testOtp: '123456' })
  const { email, password } = await newcomer(backend)
  const methods: string[] = []
  const note = ({ data }: { data: { session: { access_token: string } | null } }) =>
    methods.push(claimsOf(data.session?.access_token ?? '').seen.authentication_method)

  const { auth } = backend.client()
  note(await auth.signInWithPassword({ email, password }))
  note(await auth.refreshSession())
  note(await backend.client().auth.signInAnonymously())
  await auth.signInWithOtp({ email })
  note(await auth.verifyOtp({ email, token: '123456', type: 'email' }))

  const verifier = 'v'.repeat(56)
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  await backend.ask('/recover', { body: { email, code_challenge, code_challenge_method: 's256' } })
  const opened = await fetch(backend.messageTo(email).link, { redirect: 'manual' })
  const code = new URL(opened.headers.get('location') ?? '').searchParams.get('code')
  const body = { auth_code: code, code_verifier: verifier }
  const session = await bodyOf(backend.ask('/token?grant_type=pkce', { body }))
  note({ data: { session } })
  expect(methods).toEqual(['password', 'token_refresh', 'anonymous', 'otp', 'recovery'])
})

const large = `{"claims":{"text":"${'x'.repeat(200 * 1024)}"}}`
const json = (value: unknown) => ({ text: JSON.stringify(value) })
const unfit = (...mistakes: string[]) =>
  `output claims do not conform to the expected schema: \n${mistakes.map(one => `- ${one}\n`).join('')}`

test.each([
  ['an error of its own', json({ error: { http_code: 403, message: 'No seat.' } }), 403, 'unknown', 'No seat.'],
  ['an error without a status', json({ error: { message: 'No seat.' } }), 500, 'unexpected_failure', 'No seat.'],
  ['no claims', json({ claim: {} }), 500, 'unexpected_failure', 'output claims field is missing'],
  ['a claim too few', { without: 'aal' }, 500, 'unexpected_failure', unfit('(root): aal is required')],
  [
    'a mistyped claim',
    { more: { exp: 'later' } },
    500,
    'unexpected_failure',
    unfit('exp: Invalid type. Expected: integer, given: string'),
  ],
  ['no JSON', { text: '{"claims"' }, 500, 'unexpected_failure', 'Error unmarshaling JSON output.'],
  ['claims in a list', json({ claims: [] }), 500, 'unexpected_failure', 'Error unmarshaling JSON output.'],
  [
    'a page',
    { headers: { 'content-type': 'text/html' } },
    400,
    'hook_payload_invalid_content_type',
    'Invalid JSON response. Received content-type: text/html',
  ],
  [
    'too much',
    { text: large },
    422,
    'hook_payload_over_size_limit',
    'Payload size exceeded size limit of 204800 bytes',
  ],
  [
    'half an answer',
    { cut: true },
    500,
    'unexpected_failure',
    /^Error running hook URI: http:\/\/127\.0\.0\.1:\d+\/hook$/,
  ],
  [
    '204, which has no claims',
    { status: 204 },
    500,
    'unexpected_failure',
    unfit('(root): Invalid type. Expected: object, given: null'),
  ],
  ['400', { status: 400 }, 500, 'unexpected_failure', 'Invalid payload sent to hook'],
  ['401', { status: 401 }, 500, 'unexpected_failure', 'Hook requires authorization token'],
  ['503', { status: 503 }, 500, 'unexpected_failure', 'Service currently unavailable due to hook'],
  [
    '429 each time, with retry-after',
    { status: 429, headers: { 'retry-after': '60' } },
    500,
    'unexpected_failure',
    'Service currently unavailable due to hook',
  ],
  ['404', { status: 404 }, 500, 'unexpected_failure', 'Unexpected status code returned from hook: 404'],
] as const)(
  'a hook that answers %s: the client gets the error of Supabase',
  async (_name, hook, status, code, message) => {
    const { ask } = await backendWith(await hookServer())
    const refused = await refusal(ask('/signup', { body: { ...newUser(), data: { hook } }, headers: versioned }))
    const words = typeof message === 'string' ? message : expect.stringMatching(message)
    expect(refused).toEqual({ status, code, message: words })
  },
)

test('a hook that cannot be reached, or does not answer in 5 seconds, is waited for no longer', async () => {
  const [silent, broken] = await Promise.all([backendWith(await hookServer()), backendWith(await hookServer())])
  const nobody = `http://127.0.0.1:${await freePort()}`
  const unreachable = await backendWith({ hooks: { customAccessToken: { url: nobody } } })
  const signUp = ({ ask }: typeof silent, hook: object) => ask('/signup', { body: { ...newUser(), data: { hook } } })
  const [late, gone, third] = await Promise.all([
    refusal(signUp(silent, { silent: true })),
    refusal(signUp(unreachable, {})),
    bodyOf(signUp(broken, { reset: 2 })),
  ])
  const within = 'Failed to reach hook within maximum time of 5.000000 seconds'
  expect(late).toEqual({ status: 422, code: 'hook_timeout', message: within })
  const after = 'Failed to reach hook after maximum retries'
  expect(gone).toEqual({ status: 422, code: 'hook_timeout_after_retry', message: after })
  expect(claimsOf(third.access_token).tries).toBe(3)
}, 15_000)

test('a busy hook that names a time for another try is asked again', async () => {
  const backend = await backendWith(await hookServer())
  const hook = { status: 503, headers: { 'retry-after': '1' }, after: 2 }
  const { access_token } = await bodyOf(backend.ask('/signup', { body: { ...newUser(), data: { hook } } }))
  expect(claimsOf(access_token).tries).toBe(3)
})

test('a hook with another secret refuses, and the log says where to look', async () => {
  const options = { users: [], auth: await hookServer(secrets.split('|')[0]) }
  const { platform } = await platformOf(options)
  const { url, anonKey } = platform
  const body = JSON.stringify(newUser())
  await fetch(`${url}/auth/v1/signup`, { method: 'POST', headers: { apikey: anonKey }, body })
  const { data } = await bodyOf(fetch(`${url}/__standin/journal`))
  expect(data[0]).toMatchObject({ status: 500, error: 'Hook requires authorization token' })
  expect(data[0].hint).toMatch(/same secret.*\(auth\.hooks\.customAccessToken\)\.$/)
})

test('a token that the hook refuses begins no session, and a refresh can be tried again', async () => {
  const backend = await backendWith(await hookServer())
  const { user, refresh_token } = await newcomer(backend)
  const sessions = async () => (await bodyOf(fetch(`${backend.url}/__standin/sessions`))).total
  expect(await sessions()).toBe(1)

  await backend.admin.updateUserById(user.id, { user_metadata: { hook: { status: 400 } } })
  const signIn = () =>
    backend.client().auth.signInWithPassword({ email: String(user.email), password: 'correct horse' })
  expect((await signIn()).error).toMatchObject({ status: 500 })
  const refresh = () => backend.ask('/token?grant_type=refresh_token', { body: { refresh_token } })
  expect((await refresh()).status).toBe(500)
  expect(await sessions()).toBe(1)

  await backend.admin.updateUserById(user.id, { user_metadata: { hook: {} } })
  expect((await refresh()).status).toBe(200)
})

test('claims of the configuration are added to each token: they keep their types, and those without a value are left out', async () => {
  const { ask, url } = await backendWith(
    withClaims({
      org: '{{ user.app_metadata.org }}',
      roles: '{{ user.app_metadata.roles }}',
      label: 'user of {{ user.app_metadata.org.name }} by {{ authentication_method }}',
      plan: '{{ user.app_metadata.plan }}',
      level: 3,
      role: '{{ user.app_metadata.role }}',
      app_metadata: { via: '{{ claims.app_metadata.provider }}' },
    }),
    {
      users: [
        { email: 'ada@example.com', password: 'a-password', app_metadata: { org: { name: 'Acme' }, roles: ['admin'] } },
      ],
    },
  )
  const body = { email: 'ada@example.com', password: 'a-password' }
  const session = await bodyOf(ask('/token?grant_type=password', { body }))
  const claims = claimsOf(session.access_token)
  expect(claims).toMatchObject({
    org: { name: 'Acme' },
    roles: ['admin'],
    label: 'user of Acme by password',
    level: 3,
    role: 'authenticated',
    app_metadata: { via: 'email' },
  })
  expect(claims).not.toHaveProperty('plan')
  expect(session.user.app_metadata).toMatchObject({ roles: ['admin'] })
  expect((await ask('/user', { bearer: session.access_token })).status).toBe(200)
  expect(
    (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${session.access_token}` } })).status,
  ).toBe(200)
})

test('signIn and signInWith of a test and standin token give tokens with these claims, too', async () => {
  const auth = withClaims({ org: 'acme', by: '{{ authentication_method }}' })
  const platform = await platformWith({ auth: { ...auth, external: { github: {} } } })
  expect(claimsOf((await platform.signIn()).accessToken)).toMatchObject({ org: 'acme', by: 'password' })
  const withGithub = await platform.signInWith('github', { email: 'ada@example.com' })
  expect(claimsOf(withGithub.accessToken)).toMatchObject({ org: 'acme', by: 'oauth' })
  const { stdout } = await run(['token'], { files: written({ auth, state: 'memory' }) })
  expect(claimsOf(stdout)).toMatchObject({ org: 'acme', by: 'password' })
})

test('a template that gives a claim of a wrong type is an error of the sign-in', async () => {
  const { ask } = await backendWith(withClaims({ role: '{{ user.identities }}' }))
  expect(await refusal(ask('/signup', { body: newUser() }))).toMatchObject({
    status: 500,
    message: unfit('role: Invalid type. Expected: string, given: array'),
  })
})

test('a hook in code takes the place of the hook in the file', async () => {
  const dir = folderWith(written({ auth: withClaims({ plan: 'free' }), state: 'memory' }))
  const ofToken = async (hooks: PlatformOptions['auth']) => {
    const platform = await platformWith({ config: path.join(dir, 'platform.config.yaml'), auth: hooks })
    return claimsOf((await platform.signIn({ email: 'ada@example.com' })).accessToken)
  }
  const claims = await ofToken(withClaims({ team: 'red' }))
  expect(claims).toMatchObject({ team: 'red' })
  expect(claims).not.toHaveProperty('plan')
  expect(await ofToken(await hookServer())).toMatchObject({ tries: 1 })
})

const file = (hook: unknown): ConfigInput => ({ auth: { hooks: { customAccessToken: hook as object } } })

test.each([
  [
    'a reserved claim',
    { claims: { sub: 'x' } },
    /:\d+:\d+: auth\.hooks\.customAccessToken\.claims\.sub is set by the backend/,
  ],
  ['a role of a wrong type', { claims: { role: 1 } }, /claims\.role must be a string, not 1/],
  ['metadata of a wrong type', { claims: { app_metadata: 'x' } }, /claims\.app_metadata must be a map/],
  ['a template as a name', { claims: { '{{ user.id }}': 1 } }, /claims must be a map without templates as names/],
  ['an unknown name', { claims: { org: '{{ usr.id }}' } }, /:\d+:\d+: .*claims\.org: usr is not known.*user/],
  ['an unknown filter', { claims: { a: ['{{ user.id | upper }}'] } }, /claims\.a\[0\]: The filter upper/],
  ['claims and a url', { claims: { a: 1 }, url: 'http://localhost' }, /claims is not known here\. Keep claims or url/],
  ['a secret alone', { secret: secrets }, /customAccessToken\.url is missing/],
  [
    'a secret of another form',
    { url: 'http://localhost', secret: 'whsec_abc' },
    /secret must be v1,whsec_ and(?!.*abc)/,
  ],
  ['an address of another kind', { url: 'pg-functions://postgres/f' }, /url must be an http or https address/],
])('Standin does not start with %s, and names the place', async (_name, hook, sentence) => {
  await expect(platformOf(file(hook))).rejects.toThrow(sentence)
})

test('with a live auth backend, the hook has no effect, and the start says so', async () => {
  const warn = vi.spyOn(console, 'error').mockImplementation(() => {})
  await platformOf({
    auth: { mode: 'proxy', ...withClaims({ org: 'acme' }) },
    upstream: { authUrl: 'http://127.0.0.1:9' },
  })
  expect(warn).toHaveBeenCalledWith(
    expect.stringMatching(/^auth\.hooks\.customAccessToken has no effect with auth\.mode proxy/),
  )
  warn.mockRestore()
})
