import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { developmentUser } from '../../../src/core/secrets.js'
import type { ConfigInput } from '../../../src/index.js'
import { run, runInProcess, start, writeInto } from '../../command.js'
import { platformOf, written } from '../../keys/edited.js'
import {
  adminOf,
  answerOf,
  askAuth,
  claimsOf,
  clientOf,
  type Person,
  type Place,
  sentences,
  signIn,
  signUp,
} from '../../keys/people.js'
import { mustBeSuch } from '../../sentences.js'
import { lasting } from '../../state/kinds.js'

const ada = { email: 'ada@example.com', password: 'correct-horse' }
const bob = { email: 'bob@example.com', password: 'battery-staple' }
const phil = { phone: '+4791234567', password: 'hello-it-is-me' }
const hers = { name: 'hers', key: 'sk-local-hers-alone', user: ada.email }
const nobodys = { name: 'nobodys', key: 'sk-local-of-nobody' }

const adasId = '8c5d8d3a-6d5b-4b6a-9d62-0f4b9a3f3c11'
const bobsId = '5f0e7f0c-2f44-4d6a-8f39-3a9d1c0f7b22'

const inFile = { state: 'file:kept/state.db' } as const
const withPhones = { auth: { external: { phone: true } } } as const

/** The two ways to read a configuration again. */
const ways = ['reload', 'restart'] as const

/** `in`, or the error code. */
async function entry(place: Place, who: { password: string } & ({ email: string } | { phone: string })) {
  const { error } = await clientOf(place, place.anonKey).auth.signInWithPassword(who)
  return error ? error.code : 'in'
}

/** `open`, or the error code. */
async function refreshed(place: Place, { refreshToken }: Pick<Person, 'refreshToken'>) {
  const response = await askAuth(place, '/token?grant_type=refresh_token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token: refreshToken }),
  })
  return response.ok ? 'open' : ((await response.json()) as { error_code: string }).error_code
}

async function userNamed(place: Place, email: string) {
  const { data, error } = await adminOf(place).listUsers()
  if (error) throw error
  return data.users.find(user => user.email === email)
}

const idOf = async (place: Place, email: string) => (await userNamed(place, email))?.id

interface KeyOnDashboard {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly expires_at: string | null
}

/** The keys of a user on the dashboard, and actions on them. */
function dashboardOf({ url }: Pick<Place, 'url'>, { token }: Pick<Person, 'token'>) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const asked = async (way: string, method = 'GET', body?: object) => {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    return (await fetch(`${url}/dashboard/api/keys${way}`, init)).json()
  }
  const keys = async () => ((await asked('')) as { data: readonly KeyOnDashboard[] }).data
  const idNamed = async (name: string) => (await keys()).find(key => key.name === name)?.id
  return {
    keys,
    revoke: async (name: string) => asked(`/${await idNamed(name)}`, 'DELETE'),
    create: async (name: string) => (await asked('', 'POST', { name })) as { key: string },
  }
}

/** The error of a refused configuration. */
const complaintOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'nothing',
    (error: Error) => `${error.name}: ${error.message}`,
  )

test.each(lasting)('in $kind a configured user keeps the id across restarts', async ({ emptyPlace }) => {
  const options = { state: (await emptyPlace()).where, users: [ada, phil] }
  const scene = await platformOf(options)
  const before = await signIn(scene.platform, ada)
  await scene.restart(options)
  expect((await signIn(scene.platform, ada)).id).toBe(before.id)
  expect(await answerOf(scene.platform, before.token)).toBe('open')
})

test('a configured user has the same id on every machine and in every state, whatever other users are configured', async () => {
  const [one, other] = await Promise.all([
    platformOf({ users: [ada] }),
    platformOf({ ...inFile, users: [bob, { ...ada, email: 'ADA@example.com', password: 'another-one' }] }),
  ])
  expect(await idOf(other.platform, ada.email)).toBe(await idOf(one.platform, ada.email))
  expect(await idOf(other.platform, bob.email)).not.toBe(await idOf(one.platform, ada.email))
})

