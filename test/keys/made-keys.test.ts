import { expect, onTestFinished, test, vi } from 'vitest'
import { doorAt, inMs, noon } from './door.js'
import { sentences } from './people.js'

const hour = 3_600_000
const forever = { name: 'forever', expiresAt: null }

test('a key that was just made opens the door', async () => {
  const { apiKeys, answerTo, user } = await doorAt()
  const { key } = await apiKeys.create((await user()).id, forever)
  expect(await answerTo(key)).toBe('apiKey')
})

test('a secret is told once, and looked up by nothing but itself', async () => {
  const { apiKeys, answerTo, user } = await doorAt()
  const { id } = await user()
  const { key, ...shown } = await apiKeys.create(id, forever)
  expect(await apiKeys.list(id)).toEqual([shown])
  expect(JSON.stringify(shown)).not.toContain(key.slice(13))
  for (const near of [key.slice(0, -1), `${key}x`, key.toLowerCase(), shown.start, shown.id]) {
    expect(await answerTo(near)).toBe(sentences.unknownKey)
  }
})

test('a key that was revoked is dead on the very next request, although it had just been used', async () => {
  const { apiKeys, answerTo, user } = await doorAt()
  const { id } = await user()
  const doomed = await apiKeys.create(id, forever)
  const other = await apiKeys.create(id, forever)
  expect([await answerTo(doomed.key), await answerTo(doomed.key), await answerTo(other.key)]).toEqual(
    Array(3).fill('apiKey'),
  )
  expect(await apiKeys.revoke(id, doomed.id)).toMatchObject({ state: 'revoked', revoked_at: inMs(0) })
  expect(await answerTo(doomed.key)).toBe(sentences.revokedKey)
  expect(await answerTo(other.key)).toBe('apiKey')
})

test('revoking twice keeps the first moment', async () => {
  const { apiKeys, at, user } = await doorAt()
  const { id } = await user()
  const key = await apiKeys.create(id, forever)
  await apiKeys.revoke(id, key.id)
  at(noon + hour)
  expect(await apiKeys.revoke(id, key.id)).toMatchObject({ revoked_at: inMs(0) })
})

test('a key opens until the moment it expires, and not at that moment, although it is remembered', async () => {
  const { apiKeys, answerTo, at, user } = await doorAt()
  const { key } = await apiKeys.create((await user()).id, { name: 'short', expiresAt: inMs(hour) })
  expect(await answerTo(key)).toBe('apiKey')
  at(noon + hour - 1)
  expect(await answerTo(key)).toBe('apiKey')
  at(noon + hour)
  expect(await answerTo(key)).toBe(sentences.expiredKey)
})

test('only the owner can revoke, roll or see a key', async () => {
  const { apiKeys, answerTo, user } = await doorAt()
  const [ada, eve] = [await user(), await user()]
  const { id, key } = await apiKeys.create(ada.id, forever)
  const configured = await apiKeys.create(null, forever)
  const none = { status: 404, message: 'You have no such API key.' }
  for (const target of [id, configured.id, 'no-such-key', '']) {
    await expect(apiKeys.revoke(eve.id, target)).rejects.toMatchObject(none)
    await expect(apiKeys.roll(eve.id, target, 0)).rejects.toMatchObject(none)
    await expect(apiKeys.roll(eve.id, target, hour)).rejects.toMatchObject(none)
  }
  expect(await apiKeys.list(eve.id)).toEqual([])
  expect([await answerTo(key), await answerTo(configured.key)]).toEqual(['apiKey', 'apiKey'])
})

test('a key that is rolled at once dies, and its successor opens under the same name', async () => {
  const { apiKeys, answerTo, user } = await doorAt()
  const { id } = await user()
  const old = await apiKeys.create(id, forever)
  await answerTo(old.key)
  const next = await apiKeys.roll(id, old.id, 0)
  expect(next).toMatchObject({ name: 'forever', state: 'active' })
  expect(next.key).not.toBe(old.key)
  expect([await answerTo(old.key), await answerTo(next.key)]).toEqual([sentences.revokedKey, 'apiKey'])
})

