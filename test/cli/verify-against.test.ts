/** `standin verify --against`: a stand-in compared with the live platform, asked now or saved as a baseline. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { addressOf } from '../../src/contract/suite.js'
import { run, runIn } from '../command.js'
import { breaking, type Change } from '../contract/breaking.js'
import { liveWith } from '../recordings/live.js'
import { platformWith } from '../scene.js'
import { isMissing } from '../sentences.js'

const BASELINE = 'fixtures/contract-baseline.json'

/** Enough if only this answer differs. */
const health = ['--only', 'HEALTH-*']

/** Every model of the live platform has a colour, and no owner. */
const coloured: Change = ({ path }, answer) =>
  path.startsWith('/v1/models') && answer.status === 200
    ? { ...answer, text: answer.text.replaceAll(/"owned_by":"\w+"/g, '"colour":"red"') }
    : undefined

/** A live platform with this change, and the configuration for it. */
async function liveFiles(change: Change = () => undefined) {
  const base = await platformWith({ models: [{ id: 'live-one' }, { id: 'live-two' }] })
  const url = await addressOf(breaking(base, change))
  const config = `upstream: { baseUrl: '${url}', apiKey: '${base.apiKey}', anonKey: '${base.anonKey}' }\n`
  return { url, base, files: { 'platform.config.yaml': config } }
}

test('a stand-in that answers like the live platform has no differences', async () => {
  const { files, url } = await liveFiles()
  const { code, stdout } = await run(['verify', '--against', 'live'], { files })
  expect(stdout).toContain(`Compared with the live platform at ${url}, asked just now`)
  expect(stdout).toMatch(/\n {2}4\d answers compared: 0 critical, 0 warning, 0 info\n/)
  expect(code).toBe(0)
})

test('differences are reported by call, with their severity and what the schema says', async () => {
  const { files } = await liveFiles(coloured)
  const { code, stdout } = await run(['verify', '--against', 'live', '--only', 'MODELS-*', '--quiet'], { files })
  const [, ...lines] = stdout.split('  GET /v1/models (Authorization: Bearer <API_KEY>)\n')
  expect(lines.join('').split('\n').slice(0, 3)).toEqual([
    '      critical  data[].owned_by: stand-in string, live nothing',
    '      warning   data[].colour: stand-in nothing, live string',
    isMissing('      schema     the live answer does not fit it: data[0].owned_by', 'a string'),
  ])
  expect(code).toBe(1)
})

test('--fail-on decides which differences fail the command', async () => {
  const extra: Change = ({ path }, answer) =>
    path === '/health' ? { ...answer, text: answer.text.replace('{', '{"region":"eu",') } : undefined
  const { files } = await liveFiles(extra)
  const lenient = await run(['verify', '--against', 'live', ...health, '--reporter', 'junit'], { files })
  expect(lenient.stdout).toContain('<system-out>warning   region: stand-in nothing, live string\nschema: both fit it')
  expect(lenient.stdout).toMatch(/failures="0"/)
  expect(lenient.code).toBe(0)
  const strict = await run(['verify', '--against', 'live', ...health, '--fail-on', 'warning', '--json'], { files })
  const { against } = JSON.parse(strict.stdout)
  expect(against.differences).toEqual([
    {
      calls: ['GET /health (no credential)'],
      drifts: [{ severity: 'warning', source: 'stand-in', path: 'region', sentence: 'stand-in nothing, live string' }],
      schema: 'both fit it',
    },
  ])
  expect(strict.code).toBe(1)
})

test('a documented clause that the live platform itself breaks is reported, too', async () => {
  const { files } = await liveFiles(({ path }, answer) =>
    path === '/health' ? { ...answer, text: '{"status":"up","version":"1.0.0"}' } : undefined,
  )
  const { code, stdout } = await run(['verify', '--against', 'live', ...health], { files })
  expect(stdout).toContain('✗ live HEALTH-2 The health response has the status ok.')
  expect(code).toBe(1)
})

