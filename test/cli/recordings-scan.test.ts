import { symlink } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { developmentApiKey } from '../../src/core/secrets.js'
import { folderWith, run } from '../command.js'
import { cannotBeRead } from '../sentences.js'
import { DIR, filesOf, nameOf, recorded, streamed } from './recorded.js'

const key = 'sk-proj-a8Kd03jGk5Lw9QzXv7Bn2Mt4Rc6Yp1Hs0DfEuIo'
const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split('\n').length

test('a scan of clean recordings says so and passes', async () => {
  expect(await run(['recordings', 'scan'], { files: filesOf(recorded(), streamed()) })).toEqual({
    ...{ code: 0, signal: null, stderr: '' },
    stdout: 'No secrets in 2 files.\n',
  })
})

test('a scan that finds a secret shows its place and kind but never its value, and fails', async () => {
  const leaky = recorded({ answer: `Your key is ${key}.` })
  const files = filesOf(leaky)
  const file = `${DIR}/${nameOf(leaky)}`
  const { code, stdout } = await run(['recordings', 'scan'], { files })
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`^${file}:${lineOf(files[file] ?? '', key)}:\\d+: [a-z-]+\n$`))
  expect(stdout).not.toContain(key.slice(3, 12))
})

test.each<[string, Record<string, string>, string]>([
  [
    'the live key of the configuration',
    { 'platform.config.yaml': 'upstream: { apiKey: open-sesame-1 }' },
    'open-sesame-1',
  ],
  ['a pattern of the configuration', { 'platform.config.yaml': "recordings: { redact: ['/cus_\\w+/i'] }" }, 'CUS_77'],
  [
    'an email address, if those count as secret',
    { 'platform.config.yaml': 'recordings: { redact: [emails] }' },
    'ada@lovelace.org',
  ],
  ["the caller's key, even if it is public", {}, developmentApiKey],
])('a scan finds %s', async (_what, config, secret) => {
  const files = { ...config, ...filesOf(recorded({ answer: `it is ${secret} here` })) }
  const { code, stdout } = await run(['recordings', 'scan'], { files })
  expect(code).toBe(1)
  expect(stdout).not.toContain(secret)
})

test('a scan finds a key that is split across two chunks of a stream', async () => {
  const pieces = [`data: my key is ${key.slice(0, 20)}`, `${key.slice(20)}\n\n`]
  const { code, stdout } = await run(['recordings', 'scan'], { files: filesOf(streamed({ pieces })) })
  expect({ code, lines: stdout.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 })
})

test('a scan covers other files in the folder, and files that are named on the command line', async () => {
  const files = { ...filesOf(recorded()), [`${DIR}/notes.md`]: `\n  ${key}\n`, 'src/app.ts': `const key = '${key}'\n` }
  const { code, stdout } = await run(['recordings', 'scan', 'src/app.ts'], { files })
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`^${DIR}/notes\\.md:2:3: \\S+\nsrc/app\\.ts:1:14: \\S+\n$`))
})

test('a scan enters folders with a dot in their name and follows links, each folder once', async () => {
  const dir = folderWith({ [`${DIR}/v1.0/.kept/notes.md`]: key, 'elsewhere/linked.md': key })
  await symlink(path.join(dir, 'elsewhere'), path.join(dir, DIR, 'link'))
  await symlink(path.join(dir, DIR), path.join(dir, 'elsewhere', 'round'))
  await symlink(path.join(dir, 'nowhere'), path.join(dir, DIR, 'broken'))
  const { code, stdout } = await run(['recordings', 'scan', '--recordings', path.join(dir, DIR)])
  expect(code).toBe(1)
  const found = stdout.trimEnd().split('\n')
  expect(found.map(line => line.split(`${DIR}/`)[1]?.replace(/: \S+$/, ''))).toEqual([
    'link/linked.md:1:1',
    'v1.0/.kept/notes.md:1:1',
  ])
})

test('scan --json prints one document', async () => {
  const { code, stdout } = await run(['recordings', 'scan', '--json'], { files: { [`${DIR}/notes.md`]: key } })
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject([{ file: `${DIR}/notes.md`, line: 1, column: 1 }])
})

test('a missing file is an error, not a clean result', async () => {
  expect(await run(['recordings', 'scan', 'nowhere.yaml'])).toMatchObject({
    ...{ code: 2, stdout: '' },
    stderr: `nowhere.yaml: ${cannotBeRead()}\n`,
  })
})