test('a key that is rolled with an overlap lives on beside its successor, but not for longer', async () => {
  const { apiKeys, answerTo, at, user } = await doorAt()
  const { id } = await user()
  const old = await apiKeys.create(id, forever)
  const next = await apiKeys.roll(id, old.id, hour)
  expect([await answerTo(old.key), await answerTo(next.key)]).toEqual(['apiKey', 'apiKey'])
  at(noon + hour)
  expect([await answerTo(old.key), await answerTo(next.key)]).toEqual([sentences.expiredKey, 'apiKey'])
})

test('a key is rolled once: a second click makes no second successor, and shortens no life', async () => {
  const { apiKeys, user } = await doorAt()
  const { id } = await user()
  const old = await apiKeys.create(id, forever)
  const next = await apiKeys.roll(id, old.id, hour)
  await expect(apiKeys.roll(id, old.id, 0)).rejects.toMatchObject({ status: 409 })
  expect((await apiKeys.list(id)).map(({ id, expires_at }) => [id, expires_at])).toEqual(
    expect.arrayContaining([
      [next.id, null],
      [old.id, inMs(hour)],
    ]),
  )
})

test('an overlap never gives a key more time than it had', async () => {
  const { apiKeys, answerTo, at, user } = await doorAt()
  const { id } = await user()
  const old = await apiKeys.create(id, { name: 'short', expiresAt: inMs(hour) })
  const next = await apiKeys.roll(id, old.id, 5 * hour)
  at(noon + hour)
  expect(await answerTo(old.key)).toBe(sentences.expiredKey)
  expect(await answerTo(next.key)).toBe(sentences.expiredKey)
})

test('a successor lives as long from its own beginning as the first one did', async () => {
  const { apiKeys, at, user } = await doorAt()
  const { id } = await user()
  const old = await apiKeys.create(id, { name: 'short', expiresAt: inMs(hour) })
  at(noon + hour / 2)
  expect(await apiKeys.roll(id, old.id, 0)).toMatchObject({ expires_at: inMs(1.5 * hour) })
})

test('a key that was revoked cannot be rolled back to life', async () => {
  const { apiKeys, user } = await doorAt()
  const { id } = await user()
  const old = await apiKeys.create(id, forever)
  await apiKeys.revoke(id, old.id)
  await expect(apiKeys.roll(id, old.id, hour)).rejects.toMatchObject({ status: 409 })
  expect(await apiKeys.list(id)).toHaveLength(1)
})

test.each([
  ['deleted', { deleted_at: inMs(0) }],
  ['banned', { banned_until: inMs(hour) }],
])('the keys of a user who is %s are dead on the very next request; those of others live on', async (_how, changes) => {
  const { apiKeys, answerTo, user, write } = await doorAt()
  const [ada, bob] = [await user(), await user()]
  const hers = await apiKeys.create(ada.id, forever)
  const his = await apiKeys.create(bob.id, forever)
  expect([await answerTo(hers.key), await answerTo(his.key)]).toEqual(['apiKey', 'apiKey'])
  await write(({ users }) => users.update(ada.id, changes))
  expect([await answerTo(hers.key), await answerTo(his.key)]).toEqual([sentences.ownerless, 'apiKey'])
})

test('a key whose owner is not there any more opens nothing', async () => {
  const { apiKeys, answerTo, user, write } = await doorAt()
  const ada = await user()
  const { key } = await apiKeys.create(ada.id, forever)
  expect(await answerTo(key)).toBe('apiKey')
  await write(({ users }) => users.remove({ id: ada.id }))
  expect(await answerTo(key)).toBe(sentences.ownerless)
})

test('when a ban is over the key opens again, and not a moment before', async () => {
  const { apiKeys, answerTo, at, user } = await doorAt()
  const { key } = await apiKeys.create((await user({ banned_until: inMs(hour) })).id, forever)
  at(noon + hour - 1)
  expect(await answerTo(key)).toBe(sentences.ownerless)
  at(noon + hour)
  expect(await answerTo(key)).toBe('apiKey')
})

