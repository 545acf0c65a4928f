import { expect, onTestFinished, test } from 'vitest'
import { banner } from '../../src/cli/banner.js'
import { noColors } from '../../src/cli/output.js'
import { developmentPublishableKey, developmentSecretKey } from '../../src/core/secrets.js'
import { environmentFor } from '../../src/environment/index.js'
import { openPlatform } from '../../src/platform.js'
import { version } from '../../src/version.js'

/** A platform without a port, and its banner. */
async function bannerWith(options: object = {}, env: Readonly<Record<string, string>> = {}) {
  const flags = Object.entries({ state: 'memory', ...options }).map(([name, value]) => ({
    path: [name],
    value,
    origin: 'test',
  }))
  const platform = await openPlatform({ cwd: '/', file: false, flags, listen: false })
  onTestFinished(() => platform.stop())
  const environment = environmentFor(platform, { folders: [], env }, () => false)
  return { platform, text: banner(platform, environment, noColors) }
}

test('the banner lists the facts, then an unindented block to copy', async () => {
  const { platform, text } = await bannerWith()
  const { apiKey, anonKey, serviceKey } = platform
  expect(text).toBe(`
  Standin ${version} · mode emulate

  Base URL   http://localhost
  Dashboard  http://localhost/dashboard
  API key    ${apiKey}
  Anon key   ${anonKey}
  Sign in    developer@example.com with password developer
  Config     none, all defaults
  State      memory

  To copy into .env:

PLATFORM_BASE_URL=http://localhost
OPENAI_BASE_URL=http://localhost/v1
OPENAI_API_KEY=${apiKey}
SUPABASE_URL=http://localhost
SUPABASE_ANON_KEY=${anonKey}
SUPABASE_SERVICE_ROLE_KEY=${serviceKey}
SUPABASE_PUBLISHABLE_KEY=${developmentPublishableKey}
SUPABASE_SECRET_KEY=${developmentSecretKey}
`)
})

test('the banner names the options that differ from the defaults, and no secret', async () => {
  const { text } = await bannerWith({
    models: [{ id: 'mine' }],
    strict: true,
    pace: { firstTokenMs: 0, tokensPerSecond: 40 },
    auth: { jwtSecret: 'a-secret-that-nobody-else-knows-0123456789' },
    port: 4321,
  })
  expect(text).toContain('\n  Differs    models, strict true, pace.tokensPerSecond 40, auth.jwtSecret\n')
  expect(text).not.toContain('nobody-else-knows')
})

test('the banner has the names of the project, and says what still points elsewhere', async () => {
  const { text } = await bannerWith({}, { VITE_SUPABASE_URL: 'https://abc.supabase.co' })
  expect(text).toContain('\nVITE_SUPABASE_URL=http://localhost\n')
  expect(text).toContain('\n  Still at https://abc.supabase.co: VITE_SUPABASE_URL (the environment)\n')
})

test('the banner says when no API key works', async () => {
  const { text } = await bannerWith({ apiKeys: [] })
  expect(text).toContain('API key    none is valid')
  expect(text).toContain('\nOPENAI_API_KEY=\n')
})

test.each([
  ['127.1.2.3', undefined],
  ['localhost', undefined],
  ['::1', undefined],
  ['0.0.0.0', 'every address of this machine'],
  ['::', 'every address of this machine'],
  ['192.168.1.5', '192.168.1.5'],
])('listening on %s warns about: %s, and shows the control token that it needs', async (host, where) => {
  const { text } = await bannerWith({ host })
  const [warning] = /Listening on .*/.exec(text) ?? []
  expect(warning).toBe(
    where && `Listening on ${where}: other machines can reach it, and the development keys are public.`,
  )
  expect(/\n {2}Control {4}\S{32} for http:\/\/localhost\/__standin\n/.test(text)).toBe(where !== undefined)
})