test('a user can have a configured id, also in upper case', async () => {
  const { platform } = await platformOf({ users: [{ ...ada, id: adasId.toUpperCase() }] })
  expect((await signIn(platform, ada)).id).toBe(adasId)
})

test.each(ways)('a password changed in the configuration works after a %s, and the old one does not', async way => {
  const scene = await platformOf({ ...inFile, users: [ada, bob] })
  const [before, bystander] = [await signIn(scene.platform, ada), await signIn(scene.platform, bob)]
  const changed = { ...ada, password: 'staple-battery' }
  await scene[way]({ ...inFile, users: [changed, bob] })
  expect(await entry(scene.platform, ada)).toBe('invalid_credentials')
  expect(await answerOf(scene.platform, before.token)).toBe(sentences.ended)
  expect(await refreshed(scene.platform, before)).toBe('refresh_token_not_found')
  expect((await signIn(scene.platform, changed)).id).toBe(before.id)
  expect(await answerOf(scene.platform, bystander.token)).toBe('open')
})

test.each(ways)('a password changed in the app survives a %s, and so does the session', async way => {
  const options = { ...inFile, users: [ada], apiKeys: [hers] }
  const scene = await platformOf(options)
  const { client, token } = await signIn(scene.platform, ada)
  expect((await client.auth.updateUser({ password: 'of-her-own', data: { theme: 'dark' } })).error).toBeNull()
  await scene[way](options)
  expect(await entry(scene.platform, ada)).toBe('invalid_credentials')
  expect(await entry(scene.platform, { ...ada, password: 'of-her-own' })).toBe('in')
  expect(await answerOf(scene.platform, token)).toBe('open')
  expect((await userNamed(scene.platform, ada.email))?.user_metadata).toMatchObject({ theme: 'dark' })
})

test.each(ways)("a user's changes from the app survive a %s until the user's own seed changes", async way => {
  const scene = await platformOf({ ...inFile, users: [ada, bob] })
  const { client } = await signIn(scene.platform, ada)
  await client.auth.updateUser({ password: 'of-her-own' })
  await scene[way]({ ...inFile, users: [{ ...bob, user_metadata: { name: 'Bob' } }, ada] })
  expect(await entry(scene.platform, { ...ada, password: 'of-her-own' })).toBe('in')
  await scene[way]({ ...inFile, users: [bob, { ...ada, user_metadata: { name: 'Ada' } }] })
  expect(await entry(scene.platform, ada)).toBe('in')
})

test("an unconfirmed user is refused with Supabase's error code until the configuration confirms them", async () => {
  const { platform, reload } = await platformOf({ users: [{ ...ada, confirmed: false }] })
  expect(await entry(platform, ada)).toBe('email_not_confirmed')
  await reload({ users: [ada] })
  expect(await entry(platform, ada)).toBe('in')
})

test.each(['+4791234567', '4791234567'])(
  'a user with the phone number %s signs in with and without the plus',
  async phone => {
    const { platform } = await platformOf({ ...withPhones, users: [{ ...phil, phone }] })
    expect(await entry(platform, { ...phil, phone: '+4791234567' })).toBe('in')
    expect(await entry(platform, { ...phil, phone: '4791234567' })).toBe('in')
  },
)

test('a user with an unconfirmed phone number is refused as well', async () => {
  const { platform } = await platformOf({ ...withPhones, users: [{ ...phil, confirmed: false }] })
  expect(await entry(platform, phil)).toBe('phone_not_confirmed')
})

test('a user without a password cannot sign in with any password', async () => {
  const { platform } = await platformOf({ users: [{ email: ada.email }] })
  expect(await entry(platform, { ...ada, password: 'anything' })).toBe('invalid_credentials')
  expect(await entry(platform, { ...ada, password: '' })).not.toBe('in')
})

