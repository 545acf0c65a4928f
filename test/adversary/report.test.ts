import { expect, test } from 'vitest'
import { runInProcess, start } from '../command.js'
import { adversary } from './apps.js'

/** Sends the prompt to the model without an SDK, and exits with 1 if that fails. */
const asking = (prompt: string, more = '') => `
const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env
const response = await fetch(OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: '${prompt}' }] }),
})
if (!response.ok) process.exit(1)
${more}
await response.text()
`

test('the report names the call, the fault, the verdict and the requests, and ends with the counts', async () => {
  const { stdout, code } = await adversary(asking('hello'), { flags: ['--faults', 'status-503,status-400,end'] })
  const lines = stdout.split('\n')
  expect(lines).toContain('POST /v1/chat/completions "hello"')
  expect(stdout).toMatch(/✗ status-503 +failed: The run failed, and the call was not repeated\. \(journal: \d+ 503\)/)
  expect(stdout).toMatch(/✓ status-400 +handled/)
  expect(stdout).toMatch(/✗ end +truncation-accepted: Only a part of the answer arrived\. .* \(journal: \d+ 200\)/)
  expect(stdout).toMatch(/\n3 runs with a fault: 2 bugs \([\d.]+ s\)\n$/)
  expect(code).toBe(1)
})

test('a run that never ends is ended, with all of its processes, and the verdict is hung', {
  timeout: 60_000,
}, async () => {
  const shell = { files: { 'run.sh': 'node=$1; "$node" app.mjs; exit $?\n' }, flags: ['--faults', 'stall'] }
  const { stdout } = await adversary(asking('hello'), shell)
  expect(stdout).toMatch(/✗ stall +hung: The run took more than three times as long/)
})

test('--only and --max-runs select runs, and a note does not fail the command', async () => {
  const two = `${asking('one', 'setTimeout(() => process.exit(1), 1000).unref()')}\n{${asking('two')}}`
  const flags = ['--only', '/v1/*', '--faults', 'done-double', '--max-runs', '1']
  const { stdout, code } = await adversary(two, { flags })
  expect(stdout).toMatch(/1 run of 2 with a fault: nothing to report/)
  expect(code).toBe(0)
})

test('a command that fails without any fault is not tested further, and its exit code is kept', async () => {
  const { stderr, stdout, code } = await adversary('process.exit(3)')
  expect({ stdout, code }).toEqual({ stdout: '', code: 3 })
  expect(stderr).toContain('The command fails without any fault (exit code 3). Make it pass first.')
})

test.each([
  ['', [], 'made no successful call to the platform'],
  [asking('hello'), ['--only', '/v2/*'], '--only /v2/* selects no call. The command called /v1/chat/completions.'],
])('a command without a call to test is reported: %#', async (app, flags, sentence) => {
  const { stderr, code } = await adversary(app, { flags })
  expect(stderr).toContain(sentence)
  expect(code).toBe(2)
})

test.each([
  [['--faults', 'end', '--'], '--faults needs --adversary.'],
  [['--adversary', '--faults', 'ends', '--'], '--faults: ends is not known. Did you mean "end"?'],
])('%j is refused in a sentence', async (flags, sentence) => {
  const { stderr, code } = await runInProcess(['exec', ...flags, 'true'])
  expect(stderr).toContain(sentence)
  expect(code).toBe(2)
})

test('Ctrl-C stops the runs, and what is known is reported', async () => {
  const app = asking('hello', "console.error('up')")
  const { send, stderr, ended } = start(['exec', '--adversary', '--verbose', '--', process.execPath, 'app.mjs'], {
    files: { 'app.mjs': app },
  })
  for (let i = 0; i < 3; i++) await stderr.next('up')
  send('SIGINT')
  const { stdout, code } = await ended
  expect(stdout).toMatch(/ of \d+ with a fault: /)
  expect(code).toBe(130)
})

test('a fault that no call of the run can have is not tried, and the report says why', async () => {
  const { stdout, code } = await adversary(asking('hello'), { flags: ['--faults', 'done-double,session'] })
  expect(stdout).toMatch(/- session-refresh-429 +not tried: the run never refreshed a session\./)
  expect(stdout).toMatch(/- session-revoked +not tried: no request came with the token of a session\./)
  expect(stdout).toMatch(/\n1 run with a fault: nothing to report/)
  expect(code).toBe(0)
})

test('a link is the same call in each run, although its token is another', async () => {
  const app = `
const { SUPABASE_URL: url, SUPABASE_ANON_KEY: apikey } = process.env
const body = JSON.stringify({ email: 'developer@example.com' })
await fetch(url + '/auth/v1/otp', { method: 'POST', headers: { apikey, 'content-type': 'application/json' }, body })
const { data: [{ link }] } = await (await fetch(url + '/__standin/outbox')).json()
const { headers } = await fetch(link, { redirect: 'manual' })
console.error(headers.get('location'))
`
  const { stdout, stderr } = await adversary(app, { flags: ['--faults', 'session-link-used', '--verbose'] })
  expect(stdout).toMatch(/✓ session-link-used +handled/)
  expect(stderr).toContain('error_code=otp_expired')
})
