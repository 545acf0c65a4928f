import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Files, runIn } from '../command.js'
import { DIR, filesOf, folderIn, keyOfRecording, nameOf, namesIn, recorded, streamed } from './recorded.js'

/** Runs a `recordings` command, and lists what it left in the folder. */
async function recordings(args: readonly string[], files: Files) {
  const command = runIn(['recordings', ...args], { files })
  const end = await command.ended
  return { ...end, dir: command.dir, names: await namesIn(command.dir) }
}

const good = recorded()
const old = recorded({ prompt: 'old', ageDays: 40 })
const cut = streamed({ prompt: 'cut', complete: false })
const brokenFile = `models/broken-${'0'.repeat(12)}.yaml`
const allSorts = { ...filesOf(good, old, cut), [`${DIR}/${brokenFile}`]: 'nothing: here\n' }

test('prune without a flag removes nothing and says what each flag would remove', async () => {
  const { code, stdout, names } = await recordings(['prune'], {
    'platform.config.yaml': 'recordings: { maxAge: 30d }\n',
    ...allSorts,
  })
  expect(code).toBe(0)
  expect(stdout).toContain('--incomplete       1 recording\n')
  expect(stdout).toContain('--older-than 30d   1 recording\n')
  expect(stdout).toContain('--broken           1 recording\n')
  expect(names).toHaveLength(4)
})

test.each([
  ['--incomplete', nameOf(cut), 'incomplete'],
  ['--older-than=30d', nameOf(old), 'old'],
  ['--broken', brokenFile, 'broken'],
])('prune %s removes what the flag names and nothing else', async (flag, file, why) => {
  const { code, stdout, names } = await recordings(['prune', flag], allSorts)
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${file}: ${why}\n1 file removed.\n` })
  expect(names).not.toContain(file)
  expect(names).toHaveLength(3)
})

test('prune removes emptied folders, but not the one of all recordings', async () => {
  const { dir } = await recordings(['prune', '--broken'], allSorts)
  expect(existsSync(path.join(dir, DIR, 'models'))).toBe(false)
  const { dir: emptied } = await recordings(['prune', '--incomplete'], filesOf(cut))
  expect(existsSync(path.join(emptied, DIR, 'chat-completions'))).toBe(false)
  expect(existsSync(path.join(emptied, DIR))).toBe(true)
})

test('prune --dry-run only lists what would be removed', async () => {
  const { stdout, names } = await recordings(['prune', '--incomplete', '--broken', '--dry-run'], allSorts)
  expect(stdout).toContain(`${nameOf(cut)}: incomplete\n`)
  expect(stdout).toMatch(/2 files would be removed\.\n$/)
  expect(names).toHaveLength(4)
})

test('prune removes half-written files of killed processes, but not those that are being written', async () => {
  // No process has this id, on any system: it is beyond the largest.
  const [left, live] = [`.x.yaml.4194999-1.tmp`, `.x.yaml.${process.pid}-1.tmp`]
  const { stdout, dir } = await recordings(['prune', '--incomplete'], {
    ...filesOf(good),
    [`${DIR}/chat-completions/${left}`]: 'half',
    [`${DIR}/chat-completions/${live}`]: 'half',
  })
  expect(stdout).toContain(`chat-completions/${left}: leftover\n`)
  expect(existsSync(path.join(dir, DIR, 'chat-completions', left))).toBe(false)
  expect(existsSync(path.join(dir, DIR, 'chat-completions', live))).toBe(true)
})

test('rename gives one recording another slug; its folder, key and number stay', async () => {
  const second = nameOf(good, 2)
  const { code, stdout, names } = await recordings(['rename', second, 'greeting'], filesOf(good, good))
  const to = `chat-completions/greeting-${keyOfRecording(good)}-2.yaml`
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${second} -> ${to}\n1 recording renamed.\n` })
  expect(names.toSorted()).toEqual([nameOf(good), to].toSorted())
})

test('rename uses the next number if the name is taken, and overwrites nothing', async () => {
  const taken = `chat-completions/greeting-${keyOfRecording(good)}.yaml`
  const { names, dir } = await recordings(['rename', nameOf(good), 'greeting'], {
    ...filesOf(good),
    [`${DIR}/${taken}`]: filesOf(recorded({ answer: 'Mine.' }))[`${DIR}/${nameOf(good)}`] ?? '',
  })
  expect(names.toSorted()).toEqual([taken.replace('.yaml', '-2.yaml'), taken].toSorted())
  expect(readFileSync(path.join(dir, DIR, taken), 'utf8')).toContain('Mine.')
})