test('user_metadata and app_metadata with providers are in the token and in the user', async () => {
  const seed = { ...ada, phone: '+4798765432', user_metadata: { name: 'Ada' }, app_metadata: { plan: 'pro' } }
  const { platform } = await platformOf({ users: [seed] })
  const { token } = await signIn(platform, ada)
  const both = {
    user_metadata: { name: 'Ada' },
    app_metadata: { plan: 'pro', provider: 'email', providers: ['email', 'phone'] },
  }
  expect(claimsOf(token)).toMatchObject({ ...both, phone: '4798765432' })
  expect(await userNamed(platform, ada.email)).toMatchObject(both)
})

test("an app's own role is in the token, but the platform refuses it", async () => {
  const { platform } = await platformOf({ users: [{ ...ada, role: 'editor' }] })
  const { token } = await signIn(platform, ada)
  expect(claimsOf(token)).toMatchObject({ role: 'editor' })
  expect(await answerOf(platform, token)).toBe(sentences.noRole)
})

const duplicates: readonly (readonly [string, ConfigInput, string])[] = [
  [
    'an e-mail address',
    { users: [ada, { ...bob, email: ada.email }] },
    mustBeSuch('users', 'a list without duplicate emails'),
  ],
  [
    'an e-mail address in capitals',
    { users: [ada, { ...bob, email: 'ADA@Example.com' }] },
    mustBeSuch('users', 'a list without duplicate emails'),
  ],
  [
    'a phone number',
    { users: [phil, { ...ada, phone: phil.phone }] },
    mustBeSuch('users', 'a list without duplicate phones'),
  ],
  [
    'a phone number without the plus',
    { users: [phil, { phone: '4791234567' }] },
    mustBeSuch('users', 'a list without duplicate phones'),
  ],
  [
    'an id',
    {
      users: [
        { ...ada, id: adasId },
        { ...bob, id: adasId.toUpperCase() },
      ],
    },
    mustBeSuch('users', 'a list without duplicate ids'),
  ],
  [
    'the id of a key',
    {
      apiKeys: [
        { ...nobodys, id: adasId },
        { name: 'b', key: 'b', id: adasId.toUpperCase() },
      ],
    },
    mustBeSuch('apiKeys', 'a list without duplicate ids'),
  ],
]

test.each(duplicates)('%s that is configured twice is reported with its line', async (_what, options, sentence) => {
  const { code, stdout, stderr } = await run(['config', 'check'], { files: written(options) })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toBe(`platform.config.yaml:3:3: ${sentence}.\n`)
})

test('a key with an unknown owner is reported with its line, and never with the key', async () => {
  const yaml = `users:\n  - email: ada@example.com\napiKeys:\n  - name: hers\n    key: ${hers.key}\n    user: eve@example.com\n`
  const { code, stderr } = await runInProcess(['dev', '--port', '0'], { files: { 'platform.config.yaml': yaml } })
  expect([code, stderr]).toEqual([
    2,
    'platform.config.yaml:6:5: apiKeys[0].user is eve@example.com, but no user in users has this email.\n',
  ])
})

test('`standin config check` refuses an email address that sign-up would refuse', async () => {
  const email = `ada@${'x'.repeat(64)}.com`
  const { code, stderr } = await run(['config', 'check'], { files: written({ users: [{ email }] }) })
  expect([code, stderr]).toEqual([2, expect.stringContaining(mustBeSuch('users[0].email', 'an email address'))])
})

