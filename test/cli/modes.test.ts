import path from 'node:path'
import { expect, test } from 'vitest'
import { run, runIn, runInProcess, start } from '../command.js'
import { didYouMean, NEEDS_LIVE, notACommand, takesNoMore } from '../sentences.js'
import { lineOf } from './line.js'

const upstream = 'http://live.test'

test.each(['record', 'replay'])('standin %s starts a platform in that mode, whatever is configured', async mode => {
  const { stdout } = start([mode, '--port', '0', '--json', '--upstream', upstream], {
    files: { 'platform.config.yaml': 'mode: emulate\nstate: memory\n' },
    env: { STANDIN_MODE: 'proxy' },
  })
  expect(JSON.parse(await stdout.next('"event":"ready"'))).toMatchObject({ mode })
})

test('standin record says what is missing, under its own name', async () => {
  expect(await runInProcess(['record'])).toMatchObject({
    code: 2,
    stderr: `standin record: The mode record ${NEEDS_LIVE}\n`,
  })
})

test.each([
  [['replay', '--mode', 'proxy'], 'standin replay sets the mode: leave --mode out. See standin --help.\n'],
  [['record', 'all'], `${takesNoMore('dev', 'all')} See standin --help.\n`],
  [['recrod'], `${notACommand('"recrod"')}${didYouMean('record')} See standin --help.\n`],
  [['replya'], `${notACommand('"replya"')}${didYouMean('replay')} See standin --help.\n`],
])('%j is refused in a sentence', async (args, stderr) => {
  expect(await run(args)).toMatchObject({ code: 2, stderr })
})

test('the flags for recordings set their options', async () => {
  const { overrides } = await lineOf(['replay', '--speed', '0.5', '--on-miss', 'emulate'])
  expect(overrides).toEqual([
    { path: ['recordings', 'speed'], value: 0.5, origin: '--speed' },
    { path: ['recordings', 'onMiss'], value: 'emulate', origin: '--on-miss' },
  ])
})

test('--recordings is relative to the working directory, not to the configuration file', async () => {
  const files = { 'deep/config.yaml': 'recordings: { dir: elsewhere }\n' }
  const { dir, ended } = runIn(['config', 'print', '--config', 'deep/config.yaml', '--recordings', 'kept'], { files })
  const { stdout } = await ended
  expect(stdout).toMatch(new RegExp(`dir: +${path.join(dir, 'kept')} .*--recordings`))
})

test('an empty --recordings is refused like an empty option', async () => {
  const { code, stderr } = await runInProcess(['replay', '--recordings='])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^--recordings: recordings\.dir .*not ""/),
  })
})