test('a key that is revoked while it is being looked up is not remembered', async () => {
  const { apiKeys, answerTo, gate, user } = await doorAt()
  const { id } = await user()
  const doomed = await apiKeys.create(id, forever)
  gate.close()
  const asking = answerTo(doomed.key)
  await gate.reached
  const revoking = apiKeys.revoke(id, doomed.id)
  await revoking
  gate.open()
  // It was good when it was looked up.
  expect(await asking).toBe('apiKey')
  expect(await answerTo(doomed.key)).toBe(sentences.revokedKey)
})

test('a token whose session ends while it is being looked up is not remembered', async () => {
  const { answerTo, gate, sessionOf, user, write } = await doorAt()
  const { id, token } = await sessionOf(await user())
  gate.close()
  const asking = answerTo(token)
  await gate.reached
  await write(({ sessions }) => sessions.remove({ id }))
  gate.open()
  expect(await asking).toBe('user')
  expect(await answerTo(token)).toBe(sentences.ended)
})

test('a hundred requests at once with one token, and none after its session has ended', async () => {
  const { answerTo, sessionOf, user, write } = await doorAt()
  const { id, token } = await sessionOf(await user())
  const during = Array.from({ length: 100 }, () => answerTo(token))
  await write(({ sessions }) => sessions.remove({ id }))
  const after = Array.from({ length: 100 }, () => answerTo(token))
  for (const answer of await Promise.all(during)) expect(['user', sentences.ended]).toContain(answer)
  expect(new Set(await Promise.all(after))).toEqual(new Set([sentences.ended]))
})

test('a token that is remembered is still refused when its time is over', async () => {
  const { answerTo, at, sessionOf, user } = await doorAt()
  const { token } = await sessionOf(await user())
  expect(await answerTo(token)).toBe('user')
  at(noon + hour)
  expect(await answerTo(token)).toBe(sentences.expired)
})

test('that a key was used is noted at leisure, many times in one go', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { apiKeys, answerTo, at, read, user, writes } = await doorAt()
  const { id } = await user()
  const [one, two] = [await apiKeys.create(id, forever), await apiKeys.create(id, forever)]
  const before = writes()
  for (let i = 0; i < 50; i++) await Promise.all([answerTo(one.key), answerTo(two.key)])
  at(noon + 500)
  await answerTo(one.key)
  expect(writes()).toBe(before)
  // The list shows it at once.
  expect(await apiKeys.list(id)).toContainEqual(expect.objectContaining({ id: one.id, last_used_at: inMs(500) }))
  expect(await read(({ api_keys }) => api_keys.get(one.id))).toMatchObject({ last_used_at: null })

  await vi.advanceTimersByTimeAsync(1000)
  await apiKeys.flush()
  expect(writes()).toBe(before + 1)
  expect(await read(({ api_keys }) => api_keys.get(one.id))).toMatchObject({ last_used_at: inMs(500) })
  expect(await read(({ api_keys }) => api_keys.get(two.id))).toMatchObject({ last_used_at: inMs(0) })
})

test('noting a use does not bring back a key that is gone, nor a remembered one that was revoked', async () => {
  const { apiKeys, answerTo, user, write, read } = await doorAt()
  const { id } = await user()
  const [gone, revoked] = [await apiKeys.create(id, forever), await apiKeys.create(id, forever)]
  await Promise.all([answerTo(gone.key), answerTo(revoked.key)])
  await write(({ api_keys }) => api_keys.remove({ id: gone.id }))
  await apiKeys.revoke(id, revoked.id)
  await apiKeys.flush()
  expect(await read(({ api_keys }) => api_keys.count({}))).toBe(1)
  expect([await answerTo(gone.key), await answerTo(revoked.key)]).toEqual([sentences.unknownKey, sentences.revokedKey])
})

test.each([
  ['a key', 'sk-local-any'],
  ['a key with two dots', 'sk.local.any'],
])('a state that cannot be asked is not taken for %s that is not known', async (_what, key) => {
  const { answerTo, gate } = await doorAt()
  gate.fail(new Error('The database is away.'))
  expect(await answerTo(key)).toBe('The database is away.')
})
