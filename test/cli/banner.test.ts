import { expect, test } from 'vitest'
import { banner } from '../../src/cli/banner.js'
import { createColors } from '../../src/cli/output.js'
import { createViolations } from '../../src/contract/violations.js'
import { createClock } from '../../src/core/clock.js'
import { developmentPublishableKey, developmentSecretKey } from '../../src/core/secrets.js'
import { createFaultCalls } from '../../src/faults/index.js'
import type { Platform } from '../../src/platform.js'
import { createRedact } from '../../src/redact/index.js'
import { loadConfig } from '../configuration.js'
import { journalOfAll, notHere } from '../http/emulating.js'

interface Scene {
  readonly host?: string
  readonly apiKey?: string
  readonly controlToken?: string
}

const bannerWith = ({ host = '127.0.0.1', apiKey = 'sk-1', controlToken = '' }: Scene = {}) => {
  const platform: Platform = {
    url: 'http://127.0.0.1:4100',
    authUrl: 'http://127.0.0.1:4100',
    dashboardUrl: 'http://127.0.0.1:4100/dashboard',
    anonKey: 'anon-1',
    serviceKey: 'service-1',
    apiKey,
    controlToken,
    mode: 'emulate',
    modes: {},
    loaded: loadConfig({ cwd: '.', file: false, flags: [{ path: ['host'], value: host, origin: '--host' }] }),
    textFiles: [],
    journal: journalOfAll(),
    faultCalls: createFaultCalls(),
    failNext: () => {},
    rules: { add: notHere, addSent: notHere, list: () => [], remove: () => 0 },
    reset: async () => {},
    switchMode: () => {},
    receipt: () => undefined,
    violations: createViolations(
      () => {},
      () => createRedact({ names: [], emails: false, patterns: [], known: [] }),
    ),
    misses: () => [],
    onMiss: () => {},
    onMessage: () => {},
    clock: createClock(),
    mintToken: async () => ({ token: '', expires_at: '' }),
    forTests: {} as Platform['forTests'],
    ownPathsAt: () => () => [],
    openApi: async () => ({}),
    reload: async () => {},
    resources: {} as Platform['resources'],
    redact: createRedact({ names: [], emails: false, patterns: [], known: [] }),
    mcp: notHere,
    stop: async () => {},
  }
  return banner(platform, '1.2.3', createColors(false))
}

test('the banner lists the facts, then an unindented block to copy', () => {
  expect(bannerWith()).toBe(`
  Standin 1.2.3 · mode emulate

  Base URL   http://127.0.0.1:4100
  Auth URL   http://127.0.0.1:4100
  Dashboard  http://127.0.0.1:4100/dashboard
  API key    sk-1
  Anon key   anon-1
  Sign in    developer@example.com with password developer
  Config     none, all defaults
  State      file:.standin/state.db

  To copy into .env:

PLATFORM_BASE_URL=http://127.0.0.1:4100
OPENAI_BASE_URL=http://127.0.0.1:4100/v1
OPENAI_API_KEY=sk-1
SUPABASE_URL=http://127.0.0.1:4100
SUPABASE_ANON_KEY=anon-1
SUPABASE_SERVICE_ROLE_KEY=service-1
SUPABASE_PUBLISHABLE_KEY=${developmentPublishableKey}
SUPABASE_SECRET_KEY=${developmentSecretKey}
`)
})

test('the banner says when no API key works', () => {
  const text = bannerWith({ apiKey: '' })
  expect(text).toContain('API key    none is valid')
  expect(text).toContain('\nOPENAI_API_KEY=\n')
})

test.each([
  ['127.0.0.1', undefined],
  ['127.1.2.3', undefined],
  ['localhost', undefined],
  ['::1', undefined],
  ['0.0.0.0', 'every address of this machine'],
  ['::', 'every address of this machine'],
  ['192.168.1.5', '192.168.1.5'],
])('listening on %s warns about: %s', (host, where) => {
  const [warning] = /Listening on .*/.exec(bannerWith({ host })) ?? []
  expect(warning).toBe(
    where && `Listening on ${where}: other machines can reach it, and the development keys are public.`,
  )
})

test('the banner shows the control token if one was generated', () => {
  expect(bannerWith()).not.toContain('Control')
  expect(bannerWith({ host: '0.0.0.0', controlToken: 'token-1' })).toContain(
    '\n  Control    token-1 for http://127.0.0.1:4100/__standin\n',
  )
})
