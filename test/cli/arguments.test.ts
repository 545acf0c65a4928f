import { expect, test } from 'vitest'
import { optionFlags } from '../../src/cli/command.js'
import { commands } from '../../src/cli/commands.js'
import { schemaAt } from '../../src/platform/config/options.js'
import { lineOf } from './line.js'

test('a command line without arguments is standin dev without overrides', async () => {
  const { name, args, child, overrides, flags } = await lineOf([])
  expect({ name, args, child, overrides }).toEqual({ name: 'dev', args: [], child: [], overrides: [] })
  expect(Object.values(flags).filter(Boolean)).toEqual([])
})

test('flags come after the command', async () => {
  const { name, args, flags } = await lineOf([
    'recordings',
    'scan',
    '--config',
    'a.yaml',
    'b.yaml',
    '--quiet',
    '--json',
  ])
  expect({ name, args }).toEqual({ name: 'recordings scan', args: ['b.yaml'] })
  expect(flags).toMatchObject({ config: 'a.yaml', json: true, quiet: true })
  await expect(lineOf(['--json', 'ready'])).rejects.toThrow('standin dev takes no arguments, but got "ready".')
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
])('%j sets its option', async (argv, override) => {
  expect((await lineOf(argv)).overrides).toEqual([override])
})

test('--mode applies to every endpoint, even if a file sets another mode for some', async () => {
  expect((await lineOf(['--mode', 'proxy'])).overrides).toEqual([
    { path: ['mode'], value: 'proxy', origin: '--mode' },
    { path: ['modes'], value: {}, origin: '--mode' },
  ])
})

test('a single dash is a value, which stands for standard input', async () => {
  expect(await lineOf(['replies', 'try', '--request', '-'])).toMatchObject({ args: [], flags: { request: '-' } })
})

test('words after -- are not flags', async () => {
  expect((await lineOf(['replies', 'try', '--', '--port'])).args).toEqual(['--port'])
})

test('every flag that sets an option names an existing option', () => {
  for (const [name, flag] of Object.entries(optionFlags))
    if ('option' in flag) expect(schemaAt(flag.option), `--${name}`).toBeDefined()
})

test('a flag that several commands share takes a value in all of them or in none', async () => {
  const types = new Map<string, string>()
  for (const { name, load } of commands) {
    for (const [flag, { type }] of Object.entries((await load()).flags)) {
      expect(types.get(flag) ?? type, `--${flag} of ${name}`).toBe(type)
      types.set(flag, type)
    }
  }
})
