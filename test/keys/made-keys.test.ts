import { expect, onTestFinished, test, vi } from 'vitest'
import { authenticatorAt, inMs, noon } from './authenticator.js'
import { sentences } from './people.js'

const forever = { name: 'forever', expiresAt: null }

test('a secret is returned only once, and nothing but the exact secret is accepted', async () => {
  const { apiKeys, answerTo, user } = await authenticatorAt()
  const { id } = await user()
  const { key, ...shown } = await apiKeys.create(id, forever)
  expect(await apiKeys.list(id)).toEqual([shown])
  expect(JSON.stringify(shown)).not.toContain(key.slice(13))
  for (const near of [key.slice(0, -1), `${key}x`, key.toLowerCase(), shown.start, shown.id]) {
    expect(await answerTo(near)).toBe(sentences.unknownKey)
  }
})

test('a valid key is looked up once, and then works without the state', async () => {
  const { apiKeys, answerTo, gate, user } = await authenticatorAt()
  const { id } = await user()
  const { key } = await apiKeys.create(id, forever)
  expect(await answerTo(key)).toBe('apiKey')
  gate.fail(new Error('The state is away.'))
  expect(await answerTo(key)).toBe('apiKey')
})

test('a key that is revoked while it is being looked up is not cached', async () => {
  const { apiKeys, answerTo, gate, user } = await authenticatorAt()
  const { id } = await user()
  const doomed = await apiKeys.create(id, forever)
  gate.close()
  const asking = answerTo(doomed.key)
  await gate.reached
  const revoking = apiKeys.revoke(id, doomed.id)
  await revoking
  gate.open()
  // It was valid when it was looked up.
  expect(await asking).toBe('apiKey')
  expect(await answerTo(doomed.key)).toBe(sentences.revokedKey)
})

test('a token whose session ends while it is being looked up is not cached', async () => {
  const { answerTo, gate, sessionOf, user, write } = await authenticatorAt()
  const { id, token } = await sessionOf(await user())
  // The first read finds out that it is no API key.
  gate.close(1)
  const asking = answerTo(token)
  await gate.reached
  await write(({ sessions }) => sessions.remove({ id }))
  gate.open()
  expect(await asking).toBe('user')
  expect(await answerTo(token)).toBe(sentences.ended)
})

test('uses of keys are written later, many in one transaction', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { apiKeys, answerTo, at, read, user, writes } = await authenticatorAt()
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

test.each([['a key', 'sk-local-any']])(
  'when the state cannot be read, %s is not refused as unknown',
  async (_what, key) => {
    const { answerTo, gate } = await authenticatorAt()
    gate.fail(new Error('The database is away.'))
    expect(await answerTo(key)).toBe('The database is away.')
  },
)
