import { expect, onTestFinished, test, vi } from 'vitest'
import type { UsePlatformOptions } from '../../src/test-runner.js'
import { runner } from './runner.js'

/** A file of tests that has begun, in this environment, and what it warned of. */
async function begun(options: UsePlatformOptions, env: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const { platform, run } = runner(options)
  onTestFinished(async () => {
    await run('afterAll')
    warn.mockRestore()
    vi.unstubAllEnvs()
  })
  await run('beforeAll')
  return { platform, end: () => run('afterAll'), warned: warn.mock.calls.map(([sentence]) => sentence) }
}

const live = { NEXT_PUBLIC_SUPABASE_URL: 'https://abc.supabase.co', NEXT_PUBLIC_SUPABASE_ANON_KEY: 'live' }

test('with env: true, the names that the project uses are set, and restored afterwards', async () => {
  const { platform, end, warned } = await begun({ env: true }, live)
  expect(process.env).toMatchObject({
    SUPABASE_URL: platform.url,
    NEXT_PUBLIC_SUPABASE_URL: platform.url,
    NEXT_PUBLIC_SUPABASE_ANON_KEY: platform.anonKey,
  })
  await end()
  expect(process.env).toMatchObject(live)
  expect(warned).toEqual([])
})

const elsewhere = { EDGE_URL: 'https://abc.supabase.co/functions/v1' }

test('names of one’s own are set besides, and what stays elsewhere is a warning', async () => {
  const { platform, warned } = await begun({ env: { MY_URL: 'supabaseUrl' } }, { ...live, ...elsewhere })
  expect(process.env).toMatchObject({ MY_URL: platform.url, NEXT_PUBLIC_SUPABASE_URL: platform.url, ...elsewhere })
  expect(warned).toEqual([
    expect.stringMatching(/^Still at https:\/\/abc\.supabase\.co: EDGE_URL \(the environment\)\n→ /),
  ])
})

test('what is meant to stay is no warning', async () => {
  const { warned } = await begun({ env: { EDGE_URL: 'unchanged' } }, elsewhere)
  expect(warned).toEqual([])
  expect(process.env).toMatchObject(elsewhere)
})
