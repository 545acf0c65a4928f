import { EventEmitter, once } from 'node:events'
import { rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { watchFiles } from '../../src/cli/watch.js'
import { Folder } from '../../src/recordings/index.js'
import { folderWith, type RunningPlatform, start, startReady, writeInto } from '../command.js'
import { platformOf } from '../keys/edited.js'
import { saying as answering, liveWith } from '../recordings/live.js'
import { hello } from '../scene.js'
import { isUnknown, mustBe } from '../sentences.js'

const version = (text: string) => ({ 'platform.config.yaml': `version: ${text}\n` })
const saying = (text: string) => `- reply: { text: ${text} }\n`

const versionOf = async ({ ready }: { readonly ready: { readonly url: string } }) =>
  ((await (await fetch(`${ready.url}/health`)).json()) as { version: string }).version

const saidBy = async ({ chat }: RunningPlatform) =>
  ((await (await chat(hello)).json()) as { choices: [{ message: { content: string } }] }).choices[0].message.content

test('an edit applies from the next request on; a broken one keeps the last valid configuration and is reported', async () => {
  const platform = await startReady({ files: version('1.0.1') })
  expect(await versionOf(platform)).toBe('1.0.1')
  writeInto(platform.dir, version('1.1.1'))
  expect(await platform.event('reloaded')).toEqual({ ...platform.ready, event: 'reloaded' })
  expect(await versionOf(platform)).toBe('1.1.1')
  writeInto(platform.dir, version('two'))
  expect(await platform.event('reload-failed')).toEqual({
    event: 'reload-failed',
    problems: [
      {
        origin: 'platform.config.yaml',
        line: 1,
        column: 1,
        sentence: mustBe('version', 'three numbers with dots, such as 1.0.0', 'two'),
      },
    ],
  })
  expect(await versionOf(platform)).toBe('1.1.1')
  writeInto(platform.dir, version('3.3.3'))
  await platform.event('reloaded')
  expect(await versionOf(platform)).toBe('3.3.3')
})

test('a reload is shown on the terminal, with the files whose rules have changed, and a broken edit with the place of its mistake', async () => {
  const rules = 'fixtures/replies/a.yaml'
  const { dir, stdout, stderr } = start(['--port', '0'], {
    files: { ...version('1.1.1'), [rules]: saying('one'), 'fixtures/replies/b.yaml': saying('b') },
  })
  await stdout.next('SUPABASE_SERVICE_ROLE_KEY')
  writeInto(dir, { [rules]: saying('two') })
  expect(await stdout.next('Reloaded')).toBe(`Reloaded: ${rules}.`)
  writeInto(dir, { 'platform.config.yaml': 'versoin: 1\n' })
  expect(await stderr.next('versoin')).toBe(`platform.config.yaml:1:1: versoin ${isUnknown('version')}`)
  expect(await stderr.next('Not reloaded')).toBe('Not reloaded: the last valid configuration is still in use.')
  writeInto(dir, version('2.2.2'))
  expect(await stdout.next('Reloaded')).toBe('Reloaded: version 2.2.2.')
})

test('with --quiet a broken edit is still reported', async () => {
  const { dir, stdout, stderr } = start(['--port', '0', '--quiet', '--config', 'my.yaml'], {
    files: { 'my.yaml': 'replies: first.yaml\n', 'first.yaml': saying('one') },
  })
  // No line shows when the files are watched, so the file is broken in new ways until one is reported.
  let attempt = 0
  const edits = setInterval(() => writeInto(dir, { 'my.yaml': `versoin: ${attempt++}\n` }), 200)
  expect(await stderr.next('versoin').finally(() => clearInterval(edits))).toContain('my.yaml:1:1: versoin is not')
  expect(stdout.text).toBe('')
})

test('files that are created at run time are read: a configuration, rules in a new folder, .env; a deleted one no longer applies', async () => {
  const platform = await startReady()
  const write = async (files: Readonly<Record<string, string>>) => {
    writeInto(platform.dir, files)
    await platform.event('reloaded')
  }
  expect(await versionOf(platform)).toBe('1.0.0')
  await write(version('2.2.2'))
  expect(await versionOf(platform)).toBe('2.2.2')
  rmSync(path.join(platform.dir, 'platform.config.yaml'))
  await platform.event('reloaded')
  expect(await versionOf(platform)).toBe('1.0.0')
  await write({ 'fixtures/replies/b.yaml': saying('b') })
  expect(await saidBy(platform)).toBe('b')
  await write({ 'fixtures/replies/a.yaml': saying('a') })
  expect(await saidBy(platform)).toBe('a')
  await write({ '.env': 'STANDIN_VERSION=3.3.3' })
  expect(await versionOf(platform)).toBe('3.3.3')
})

test('a folder of recordings that an edited configuration names is filled from its first recording on', async () => {
  const live = await liveWith(answering({ ok: true }))
  const config = (folder: string) => ({
    'platform.config.yaml': `mode: record\nupstream: { baseUrl: '${live.url}', apiKey: live-key-for-reload }\nrecordings: { dir: ${folder} }\n`,
  })
  const { dir, chat, event } = await startReady({ files: config('one') })
  const filesIn = (folder: string) => [...new Folder(path.join(dir, folder)).files()]
  await (await chat(hello)).text()
  writeInto(dir, config('two'))
  await event('reloaded')
  await (await chat(hello)).text()
  const first = expect.stringMatching(/hello-\w{8}\.yaml$/)
  await expect.poll(() => filesIn('two')).toEqual([first])
  expect(filesIn('one')).toEqual([first])
})

test('new keys are shown, and a new port is said to need a restart', async () => {
  const { dir, stdout } = start([], { files: { 'platform.config.yaml': 'port: 0\n' } })
  const baseUrl = await stdout.next('Base URL')
  await stdout.next('SUPABASE_SERVICE_ROLE_KEY')
  writeInto(dir, { 'platform.config.yaml': 'port: 1\napiKeys: [{ name: mine, key: sk-mine }]\n' })
  expect(await stdout.next('Reloaded')).toBe('Reloaded: port 1, apiKeys.')
  expect(await stdout.next('Base URL')).toBe(baseUrl)
  expect(await stdout.next('API key')).toContain('sk-mine')
  expect(await stdout.next('host, port and state')).toBe(
    'Changes of host, port and state take effect at the next start.',
  )
})

test('an edit that would make the platform its own upstream is refused', async () => {
  const { platform, reload } = await platformOf({ version: '1.1.1' })
  await expect(reload({ mode: 'proxy', upstream: { baseUrl: platform.url } })).rejects.toThrow(
    'is this platform itself',
  )
  expect(await versionOf({ ready: platform })).toBe('1.1.1')
})

test('of two reloads at the same time, the one that began later applies last', async () => {
  const rules = Array.from({ length: 500 }, (_, i) => `- { when: { user: word${i} }, reply: { text: Hi } }\n`)
  const { reload, platform } = await platformOf({ replies: [] }, { 'many.yaml': rules.join('') })
  const slow = reload({ version: '1.1.1', replies: ['many.yaml'] })
  // By then, it has read the configuration, but not the rules.
  await nextTurn()
  await Promise.all([slow, reload({ version: '2.2.2', replies: [] })])
  expect(platform.loaded.config.version).toBe('2.2.2')
})

test('a switch of the mode during a reload survives it', async () => {
  const { reload, platform } = await platformOf({ recordings: { dir: 'recordings' } })
  const { setMode } = await platform.forTests.operations()
  const reloading = reload({ version: '1.1.1', recordings: { dir: 'recordings' } })
  await nextTurn()
  setMode.run({ body: { mode: 'replay', modes: {} } } as never)
  await reloading
  expect([platform.loaded.config.version, platform.mode]).toEqual(['1.1.1', 'replay'])
})

test('a file that nothing is read from triggers no reload', async () => {
  const platform = await startReady({
    files: { 'platform.config.yaml': 'replies: "*.rules"\n', 'a.rules': saying('a') },
  })
  writeInto(platform.dir, { 'notes.txt': 'a note' })
  // Late enough not to be merged with the note. If notes counted, a log in the same folder would reload without end.
  await saidBy(platform)
  setTimeout(() => writeInto(platform.dir, { 'a.rules': saying('b') }), 400)
  await platform.event('reloaded')
  expect(await saidBy(platform)).toBe('b')
})

/** Watches the files of a project that has these links. `changed` waits for the next change. */
async function watched(links: Readonly<Record<string, string>>) {
  const dir = folderWith({ 'shared/a.yaml': 'a', 'other/a.yaml': 'b', 'empty/.keep': '', 'project/fixtures/.keep': '' })
  const project = path.join(dir, 'project')
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(project, name))
  const changes = new EventEmitter()
  const configFile = path.join(project, 'platform.config.yaml')
  // All files count as changed at first, which shows when they have been found.
  const files = { configFile, otherFiles: [], replies: ['fixtures/replies/**/*.yaml', 'b.yaml'] }
  onTestFinished(
    watchFiles(
      () => files,
      0,
      () => void changes.emit('changed'),
    ),
  )
  const changed = () => once(changes, 'changed')
  await changed()
  return { dir, project, changed }
}

test('pointing the link of the reply folder at another folder is noticed', async () => {
  const { dir, project, changed } = await watched({ 'fixtures/replies': '../../empty', 'b.yaml': '../shared/a.yaml' })
  rmSync(path.join(project, 'fixtures/replies'))
  symlinkSync('../../other', path.join(project, 'fixtures/replies'))
  await changed()
  writeInto(dir, { 'other/a.yaml': 'another' })
  await changed()
})
