/** `standin verify`, run as users run it, against targets that are right, wrong, silent and unreachable. */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run, runIn, start } from '../command.js'
import { breaking, type Change } from '../contract/breaking.js'
import { broken } from '../contract/broken.js'
import { jwtLike } from '../contract/tokens.js'
import { forwardProxy } from '../forward-proxy.js'
import { liveWith } from '../recordings/live.js'
import { platformWith } from '../scene.js'
import { flagWhole, mustBe, takesNoMore } from '../sentences.js'

/** The address of a stand-in with this change, and the flags to verify it. */
async function targetWith(change: Change = () => undefined) {
  const base = await platformWith()
  const server = http.createServer(breaking(base, change)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { apiKey, anonKey } = base
  return { url, apiKey, anonKey, flags: ['--target', url, '--api-key', apiKey, '--anon-key', anonKey] }
}

const changeOf = (id: string) => broken[id]?.[0] as Change

test('without a target a fresh stand-in is verified, and nothing is left behind', async () => {
  const command = runIn(['verify'])
  const { code, stdout } = await command.ended
  expect(stdout).toMatch(
    /^The contract, checked at a fresh stand-in\n\nResources and their fields\n {2}✓ HEALTH-1 {2}The health/,
  )
  expect(stdout).toMatch(/\n\d+ clauses: \d+ hold \(\d+ calls of at most 80, [\d.]+ s\)\n$/)
  expect(code).toBe(0)
  expect(readdirSync(command.dir)).toEqual([])
})

test('a stand-in is verified as configured, but with a port and a state of its own', async () => {
  const config = 'port: 1\nstate: file:kept.db\naccess: { health: [apiKey] }\n'
  const command = runIn(['verify', '--config', 'c.yaml', '--only', 'HEALTH-*'], { files: { 'c.yaml': config } })
  const { code, stdout } = await command.ended
  expect(stdout).toContain('≠ HEALTH-D1')
  expect(stdout).toContain('4 clauses: 3 hold, 1 differs from what Standin does')
  expect(code).toBe(0)
  expect(readdirSync(command.dir)).toEqual(['c.yaml'])
})

describe('a documented clause that is broken', () => {
  test('ends the command with exit code 1, and is reported with the request, the answer and the document', async () => {
    const { flags } = await targetWith(changeOf('HEALTH-2'))
    const { code, stdout } = await run(['verify', ...flags, '--quiet'])
    expect(stdout.split('\n')).toEqual([
      'Resources and their fields',
      '  ✗ HEALTH-2  The health response has the status ok.',
      '      expected   the status "ok"',
      mustBe('      received   status', '"ok"', 'healthy'),
      '      request    GET /health (no credential)',
      '      response   200, content-type: application/json',
      '                 {"status":"healthy","version":"1.0.0"}',
      '      document   status · string · Value ok when healthy.',
      '',
    ])
    expect(code).toBe(1)
  })

  test('is reported as JSON', async () => {
    const { flags } = await targetWith(changeOf('AUTH-6.3'))
    const { code, stdout } = await run(['verify', ...flags, '--json', '--only', 'AUTH-6.*'])
    const report = JSON.parse(stdout)
    expect(report.count).toEqual({ clauses: 7, held: 6, broken: 1, different: 0, skipped: 0 })
    expect(report.clauses.find(({ outcome }: { outcome: string }) => outcome === 'broken')).toMatchObject({
      ...{
        id: 'AUTH-6.3',
        section: 'Authentication',
        source: 'documented',
        expected: 'status 401',
        came: 'status 200',
      },
      shown: { asked: 'GET /v1/models (no credential)' },
    })
    expect(code).toBe(1)
  })
})

test('a decision that a target does not share is reported, and is a failure only with --strict', async () => {
  const { flags } = await targetWith(changeOf('CORS-D1'))
  const lenient = await run(['verify', ...flags, '--only', 'CORS-D1,EP-1'])
  expect(lenient.stdout).toContain(
    '≠ CORS-D1   Web pages on the same machine, such as http://localhost:3000, may call the platform. (decided by Standin)',
  )
  expect(lenient.code).toBe(0)
  const strict = await run(['verify', ...flags, '--only', 'CORS-D1,EP-1', '--strict'])
  expect(strict.stdout).toContain('2 clauses: 1 holds, 1 is broken')
  expect(strict.code).toBe(1)
})

test('clauses that need a missing credential are skipped with the reason', async () => {
  const { url } = await targetWith()
  const { code, stdout } = await run(['verify', '--target', url])
  expect(stdout).toMatch(/- EP-3 .* skipped: no API key is given/)
  expect(stdout).toMatch(/- AUTH-2 .* skipped: no email and password are given/)
  expect(code).toBe(0)
})

test('a run that could check nothing fails', async () => {
  const { url } = await targetWith()
  const { code, stderr } = await run(['verify', '--target', url, '--only', 'EP-3,EP-4'])
  expect(stderr).toBe('Nothing could be checked.\n')
  expect(code).toBe(1)
})

test('a run stops when its budget of calls is used up', async () => {
  const live = await liveWith((_, response) => void response.end('{}'))
  const { stdout } = await run(['verify', '--target', live.url, '--max-calls', '4'])
  expect(live.seen).toHaveLength(4)
  expect(stdout).toContain('skipped: the budget of 4 calls is used up')
  expect(stdout).toContain('4 calls of at most 4')
})

test('an unreachable target ends the command with another exit code than a broken one', async () => {
  const { url, close } = await liveWith(() => {})
  await close()
  const { code, stdout, stderr } = await run(['verify', '--target', url])
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: `${url}: cannot be reached (ECONNREFUSED).\n`,
  })
})

