import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Files, runIn } from '../command.js'
import { DIR, filesOf, nameOf, namesIn, recorded, streamed } from './recorded.js'

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
  const { code, stdout, names } = await recordings(['prune'], allSorts)
  expect(code).toBe(0)
  expect(stdout).toContain('--incomplete       1 recording\n')
  expect(stdout).toContain('--older-than AGE   such as 30d\n')
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

test('prune prints one document with --json, and nothing with --quiet', async () => {
  const cutName = nameOf(cut)
  const { stdout } = await recordings(['prune', '--incomplete', '--json'], filesOf(cut))
  expect(JSON.parse(stdout)).toEqual({ dryRun: false, removed: [{ file: cutName, reasons: ['incomplete'] }] })
  const asked = await recordings(['prune', '--json'], filesOf(cut))
  expect(JSON.parse(asked.stdout)).toEqual({ dryRun: true, candidates: { incomplete: 1 }, removed: [] })
  for (const args of [['prune', '--incomplete'], ['prune']])
    expect(await recordings([...args, '--quiet'], filesOf(cut))).toMatchObject({ code: 0, stdout: '', stderr: '' })
})
