import { expect, test } from 'vitest'
import { run, runInProcess, startReady } from '../command.js'
import { liveWith } from '../http/live.js'

const wrong = { status: 'up', version: '1.2.3' }

const live = (body: object) =>
  liveWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })

const ask = ['--', 'sh', '-c', 'curl -s "$PLATFORM_BASE_URL/health"']
const askSilently = ['--', 'sh', '-c', 'curl -so /dev/null "$PLATFORM_BASE_URL/health"']

test('exec fails if an answer violates the documented contract, and shows the violation', async () => {
  const { url } = await live(wrong)
  const proxied = ['--mode', 'proxy', '--upstream', url]
  const end = await run(['exec', ...proxied, '--fail-on-violation', ...ask])
  expect(end.stdout).toBe(JSON.stringify(wrong))
  expect(end.stderr).toContain('✗ GET /health 200 violates the contract\n  critical  status must be "ok". (documented)')
  expect(end.stderr).toContain('Contract violations: 1 documented, 0 decided.')
  expect(end.code).toBe(1)
  expect((await runInProcess(['exec', ...proxied, ...askSilently])).code).toBe(0)
})

test('answers that violate the contract in the same way are shown once', async () => {
  const { url } = await live(wrong)
  const twice = ['sh', '-c', 'for i in 1 2; do curl -so /dev/null "$PLATFORM_BASE_URL/health"; done']
  const { stderr } = await runInProcess(['exec', '--mode', 'proxy', '--upstream', url, '--', ...twice])
  expect(stderr.match(/violates the contract/g)).toHaveLength(1)
  expect(stderr).toContain('Contract violations: 2 documented')
})

test('a stopped platform reports its violations, and fails with --fail-on-violation', async () => {
  const { url } = await live(wrong)
  const flags = ['--mode', 'proxy', '--upstream', url, '--fail-on-violation']
  const { ready, event, send, ended } = await startReady({ flags })
  await (await fetch(`${ready.url}/health`)).text()
  expect(await event('violation')).toMatchObject({
    endpoint: 'GET /health',
    status: 200,
    violations: [{ path: 'status', severity: 'critical' }],
  })
  send('SIGTERM')
  const { code, stdout } = await ended
  expect(stdout).toContain('{"event":"violations","documented":1,"decided":0,"unjudged":0}')
  expect(code).toBe(1)
})

test('--fail-on-violation is refused if nothing is checked', async () => {
  expect(await runInProcess(['exec', '--fail-on-violation', '--', 'true'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('mode emulate has none'),
  })
})