test('rename without arguments names an edited recording after its present request', async () => {
  const [file, text] = Object.entries(filesOf(good))[0] ?? ['', '']
  const edited = { [file]: `# Mind this one.\n${text.replaceAll('hello', 'good morning')}` }
  const { code, names, dir } = await recordings(['rename'], edited)
  const now = nameOf(recorded({ prompt: 'good morning' }))
  expect({ code, names }).toEqual({ code: 0, names: [now] })
  const renamed = await folderIn(dir).text(now)
  expect(renamed).toContain('# Mind this one.\n')
  expect(renamed).toContain(keyOfRecording(recorded({ prompt: 'good morning' })))
  expect(renamed).not.toContain(keyOfRecording(good))
})

test('rename numbers recordings under one key if an option has made them equal', async () => {
  const files = filesOf(
    recorded({ prompt: 'at 10:15', answer: 'one' }),
    recorded({ prompt: 'at 11:20', answer: 'two' }),
  )
  const config = { 'platform.config.yaml': String.raw`recordings: { ignore: ['/\d\d:\d\d/'] }` }
  const dry = await recordings(['rename', '--dry-run'], { ...config, ...files })
  expect(dry.stdout).toMatch(/2 recordings would be renamed\.\n$/)
  expect(dry.names).toHaveLength(2)
  const { names, dir } = await recordings(['rename'], { ...config, ...files })
  const keys = (await folderIn(dir).list()).map(({ key, nth }) => ({ key, nth }))
  expect(keys.map(({ nth }) => nth).toSorted()).toEqual([1, 2])
  expect(new Set(keys.map(({ key }) => key)).size).toBe(1)
  const texts = await Promise.all(names.map(folderIn(dir).text))
  expect(texts.filter(text => text.includes('content: one'))).toHaveLength(1)
  expect(texts.filter(text => text.includes('content: two'))).toHaveLength(1)
})

test('rename numbers recordings that become equal in the order in which they were recorded', async () => {
  const times = ['14:35', '13:30', '12:25', '11:20', '10:15']
  const files = filesOf(...times.map((time, i) => recorded({ prompt: `at ${time}`, answer: time, ageDays: 9 - i })))
  const config = { 'platform.config.yaml': String.raw`recordings: { ignore: ['/\d\d:\d\d/'] }` }
  const { dir } = await recordings(['rename'], { ...config, ...files })
  const folder = folderIn(dir)
  const kept = (await folder.list()).toSorted((a, b) => a.nth - b.nth)
  const texts = await Promise.all(kept.map(({ file }) => folder.text(file)))
  expect(texts.map(text => /content: "?(\d\d:\d\d)/.exec(text)?.[1])).toEqual(times)
})

test('rename swaps two recordings that were stored under the name of the other', async () => {
  const [one, other] = [
    recorded({ prompt: 'one', answer: 'to one' }),
    recorded({ prompt: 'other', answer: 'to other' }),
  ]
  const text = (recording: typeof one) => Object.values(filesOf(recording))[0] ?? ''
  const crossed = { [`${DIR}/${nameOf(one)}`]: text(other), [`${DIR}/${nameOf(other)}`]: text(one) }
  const { names, dir } = await recordings(['rename'], crossed)
  expect(names.toSorted()).toEqual([nameOf(one), nameOf(other)].toSorted())
  expect(await folderIn(dir).text(nameOf(one))).toContain('to one')
  expect(await folderIn(dir).text(nameOf(other))).toContain('to other')
})

test('rename leaves correct names alone and reports unreadable files', async () => {
  const { code, stdout, stderr, names } = await recordings(['rename'], allSorts)
  expect(code).toBe(1)
  expect(stdout).toBe('0 recordings renamed.\n')
  expect(stderr).toContain(brokenFile)
  expect(names).toHaveLength(4)
})

test('prune and rename print one document with --json, and nothing with --quiet', async () => {
  const cutName = nameOf(cut)
  const { stdout } = await recordings(['prune', '--incomplete', '--json'], filesOf(cut))
  expect(JSON.parse(stdout)).toEqual({ dryRun: false, removed: [{ file: cutName, reasons: ['incomplete'] }] })
  const asked = await recordings(['prune', '--json'], filesOf(cut))
  expect(JSON.parse(asked.stdout)).toEqual({ dryRun: true, candidates: { incomplete: 1 }, removed: [] })
  const renamed = await recordings(['rename', nameOf(good), 'greeting', '--json'], filesOf(good))
  expect(JSON.parse(renamed.stdout)).toEqual({
    dryRun: false,
    renamed: [{ from: nameOf(good), to: expect.stringContaining('greeting-') }],
  })
  for (const args of [['prune', '--incomplete'], ['prune'], ['rename']])
    expect(await recordings([...args, '--quiet'], filesOf(cut))).toMatchObject({ code: 0, stdout: '', stderr: '' })
})
