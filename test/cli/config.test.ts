// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about
import { expect, test } from 'vitest'
import { run, runInProcess, start } from '../command.js'
import { AN_OBJECT, didYouMean, mustBe, wholeNumber } from '../sentences.js'

const config = (text: string) => ({ 'platform.config.yaml': text })

test('config check says that the configuration is valid, and counts the rules', async () => {
  const files = {
    ...config('replies: [one.yaml, more/*.yaml]\n'),
    'one.yaml': '- { when: { user: a }, reply: { text: a } }\n',
    'more/two.yaml': '- { when: { user: b }, reply: { text: b } }\n- reply: { text: c }\n',
  }
  expect(await run(['config', 'check'], { files })).toEqual({
    code: 0,
    signal: null,
    stdout: 'The configuration is valid: 3 reply rules.\n',
    stderr: '',
  })
})

test.each(['platform.config.yml', 'platform.config.json'])(
  'a configuration may be called %s, but there is only one',
  async name => {
    const files = { [name]: '{ "port": 4999 }', 'fixtures/replies/a.yml': '- reply: { text: a }\n' }
    expect(await run(['config', 'check'], { files })).toMatchObject({
      stdout: 'The configuration is valid: 1 reply rule.\n',
    })
    expect((await run(['config', 'print'], { files })).stdout).toContain(`port: 4999 # ${name}:1`)
    expect(await run(['config', 'check'], { files: { ...files, ...config('port: 1') } })).toMatchObject({
      code: 2,
      stderr: `${name}: There is platform.config.yaml too. Keep one of them.\n`,
    })
  },
)

test('config check names rules that never answer by file and line', async () => {
  const rules = '- { name: all, reply: { text: x } }\n- { name: late, reply: { text: y } }\n'
  // Its name in earlier versions, which scripts have.
  expect(await run(['replies', 'check'], { files: { ...config('replies: a.yaml\n'), 'a.yaml': rules } })).toMatchObject(
    {
      ...{ code: 1, stdout: 'The configuration is valid: 2 reply rules.\n' },
      stderr: 'a.yaml:2: rule "late" never answers: rule "all" (a.yaml:1) comes before it and matches everything.\n',
    },
  )
})

test('config check without a file says so', async () => {
  expect(await run(['config', 'check'])).toMatchObject({
    code: 0,
    stdout: 'There is no configuration file; the defaults are valid: 0 reply rules.\n',
  })
})

test('config check says what is wrong, in the file, the flags, the environment and the reply files', async () => {
  expect(
    await run(['config', 'check', '--port', 'x'], { files: config('seed: y\n'), env: { STANDIN_HOTS: 'z' } }),
  ).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: [
      `STANDIN_HOTS: This environment variable is not known.${didYouMean('STANDIN_HOST')}`,
      mustBe('--port: port', wholeNumber(0, 65535), 'x'),
      mustBe('platform.config.yaml:1:1: seed', wholeNumber(0, 2147483647), 'y'),
      '',
    ].join('\n'),
  })
  const files = { ...config('replies: a.yaml\n'), 'a.yaml': '- reply: hello\n' }
  expect(await run(['config', 'check'], { files })).toMatchObject({
    code: 2,
    stderr: `${mustBe('a.yaml:1:3: [0].reply', AN_OBJECT, 'hello')}\n`,
  })
})

test('config check finds what would stop a start: a mode without its address', async () => {
  const files = config('mode: proxy\n')
  const stopped = await runInProcess(['--port', '0'], { files })
  expect(stopped).toMatchObject({ code: 2, stderr: expect.stringContaining('upstream.baseUrl') })
  expect(await run(['config', 'check'], { files })).toEqual(stopped)
})

test.each(['state: mysql://app:secret@db/app', 'state: "postgres://app:se#cret@db/app"', 'host: http://127.0.0.1'])(
  'config check refuses what no start accepts: %s',
  async text => {
    const files = config(`${text}\n`)
    const checked = await run(['config', 'check'], { files })
    expect(checked.code).toBeGreaterThan(0)
    expect(checked.stderr).not.toContain('cret@')
    expect(checked).toEqual(await runInProcess(['--port', '0'], { files }))
  },
)

test('config check counts files without rules, and names those whose ending the configuration leaves out', async () => {
  const files = {
    ...config('replies: rules/*.yaml\n'),
    'rules/a.yaml': '- reply: { text: a }\n',
    'rules/none.yaml': '# - reply: { text: b }\n',
    'rules/c.yml': '- reply: { text: c }\n',
  }
  expect((await run(['config', 'check'], { files })).stdout).toBe(
    'The configuration is valid: 1 reply rule, 1 file without rules (rules/none.yaml).\n' +
      'Not read, because replies does not name this ending: rules/c.yml\n',
  )
})

test.each([
  ['a missing file of rows', 'resources: { /a: { data: nope.yaml } }', /nope\.yaml.* cannot be read/],
  ['a path that is already taken', 'resources: { /v1/models: {} }', /\/v1\/models/],
])('config check finds what would stop a start: %s', async (_what, text, sentence) => {
  const checked = await run(['config', 'check'], { files: config(text) })
  expect(checked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) })
})

test('config print shows the values in force, where each came from, and no secret', async () => {
  const end = await run(['config', 'print', '--seed', '7'], {
    files: { ...config('port: 5000\nupstream:\n  apiKey: ${LIVE_KEY}\n'), '.env': 'LIVE_KEY=hush-hush' },
    env: { STANDIN_AUTH_JWT_SECRET: 'hush-hush-hush-hush-hush-hush-hush-hush' },
  })
  expect(end).toMatchObject({ code: 0, stderr: '' })
  const lines = end.stdout.split('\n')
  expect(lines).toContain('port: 5000 # platform.config.yaml:1')
  expect(lines).toContain('seed: 7 # --seed')
  expect(lines).toContain('mode: emulate # default')
  expect(lines).toContain('  apiKey: "********" # platform.config.yaml:3')
  expect(lines).toContain('  jwtSecret: "********" # STANDIN_AUTH_JWT_SECRET')
  expect(end.stdout).not.toContain('hush')
})

test('a command ends quietly when its output is not read to the end', async () => {
  const { closeOutput, ended } = start(['config', 'print'])
  closeOutput()
  expect(await ended).toMatchObject({ stderr: '' })
})