test.each(ways)('two users who swap their email addresses keep their ids after a %s', async way => {
  const [first, second] = [
    { ...ada, phone: '4791111111', id: adasId },
    { ...bob, phone: '4792222222', id: bobsId },
  ]
  const scene = await platformOf({ ...inFile, users: [first, second] })
  const swapped = [
    { ...first, email: second.email, phone: second.phone },
    { ...second, email: first.email, phone: first.phone },
  ]
  await scene[way]({ ...inFile, users: swapped })
  expect((await signIn(scene.platform, { ...ada, email: bob.email })).id).toBe(adasId)
  expect((await signIn(scene.platform, { ...bob, email: ada.email })).id).toBe(bobsId)
  expect(await entry(scene.platform, ada)).toBe('invalid_credentials')
})

test.each(ways)(
  'a new user with the former email address of another user gets a separate account after a %s',
  async way => {
    const scene = await platformOf({ ...inFile, users: [{ ...ada, id: adasId }] })
    const moved = { ...ada, id: adasId, email: 'countess@example.com' }
    await scene[way]({ ...inFile, users: [moved, { ...bob, id: bobsId, email: ada.email }] })
    expect(await idOf(scene.platform, moved.email)).toBe(adasId)
    expect(await idOf(scene.platform, ada.email)).toBe(bobsId)
  },
)

test.each(ways)('a user who signed up becomes the configured user with the same email after a %s', async way => {
  const scene = await platformOf({ ...inFile, users: [bob] })
  const early = await signUp(scene.platform, ada.email, 'an-early-password')
  await scene[way]({ ...inFile, users: [bob, ada], apiKeys: [hers] })
  expect(await entry(scene.platform, { ...ada, password: 'an-early-password' })).toBe('invalid_credentials')
  expect(await answerOf(scene.platform, early.token)).toBe(sentences.ended)
  const now = await signIn(scene.platform, ada)
  expect(now.id).toBe(early.id)
  expect((await dashboardOf(scene.platform, now).keys()).map(({ name }) => name)).toEqual(['hers'])
})

test.each(ways)(
  'a user who signed up and was then configured keeps later changes from the app after a %s',
  async way => {
    const scene = await platformOf({ ...inFile, users: [bob] })
    await signUp(scene.platform, ada.email, 'an-early-password')
    const options = { ...inFile, users: [bob, ada] }
    await scene.restart(options)
    const { client, token } = await signIn(scene.platform, ada)
    await client.auth.updateUser({ password: 'of-her-own' })
    await scene[way](options)
    expect(await answerOf(scene.platform, token)).toBe('open')
    expect(await entry(scene.platform, { ...ada, password: 'of-her-own' })).toBe('in')
  },
)

/** A configured user moves to an email address that another user has signed up with. */
const moves = {
  before: { ...inFile, users: [{ ...ada, id: adasId }] },
  after: { ...inFile, users: [{ ...bob, id: adasId }] },
}

test('a conflicting seed is reported in one sentence, and the state still opens with the old configuration', async () => {
  const scene = await platformOf(moves.before)
  const other = await signUp(scene.platform, bob.email, 'not-the-seeds-one')
  expect(await complaintOf(scene.restart(moves.after))).toMatch(
    /^ProblemsError: platform\.config\.yaml:4: users and apiKeys conflict .* bob@example\.com belongs to another user, [\da-f-]{36}\.$/,
  )
  await scene.restart(moves.before)
  expect((await signIn(scene.platform, ada)).id).toBe(adasId)
  expect(await answerOf(scene.platform, other.token)).toBe('open')
})

test('on the command line a conflicting seed is one line without a stack, and the exit code is 2', async () => {
  const scene = await platformOf(moves.before)
  await signUp(scene.platform, bob.email)
  await scene.platform.stop()
  writeInto(scene.dir, { 'changed.yaml': JSON.stringify({ port: 0, ...moves.after }) })
  const { code, stdout, stderr } = await runInProcess(['dev', '--config', path.join(scene.dir, 'changed.yaml')])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/changed\.yaml:\d+: users and apiKeys conflict [^\n]+\n$/)
  expect(stderr).not.toContain(bob.password)
})