test('without keys for the live platform the saved baseline is used, and its age is shown', async () => {
  const { files, url, base } = await liveFiles(coloured)
  const keeping = runIn(['verify', '--against', 'live', '--update-baseline'], { files })
  expect((await keeping.ended).stdout).toContain(`Baseline saved in ${BASELINE}\n`)
  const kept = readFileSync(path.join(keeping.dir, BASELINE), 'utf8')
  for (const secret of [base.apiKey, base.anonKey, 'live-one']) expect(kept).not.toContain(secret)

  const aged = { ...JSON.parse(kept), at: new Date(Date.now() - 12.5 * 86_400_000).toISOString() }
  const withoutKeys = { [BASELINE]: JSON.stringify(aged), 'platform.config.yaml': `upstream: { baseUrl: '${url}' }\n` }
  const flags = ['--only', 'MODELS-*', '--reporter', 'markdown']
  const { code, stdout } = await run(['verify', '--against', 'live', ...flags], { files: withoutKeys })
  expect(stdout).toMatch(
    new RegExp(`## Compared with the live platform at ${url}, as it was 12d ago \\(\\d{4}-\\d\\d-\\d\\d\\)\n`),
  )
  expect(stdout).toMatch(/\| critical \| GET \/v1\/models .* \| data\[\]\.owned_by: stand-in string, live nothing \|/)
  expect(code).toBe(1)
})

test('the baseline changes only if a shape does', async () => {
  const { files } = await liveFiles()
  const keep = async () => {
    const command = runIn(['verify', '--against', 'live', '--update-baseline'], { files })
    expect((await command.ended).code).toBe(0)
    const { at, ...rest } = JSON.parse(readFileSync(path.join(command.dir, BASELINE), 'utf8'))
    return { isDate: !Number.isNaN(Date.parse(at)), text: JSON.stringify(rest) }
  }
  expect(await keep()).toEqual(await keep())
})

test('the keys in the environment are used if the configuration has none', async () => {
  const { url, base } = await liveFiles()
  const env = { VERIFY_TARGET: url, VERIFY_API_KEY: base.apiKey, VERIFY_ANON_KEY: base.anonKey }
  const { code, stdout } = await run(['verify', '--against', 'live', '--only', 'EP-*'], { env })
  expect(stdout).toContain('4 answers compared')
  expect(stdout).toMatch(/^The contract, checked at a fresh stand-in\n/)
  expect(code).toBe(0)
})

test('an invalid baseline is reported by name', async () => {
  const { code, stderr } = await run(['verify', '--against', 'live'], { files: { [BASELINE]: '{"at":"today"}' } })
  expect(stderr).toMatch(
    /contract-baseline\.json: is not a baseline\. Create a new one: standin verify --against live --update-baseline\.\n$/,
  )
  expect(code).toBe(2)
})

test('an unreachable live platform ends the command, and the baseline stays as it is', async () => {
  const { url, close } = await liveWith(() => {})
  await close()
  const files = { 'platform.config.yaml': `upstream: { baseUrl: '${url}', apiKey: sk-live-key }`, [BASELINE]: 'kept' }
  const command = runIn(['verify', '--against', 'live', '--update-baseline'], { files })
  expect(await command.ended).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `${url}: cannot be reached (ECONNREFUSED).\n`,
  })
  expect(readFileSync(path.join(command.dir, BASELINE), 'utf8')).toBe('kept')
})

test.each([
  [
    ['--against', 'live'],
    /^There is neither a live platform nor a baseline \(fixtures\/contract-baseline\.json\) to compare with\. /,
  ],
  [['--against', 'live', '--update-baseline'], /^--update-baseline needs a live platform and its keys: /],
  [
    ['--against', 'live', '--update-baseline', '--only', 'EP-1'],
    /^--update-baseline saves the shapes of all answers: leave out --only\./,
  ],
  [
    ['--against', 'live', '--target', 'https://a.example'],
    /^--against compares with a fresh stand-in: leave out --target\./,
  ],
  [['--against', 'a.example'], /^--against must be an address such as /],
  [['--fail-on', 'warning'], /^--fail-on needs --against: there is nothing to compare with\./],
  [['--against', 'live', '--fail-on', 'fatal'], /^--fail-on .* critical, warning, info, not "fatal"\./],
])('%j is refused with exit code 2', async (flags, sentence) => {
  const command = runIn(['verify', ...flags])
  const { code, stderr } = await command.ended
  expect(stderr).toMatch(sentence)
  expect(code).toBe(2)
  expect(existsSync(path.join(command.dir, BASELINE))).toBe(false)
})