test('Ctrl-C ends the command with what was found so far', async () => {
  const live = await liveWith((request, response) => {
    if (request.url === '/health')
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}')
  })
  const command = start(['verify', '--target', live.url, '--anon-key', 'sk-anon'])
  await live.nextRequest()
  while (live.seen.at(-1)?.request.url !== '/api/v1') await live.nextRequest()
  command.send('SIGINT')
  const { code, stdout } = await command.ended
  expect(stdout).toContain('✗ HEALTH-3')
  expect(stdout).toContain('skipped: it was stopped')
  expect(code).toBe(130)
})

describe('the environment', () => {
  test('names a proxy for targets on other machines', async () => {
    const { url } = await targetWith()
    const proxy = await forwardProxy(Number(new URL(url).port))
    const env = { HTTP_PROXY: proxy.url }
    const far = await run(['verify', '--target', 'http://platform.example', '--only', 'EP-1,AUTH-6.1'], { env })
    expect(far.stdout).toContain('2 clauses: 2 hold')
    expect(new Set(proxy.asked)).toEqual(new Set(['platform.example:80']))
    const tunnels = proxy.asked.length
    const near = await run(['verify', '--target', url, '--only', 'EP-1'], { env })
    expect(near.stdout).toContain('1 clause: 1 holds')
    expect(proxy.asked).toHaveLength(tunnels)
  })

  test('names a target and its credentials', async () => {
    const { url, apiKey, anonKey } = await targetWith()
    const env = {
      VERIFY_TARGET: url,
      VERIFY_API_KEY: apiKey,
      VERIFY_ANON_KEY: anonKey,
      VERIFY_EMAIL: 'developer@example.com',
    }
    const { code, stdout } = await run(['verify', '--only', 'EP-*,AUTH-2', '--password-stdin'], {
      env,
      input: 'developer\n',
    })
    expect(stdout).toContain('5 clauses: 5 hold')
    expect(code).toBe(0)
  })

  test('does not give its credentials to a target that it does not name', async () => {
    const other = await liveWith((_, response) => void response.end('{}'))
    const env = { VERIFY_TARGET: 'https://live.example', VERIFY_API_KEY: 'live-key', VERIFY_ANON_KEY: jwtLike('anon') }
    await run(['verify', '--target', other.url], { env })
    const shown = other.seen.map(({ request }) => request.headers.authorization ?? '')
    expect(shown.length).toBeGreaterThan(5)
    expect(shown.join('\n')).not.toMatch(new RegExp(`live-key|${jwtLike('anon').split('.')[1]}`))
  })

  test('completes the configuration of the live platform', async () => {
    const { url, apiKey, anonKey } = await targetWith()
    const files = { 'platform.config.yaml': `upstream: { baseUrl: '${url}', apiKey: '${apiKey}' }` }
    const env = { STANDIN_UPSTREAM_ANON_KEY: anonKey }
    const { stdout } = await run(['verify', '--target', 'live', '--only', 'EP-*'], { files, env })
    expect(stdout).toContain(`The contract, checked at ${url}`)
    expect(stdout).toContain('4 clauses: 4 hold')
  })
})

test('no report contains a secret', async () => {
  const secrets = { apiKey: 'live-key-of-no-known-form', anonKey: jwtLike('anon'), password: 'correct horse' }
  const live = await liveWith(({ headers }, response) => {
    response.writeHead(500).end(`${headers.authorization} ${secrets.password} \u001b[2J`)
  })
  const keys = ['--api-key', secrets.apiKey, '--anon-key', secrets.anonKey]
  const flags = ['--target', live.url, ...keys, '--email', 'ada@example.com', '--password', secrets.password]
  for (const form of [[], ['--json']]) {
    const { stdout, stderr } = await run(['verify', ...flags, ...form])
    expect(stdout).toContain('500')
    for (const secret of [...Object.values(secrets), '\u001b']) expect(stdout + stderr).not.toContain(secret)
  }
})

test.each([
  [
    ['--target', 'platform.example'],
    '--target must be an address such as https://platform.example, not "platform.example".',
  ],
  [['--target', 'https://ada:secret@platform.example'], '--target must not contain a user name or a password.'],
  [['--target', 'https://platform.example/v1/'], '--target must be the base address: leave out /v1.'],
  [['--target', 'https://platform.example/?a=1'], '--target must not contain a query or a fragment (? or #).'],
  [
    ['--target', 'https://a.example', '--auth', 'https://a.example/auth/v1'],
    '--auth must be the base address: leave out /auth/v1.',
  ],
  [['--target', 'live'], '--target live needs upstream.baseUrl, the address of the live platform.'],
  [['--api-key', 'sk-one'], '--api-key needs --target: a fresh stand-in has its own credentials.'],
  [
    ['--target', 'https://a.example', '--email', 'ada@example.com'],
    'Signing in needs both an email address and a password: --email with --password or --password-stdin.',
  ],
  [['--max-calls', '0'], flagWhole('--max-calls', 1, 999999, '0')],
  [
    ['--only', 'HEALTH-9'],
    'No clause is called "HEALTH-9". Use ids such as AUTH-6.1 or HEALTH-*, a section such as Errors, documented or decided.',
  ],
  [['now'], takesNoMore('verify', 'now')],
])('%j is refused with exit code 2', async (flags, sentence) => {
  const { code, stderr } = await run(['verify', ...flags])
  expect(stderr).toBe(`${sentence} See standin verify --help.\n`)
  expect(code).toBe(2)
})