test('a reload with a conflicting seed changes nothing at all', async () => {
  const scene = await platformOf({ ...withPhones, ...moves.before, apiKeys: [nobodys] })
  const [person, other] = [await signIn(scene.platform, ada), await signUp(scene.platform, bob.email)]
  const phils = { ...phil, id: bobsId }
  const bad = {
    ...inFile,
    version: '9.9.9',
    users: [phils, ...moves.after.users],
    apiKeys: [{ name: 'new', key: 'sk-new' }],
  }
  expect(await complaintOf(scene.reload(bad))).toContain('conflict with')
  expect(await answerOf(scene.platform, person.token)).toBe('open')
  expect(await answerOf(scene.platform, other.token)).toBe('open')
  expect(await answerOf(scene.platform, nobodys.key)).toBe('open')
  expect(await answerOf(scene.platform, 'sk-new')).toBe(sentences.unknownKey)
  expect(await entry(scene.platform, phil)).toBe('invalid_credentials')
  expect(await (await fetch(`${scene.platform.url}/health`)).json()).toMatchObject({ version: '1.0.0' })
})

test('a reload with invalid rules does not change users or keys either', async () => {
  const scene = await platformOf({ users: [ada], apiKeys: [nobodys] })
  const files = { 'fixtures/replies/a.yaml': '- nonsense: true\n' }
  await expect(scene.reload({ users: [bob], apiKeys: [] }, files)).rejects.toThrow('a.yaml')
  expect(await entry(scene.platform, bob)).toBe('invalid_credentials')
  expect(await answerOf(scene.platform, nobodys.key)).toBe('open')
})

test('requests during a reload see a user either before or after it, never in between', async () => {
  const scene = await platformOf({ ...inFile, users: [{ ...ada, id: adasId }] })
  const seen = new Set<string | undefined>()
  let over = false
  let asked = 0
  const look = async () => {
    while (!over) {
      seen.add((await adminOf(scene.platform).getUserById(adasId)).data.user?.email)
      asked++
    }
  }
  const looking = [look(), look()]
  await vi.waitFor(() => expect(asked).toBeGreaterThan(5), { timeout: 20_000 })
  for (const email of ['countess@example.com', ada.email, 'lovelace@example.com']) {
    await scene.reload({ ...inFile, users: [{ ...ada, id: adasId, email }] })
  }
  over = true
  await Promise.all(looking)
  expect([...seen].sort()).not.toContain(undefined)
  for (const email of seen) expect(['countess@example.com', ada.email, 'lovelace@example.com']).toContain(email)
})

test.each(ways)(
  'the development user exists while no users are configured, and is removed by a %s with users',
  async way => {
    const scene = await platformOf(inFile)
    const { token } = await signIn(scene.platform, developmentUser)
    await scene[way]({ ...inFile, users: [ada] })
    expect(await entry(scene.platform, developmentUser)).toBe('invalid_credentials')
    expect(await answerOf(scene.platform, token)).toBe(sentences.ended)
    expect(await idOf(scene.platform, developmentUser.email)).toBeUndefined()
    await scene[way](inFile)
    expect(await entry(scene.platform, developmentUser)).toBe('in')
  },
)

test('an empty list of users means no users', async () => {
  const { platform } = await platformOf({ users: [] })
  expect((await adminOf(platform).listUsers()).data.users).toEqual([])
})

test.each(ways)("a configured user with the development user's email and another id exists after a %s", async way => {
  const scene = await platformOf(inFile)
  const own = { ...developmentUser, id: adasId, password: 'one-of-our-own' }
  await scene[way]({ ...inFile, users: [own] })
  expect(await entry(scene.platform, own)).toBe('in')
})

