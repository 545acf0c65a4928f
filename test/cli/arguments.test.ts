import { expect, test } from 'vitest'
import { flags, readCommandLine } from '../../src/cli/arguments.js'
import { schemaAt } from '../../src/config/options.js'

test('without arguments nothing is asked for', () => {
  expect(readCommandLine([])).toEqual({
    words: [],
    child: [],
    config: undefined,
    json: false,
    quiet: false,
    strict: false,
    help: false,
    version: false,
    overrides: [],
    given: new Map(),
  })
})

test('flags stand before, between and after the words', () => {
  const { words, config, json, quiet } = readCommandLine(['--json', 'config', '--config', 'a.yaml', 'check', '--quiet'])
  expect({ words, config, json, quiet }).toEqual({
    words: ['config', 'check'],
    config: 'a.yaml',
    json: true,
    quiet: true,
  })
})

test.each([
  [['--port', '0'], { path: ['port'], value: 0, origin: '--port' }],
  [['--port=8080'], { path: ['port'], value: 8080, origin: '--port' }],
  [['--port=-1'], { path: ['port'], value: '-1', origin: '--port' }],
  [['--port='], { path: ['port'], value: '', origin: '--port' }],
  [['--port', '1', '--port', '2'], { path: ['port'], value: 2, origin: '--port' }],
  [['--host', '::1'], { path: ['host'], value: '::1', origin: '--host' }],
  [['--seed', '7'], { path: ['seed'], value: 7, origin: '--seed' }],
  [['--upstream', 'https://a.test'], { path: ['upstream', 'baseUrl'], value: 'https://a.test', origin: '--upstream' }],
])('%j sets its option', (argv, override) => {
  expect(readCommandLine(argv).overrides).toEqual([override])
})

test('a mode that is asked for holds for every endpoint, whatever a file says of single ones', () => {
  expect(readCommandLine(['--mode', 'proxy']).overrides).toEqual([
    { path: ['mode'], value: 'proxy', origin: '--mode' },
    { path: ['modes'], value: {}, origin: '--mode' },
  ])
})

test.each([
  [['-h'], { help: true }],
  [['-v'], { version: true }],
  [['-hv'], { help: true, version: true }],
])('%j is short for a flag', (argv, expected) => {
  expect(readCommandLine(argv)).toMatchObject(expected)
})

test('what stands behind -- is no flag', () => {
  expect(readCommandLine(['--', '--port']).words).toEqual(['--port'])
})

test('every flag that sets an option names one that there is', () => {
  for (const [name, flag] of Object.entries(flags))
    if ('option' in flag) expect(schemaAt(flag.option), `--${name}`).toBeDefined()
})
