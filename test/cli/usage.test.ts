import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { flags } from '../../src/cli/arguments.js'
import { run } from '../command.js'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

test.each([['--help'], ['-h'], ['help'], ['config', '--help']])(
  'standin %s %s shows every command and flag',
  async (...args) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const name of Object.keys(flags)) expect(stdout).toMatch(new RegExp(`^  --${name}\\b.* {2}\\S`, 'm'))
    for (const command of ['config check', 'config print', 'config init', 'config schema', 'replies schema'])
      expect(stdout).toMatch(new RegExp(`^  standin ${command} +[A-Z]`, 'm'))
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(110)
  },
)

test.each(['--version', '-v'])('standin %s shows the version and nothing else', async flag => {
  expect(await run([flag])).toEqual({ code: 0, signal: null, stdout: `${manifest.version}\n`, stderr: '' })
})

test.each([
  [['--prot', '1'], 'The flag --prot is not known. Did you mean "--port"?'],
  [['--quite'], 'The flag --quite is not known. Did you mean "--quiet"?'],
  [['-x'], 'The flag -x is not known.'],
  [['--constructor'], 'The flag --constructor is not known.'],
  [['--port'], 'The flag --port needs a value: --port NUMBER.'],
  [['--port', '--json'], 'The flag --port needs a value: --port NUMBER.'],
  [['--json=yes'], 'The flag --json takes no value.'],
  [['confg'], '"confg" is not a command. Did you mean "config"?'],
  [['launch-the-rocket'], '"launch-the-rocket" is not a command.'],
  [['dev', 'more'], 'standin dev takes no further words, such as more.'],
  [['config'], 'standin config needs one of: check, print, init, schema.'],
  [
    ['config', 'chek'],
    'standin config chek is not a command. Known: check, print, init, schema. Did you mean "check"?',
  ],
  [['config', 'toString'], 'standin config toString is not a command. Known: check, print, init, schema.'],
  [['replies', 'unlearn'], 'standin replies unlearn is not a command. Known: check, try, schema.'],
  [['config', 'check', 'my.yaml'], expect.stringContaining('my.yaml')],
])('%j is refused in a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await run(args)
  expect(stderr).toMatch(/^[^\n]+ See standin --help\.\n$/)
  expect(stderr.replace(' See standin --help.\n', '')).toEqual(sentence)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

test('a flag whose value is wrong is refused like an option', async () => {
  expect(await run(['--port', 'x'])).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: '--port: port must be a whole number from 0 to 65535, not "x".\n',
  })
})