test.each(ways)('a configured user who was hard-deleted exists again after a %s, with the same id', async way => {
  const options = { ...inFile, users: [ada], apiKeys: [hers] }
  const scene = await platformOf(options)
  const { id, token } = await signIn(scene.platform, ada)
  await adminOf(scene.platform).deleteUser(id)
  expect(await entry(scene.platform, ada)).toBe('invalid_credentials')
  await scene[way](options)
  expect((await signIn(scene.platform, ada)).id).toBe(id)
  expect(await answerOf(scene.platform, token)).toBe(sentences.ended)
  expect(await answerOf(scene.platform, hers.key)).toBe('open')
})

test.each(ways)('a configured user who was soft-deleted stays deleted after a %s', async way => {
  const options = { ...inFile, users: [ada], apiKeys: [hers] }
  const scene = await platformOf(options)
  const { id } = await signIn(scene.platform, ada)
  await adminOf(scene.platform).deleteUser(id, true)
  await scene[way](options)
  expect(await entry(scene.platform, ada)).toBe('invalid_credentials')
  expect(await answerOf(scene.platform, hers.key)).toBe(sentences.ownerless)
})

test.each(ways)('a ban survives a %s', async way => {
  const options = { ...inFile, users: [ada] }
  const scene = await platformOf(options)
  const { id, token } = await signIn(scene.platform, ada)
  await adminOf(scene.platform).updateUserById(id, { ban_duration: '1h' })
  await scene[way](options)
  expect(await entry(scene.platform, ada)).toBe('user_banned')
  expect(await answerOf(scene.platform, token)).toBe(sentences.barred)
})

test.each(ways)('a user who is no longer configured still exists after a %s', async way => {
  const scene = await platformOf({ ...inFile, users: [ada, bob] })
  await scene[way]({ ...inFile, users: [bob] })
  expect(await entry(scene.platform, ada)).toBe('in')
})

test.each(ways)('after a %s a key is listed only for its owner, with its expiry', async way => {
  const options = { ...inFile, users: [ada], apiKeys: [{ ...hers, expiresAt: '2100-01-01' }, nobodys] }
  const scene = await platformOf(options)
  const dashboard = dashboardOf(scene.platform, await signIn(scene.platform, ada))
  const listed = await dashboard.keys()
  expect(listed).toMatchObject([{ name: 'hers', state: 'active', expires_at: '2100-01-01T00:00:00.000Z' }])
  await scene[way](options)
  const after = dashboardOf(scene.platform, await signIn(scene.platform, ada))
  expect((await after.keys()).map(({ id }) => id)).toEqual(listed.map(({ id }) => id))
  for (const { key } of [hers, nobodys]) expect(await answerOf(scene.platform, key)).toBe('open')
})

test.each(ways)('a key moved to another user by a %s is in their list, and depends only on them', async way => {
  const scene = await platformOf({ ...inFile, users: [ada, bob], apiKeys: [hers] })
  await scene[way]({ ...inFile, users: [ada, bob], apiKeys: [{ ...hers, user: bob.email }] })
  const [adas, bobs] = [await signIn(scene.platform, ada), await signIn(scene.platform, bob)]
  expect(await dashboardOf(scene.platform, adas).keys()).toEqual([])
  expect(await dashboardOf(scene.platform, bobs).keys()).toMatchObject([{ name: 'hers' }])
  await adminOf(scene.platform).deleteUser(adas.id)
  expect(await answerOf(scene.platform, hers.key)).toBe('open')
  await adminOf(scene.platform).updateUserById(bobs.id, { ban_duration: '1h' })
  expect(await answerOf(scene.platform, hers.key)).toBe(sentences.ownerless)
})

test.each(ways)(
  'a key revoked in the configuration is refused after a %s, and works again once that is undone',
  async way => {
    const scene = await platformOf({ ...inFile, apiKeys: [nobodys] })
    for (const [revoked, answer] of [
      [true, sentences.revokedKey],
      [false, 'open'],
      [true, sentences.revokedKey],
    ] as const) {
      await scene[way]({ ...inFile, apiKeys: [{ ...nobodys, revoked }] })
      expect(await answerOf(scene.platform, nobodys.key)).toBe(answer)
    }
  },
)

