import { expect, onTestFinished, test } from 'vitest'
import { openState } from '../../src/state/index.js'
import type { Backend } from '../../src/supabase/backend.js'
import { startSession } from '../../src/supabase/sessions.js'
import { newUser } from '../../src/supabase/users.js'

test('when a user has more than 1,000 sessions, the least recently used one ends, with its refresh token', async () => {
  const state = await openState('memory', { dir: '.' })
  onTestFinished(() => state.close())
  let nowMs = 0
  const backend = { now: () => nowMs } as Backend
  const ada = newUser(new Date(0).toISOString(), { email: 'ada@example.com' })
  const bob = newUser(new Date(0).toISOString(), { email: 'bob@example.com' })
  await state.write(async tables => {
    for (const user of [ada, bob]) await tables.users.insert(user)
    await startSession(backend, tables, bob, 'password')
  })
  const { ids, open, tokens } = await state.write(async tables => {
    const ids: string[] = []
    for (nowMs = 1; nowMs <= 1001; nowMs++) {
      ids.push((await startSession(backend, tables, ada, 'password')).session.id)
      // The first one stays in use.
      await tables.sessions.update(ids[0] ?? '', { refreshed_at: new Date(nowMs).toISOString() })
    }
    const rows = await tables.sessions.find({})
    return { ids, open: new Set(rows.map(({ id }) => id)), tokens: await tables.refresh_tokens.count({}) }
  })
  expect(ids.filter(id => !open.has(id))).toEqual([ids[1]])
  expect([open.size, tokens]).toEqual([1001, 1001])
})
