import { createClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import ws from 'ws'
import { platformWith } from '../scene.js'

/** A platform whose developer has just asked to reset the password. */
async function afterRecovery() {
  const platform = await platformWith({ auth: { testOtp: '123456' } })
  const { auth } = createClient(platform.authUrl, platform.anonKey, { realtime: { transport: ws as never } })
  const { error } = await auth.resetPasswordForEmail('developer@example.com')
  expect(error).toBeNull()
  return { ...platform, auth }
}

const messagesIn = async (response: Response) =>
  ((await response.json()) as { data: readonly { id: string; recipient: string; code: string; link: string }[] }).data

test('the outbox holds the unsent email, with its code and its link', async () => {
  const { ask, url } = await afterRecovery()
  const response = await ask('/__standin/outbox', { bearer: null })
  expect(response.status).toBe(200)
  const data = await messagesIn(response)
  expect(data).toHaveLength(1)
  expect(data[0]).toMatchObject({ kind: 'recovery', recipient: 'developer@example.com', code: '123456' })
  expect(data[0]?.link).toContain(`${url}/auth/v1/verify?`)
})

test('the newest message comes first, even while the clock is frozen or moved back', async () => {
  const { ask, auth, clock } = await afterRecovery()
  const outbox = async (query = '') => messagesIn(await ask(`/__standin/outbox${query}`, { bearer: null }))
  const send = (email: string) => auth.signInWithOtp({ email })
  const [first] = await outbox()
  clock.freeze()
  await send('one@example.com')
  await send('two@example.com')
  clock.advance(-60_000)
  await send('three@example.com')
  const later = await outbox(`?after=${first?.id}`)
  expect(later.map(({ recipient }) => recipient)).toEqual(['three@example.com', 'two@example.com', 'one@example.com'])
})

test('the outbox finds a phone number with and without its plus', async () => {
  const { ask, auth } = await afterRecovery()
  await auth.signInWithOtp({ phone: '+15550100200' })
  for (const search of ['+1555', '1555', '+1 555 010 0200']) {
    const response = await ask(`/__standin/outbox?search=${encodeURIComponent(search)}`, { bearer: null })
    expect((await messagesIn(response)).map(({ recipient }) => recipient)).toEqual(['15550100200'])
  }
})

test('DELETE empties the outbox', async () => {
  const { ask } = await afterRecovery()
  expect((await ask('/__standin/outbox', { method: 'DELETE', bearer: null })).status).toBe(204)
  expect(await (await ask('/__standin/outbox', { bearer: null })).json()).toEqual({ data: [], total: 0 })
})