test.each(ways)(
  'a key revoked on the dashboard stays revoked after a %s, whatever the configuration says',
  async way => {
    const options = { ...inFile, users: [ada], apiKeys: [hers] }
    const scene = await platformOf(options)
    await dashboardOf(scene.platform, await signIn(scene.platform, ada)).revoke('hers')
    for (const more of [{}, { revoked: true }, { revoked: false, expiresAt: '2100-01-01' }]) {
      await scene[way]({ ...options, apiKeys: [{ ...hers, ...more }] })
      expect(await answerOf(scene.platform, hers.key)).toBe(sentences.revokedKey)
    }
  },
)

test.each(ways)(
  'a key that is no longer configured is refused after a %s; keys from the dashboard still work',
  async way => {
    const scene = await platformOf({ ...inFile, users: [ada], apiKeys: [hers, nobodys] })
    const { key } = await dashboardOf(scene.platform, await signIn(scene.platform, ada)).create('another')
    await scene[way]({ ...inFile, users: [ada], apiKeys: [] })
    expect(await answerOf(scene.platform, nobodys.key)).toBe(sentences.unknownKey)
    expect(await answerOf(scene.platform, key)).toBe('open')
  },
)

test('a key can take over the id of one that is no longer configured', async () => {
  const scene = await platformOf({ ...inFile, users: [ada], apiKeys: [{ ...hers, id: adasId }] })
  await scene.reload({ ...inFile, users: [ada], apiKeys: [{ ...hers, id: adasId, key: 'sk-local-the-next' }] })
  const dashboard = dashboardOf(scene.platform, await signIn(scene.platform, ada))
  expect(await dashboard.keys()).toMatchObject([{ id: adasId, name: 'hers' }])
  expect(await answerOf(scene.platform, hers.key)).toBe(sentences.unknownKey)
  expect(await answerOf(scene.platform, 'sk-local-the-next')).toBe('open')
})

test('neither the state file nor an error contains passwords or keys', async () => {
  const users = [
    { ...ada, id: adasId },
    { ...phil, confirmed: false },
  ]
  const scene = await platformOf({ ...inFile, users, apiKeys: [hers, nobodys] })
  await signUp(scene.platform, bob.email, 'not-the-seeds-one')
  const said = await complaintOf(scene.reload({ ...inFile, users: [{ ...bob, id: adasId }], apiKeys: [nobodys] }))
  const secrets = [ada.password, phil.password, bob.password, hers.key, nobodys.key]
  const folder = path.join(scene.dir, 'kept')
  const bytes = readdirSync(folder)
    .map(name => readFileSync(path.join(folder, name), 'latin1'))
    .join('')
  expect(bytes).toContain(ada.email)
  for (const secret of secrets)
    expect([secret, bytes.includes(secret), said.includes(secret)]).toEqual([secret, false, false])
})

test.each([
  ['a password that is a number', { email: ada.email, password: 8_675_309 }, '8675309'],
  ['a password that is too long', { email: ada.email, password: 'sesame-'.repeat(12) }, 'sesame'],
  ['a password of a user without an email or phone', { password: 'open-sesame' }, 'sesame'],
])('%s is not repeated in the error', async (_what, user, secret) => {
  const files = { 'platform.config.yaml': JSON.stringify({ users: [user] }) }
  const { code, stdout, stderr } = await runInProcess(['dev', '--port', '0'], { files })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^platform\.config\.yaml:1:\d+: users\[0\]\./)
  expect(stderr).not.toContain(secret)
})

test('dev does not print the passwords of configured users', async () => {
  const command = start(['dev', '--port', '0', '--state', 'memory'], {
    files: written({ users: [ada, bob], apiKeys: [nobodys] }),
  })
  await command.stdout.next('State')
  for (const { password } of [ada, bob]) expect(command.stdout.text).not.toContain(password)
})
