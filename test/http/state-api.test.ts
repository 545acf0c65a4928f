import request from 'supertest'
import { expect, test } from 'vitest'
import { developmentApiKey, developmentUser } from '../../src/core/secrets.js'
import type { StateDocument } from '../../src/state/document.js'
import { adminOf, answerOf, sentences, signIn, signUp } from '../keys/people.js'
import { platformWith, type Scene } from '../scene.js'
import { mustBe, tooLarge } from '../sentences.js'

const ada = { email: 'ada@example.com', password: 'a password that nobody guesses' }

const exportState = async ({ url }: Pick<Scene, 'url'>): Promise<StateDocument> => {
  const { status, body } = await request(url).get('/__standin/state')
  expect(status).toBe(200)
  return body
}

const importState = async ({ url }: Pick<Scene, 'url'>, document: unknown) => {
  const response = await request(url)
    .put('/__standin/state')
    .set('content-type', 'application/json')
    .send(JSON.stringify(document))
  return { status: response.status, body: response.body }
}

const done = { status: 204, body: {} }

test('the state of a platform is exported as one document, without passwords or usable keys', async () => {
  const platform = await platformWith({ users: [ada] })
  const { id } = await signIn(platform, ada)
  await signUp(platform, 'bob@example.com')
  const document = await exportState(platform)
  expect(document).toMatchObject({
    version: 1,
    api_keys: [{ start: expect.stringMatching(/^sk-local-/) }],
    messages: [],
  })
  expect(document.users.map(({ email }) => email).sort()).toEqual(['ada@example.com', 'bob@example.com'])
  expect(document.sessions).toHaveLength(2)
  expect(document.sessions.map(({ user_id }) => user_id)).toContain(id)
  const text = JSON.stringify(document)
  for (const secret of [ada.password, developmentApiKey]) expect(text).not.toContain(secret)
})

test('importing an earlier state undoes everything since then', async () => {
  const platform = await platformWith({ users: [ada] })
  const person = await signIn(platform, ada)
  const before = await exportState(platform)

  const newcomer = await signUp(platform, 'bob@example.com')
  await person.client.auth.updateUser({ password: 'another password', data: { name: 'Ada' } })
  await adminOf(platform).deleteUser(person.id)
  expect(await answerOf(platform, person.token)).toBe(sentences.ended)

  expect(await importState(platform, before)).toEqual(done)
  expect(await exportState(platform)).toEqual(before)
  expect(await answerOf(platform, newcomer.token)).toBe(sentences.ended)
  expect(await answerOf(platform, person.token)).toBe('open')
  expect((await person.client.auth.refreshSession({ refresh_token: person.refreshToken })).error).toBeNull()
  expect((await signIn(platform, ada)).id).toBe(person.id)
})

test('the use of a key is exported immediately, and is not written again after an import', async () => {
  const platform = await platformWith()
  await platform.ask('/v1/models')
  const used = await exportState(platform)
  expect(used.api_keys[0]?.last_used_at).not.toBeNull()
  const unused = { ...used, api_keys: used.api_keys.map(key => ({ ...key, last_used_at: null })) }
  await platform.ask('/v1/models')
  expect(await importState(platform, unused)).toEqual(done)
  expect(await exportState(platform)).toEqual(unused)
})

test('a state can be moved from one platform to another, with its users, their passwords and their keys', async () => {
  const [from, to] = [await platformWith({ apiKeys: [{ name: 'ci', key: 'sk-ci' }] }), await platformWith()]
  await signUp(from, ada.email, ada.password)
  expect(await importState(to, await exportState(from))).toEqual(done)
  expect((await signIn(to, ada)).email).toBe(ada.email)
  expect(await answerOf(to, 'sk-ci')).toBe('open')
  expect(await answerOf(to, developmentApiKey)).toBe(sentences.unknownKey)
})

test('importing a document without users removes all users', async () => {
  const platform = await platformWith()
  const { token } = await signIn(platform, developmentUser)
  expect(await answerOf(platform, token)).toBe('open')
  const { version } = await exportState(platform)
  const tables = ['users', 'sessions', 'refresh_tokens', 'one_time_tokens', 'flow_states', 'api_keys', 'messages']
  const empty = { version, ...Object.fromEntries(tables.map(name => [name, []])) }
  expect(await importState(platform, empty)).toEqual(done)
  expect(await answerOf(platform, token)).toBe(sentences.ended)
  await expect(signIn(platform, developmentUser)).rejects.toMatchObject({ code: 'invalid_credentials' })
})

test('an invalid document is refused with the reason, and changes nothing', async () => {
  const platform = await platformWith({ users: [ada] })
  const { token } = await signIn(platform, ada)
  const before = await exportState(platform)
  const [user] = before.users
  expect(await importState(platform, { ...before, users: [user, { ...user, id: 'b' }] })).toEqual({
    status: 400,
    body: { error: 'users[1].email must not be that of users[0].' },
  })
  expect(await importState(platform, { ...before, users: [{ ...user, banned_until: 'soon' }] })).toEqual({
    status: 400,
    body: {
      error: mustBe('users[0].banned_until', 'a moment such as 2030-01-31T12:00:00.000Z, or null', 'soon'),
    },
  })
  expect(await exportState(platform)).toEqual(before)
  expect(await answerOf(platform, token)).toBe('open')
})

test('a state may be larger than other requests, up to a limit', async () => {
  const platform = await platformWith({ users: [ada] })
  const before = await exportState(platform)
  const long = before.users.map(user => ({ ...user, user_metadata: { text: 'long '.repeat(400_000) } }))
  expect(await importState(platform, { ...before, users: long })).toEqual(done)
  const response = await fetch(`${platform.url}/__standin/state`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: ' '.repeat(8_388_609),
  })
  expect([response.status, await response.json()]).toEqual([413, { error: tooLarge(8388608) }])
})

test.each([
  ['invalid JSON', '{', /^The request body is not valid JSON/],
  ['an empty body', '', / body is empty/],
])('%s is refused as a state', async (_what, body, sentence) => {
  const { url } = await platformWith()
  const response = await request(url).put('/__standin/state').set('content-type', 'application/json').send(body)
  expect([response.status, response.body]).toEqual([400, { error: expect.stringMatching(sentence) }])
})

test('the state API lists its allowed methods, and refuses pages of another origin', async () => {
  const { url } = await platformWith()
  const { status, headers } = await request(url).delete('/__standin/state')
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD, PUT'])
  expect((await request(url).get('/__standin/state').set('Origin', 'http://app.example')).status).toBe(403)
})
