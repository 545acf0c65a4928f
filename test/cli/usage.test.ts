import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { flagsOfAll, runFlags } from '../../src/cli/command.js'
import { commands, helpText } from '../../src/cli/commands.js'
import { run, runInProcess } from '../command.js'
import { mustBe, wholeNumber } from '../sentences.js'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

test.each(['--help', '-h', 'help'])('standin %s shows every command and the flags of standin dev', async word => {
  const { code, stdout, stderr } = await run([word])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [, flags = ''] = /\nFlags of standin dev\n(.*?)\n\n/s.exec(stdout) ?? []
  const shown = flags.match(/(?<=^ {2}--)[\w-]+/gm)
  expect(shown).toEqual(Object.keys({ ...runFlags, ...flagsOfAll }))
  const words = stdout.replace(/ +/g, ' ')
  for (const { usage, does } of commands) expect(words).toContain(` standin ${usage} ${does}\n`)
})

const rowOf = (name: string) => new RegExp(`^  --${name}\\b.* {2}\\S`, 'm')

test.each([
  [['verify', '--help'], /--max-calls NUM/, /--expired|Only recordings/],
  [['help', 'verify'], /--max-calls NUMBER/, /--timeout/],
  [['--help', 'ready'], /--timeout NUMBER/, /--max-calls|^ {2}--seed/m],
  [['recordings', '--help'], /recordings prune[\s\S]*standin COMMAND --help/, /standin ready|^Flags/m],
  [['recordings', 'scan', '--help'], /recordings scan/, /recordings prune|--older-than/],
  [['exec', '--help', '--', 'npm', '--version'], /--port NUMBER +Port to listen on \(any free port\)/, /--role/],
  [['dev', '--help'], /--mode MODE/, /--expired/],
  [['record', '--help'], /--upstream URL/, /--mode|--expired/],
  [['replay', '--help'], /--on-miss WHAT/, /--mode/],
])('the help of %j shows what belongs to it and nothing else', async (args, own, foreign) => {
  const { code, stdout, stderr } = await run(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(own)
  expect(stdout).not.toMatch(foreign)
})

test('every flag is in the help of each command that takes it, and every line fits', async () => {
  for (const { name, load } of commands) {
    const help = (await helpText([name])) ?? ''
    for (const flag of Object.keys((await load()).flags)) expect(help, `--${flag} of ${name}`).toMatch(rowOf(flag))
  }
  const texts = await Promise.all([[], ['recordings'], ...commands.map(({ name }) => [name])].map(helpText))
  for (const line of texts.join('\n').split('\n')) expect(line.length, line).toBeLessThanOrEqual(110)
})

test.each([
  [['help', 'verfy'], '"verfy" is not a command. Did you mean "verify"?'],
  [['verfy', '--help'], '"verfy" is not a command. Did you mean "verify"?'],
])('the help of the unknown command %j is refused', async (args, sentence) => {
  expect(await run(args)).toMatchObject({ code: 2, stdout: '', stderr: `${sentence} See standin --help.\n` })
})

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
  [['strat'], '"strat" is not a command. Did you mean "start"?'],
  [['start', 'more'], 'standin dev takes no arguments, but got "more".'],
  [['launch-the-rocket'], '"launch-the-rocket" is not a command.'],
  [['dev', 'more'], 'standin dev takes no arguments, but got "more".'],
  [['config'], 'standin config needs one of: check, print.'],
  [['config', 'chek'], 'standin config chek is not a command. Known: check, print. Did you mean "check"?'],
  [['config', 'toString'], 'standin config toString is not a command. Known: check, print.'],
  [['replies', 'unlearn'], 'standin replies unlearn is not a command. Known: try.'],
  [['config', 'check', 'my.yaml'], expect.stringContaining('my.yaml')],
  [['config', 'check', '--config', ''], '--config must name a file.'],
  [['config', '--config', 'a.yaml', 'check'], 'standin config needs one of: check, print.'],
  [['ready', '--seed', '7'], expect.stringMatching(/^The flag --seed belongs to standin dev, /)],
  [['config', 'print', '--json'], expect.stringMatching(/^The flag --json belongs to standin dev, /)],
  [['replies', 'try', '--request', ''], '--request must name a file.'],
  [['import', 'a.har', 'b.har'], 'Usage: standin import FILE.har.'],
  [['import', 'a.har', '--base', 'example.com'], expect.stringMatching(/^--base must be an http or https address/)],
  [['recordings', 'prune', '--older-than', 'soon'], expect.stringMatching(/followed by m, h or d, not "soon"\.$/)],
])('%j is refused in a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await run(args)
  const [said, help] = stderr.split(/ See standin (.*)--help\.\n$/)
  expect(said).toEqual(sentence)
  // The help of the command, if there is one.
  expect(help?.trim()).toBe(/^(dev|ready|config|replies|recordings|import)$/.test(`${args[0]}`) ? args[0] : '')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

test('a flag with an invalid value is refused like an option', async () => {
  expect(await runInProcess(['--port', 'x'])).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: `${mustBe('--port: port', wholeNumber(0, 65535), 'x')}\n`,
  })
})
