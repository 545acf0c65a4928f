import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { RunNote } from '../../src/recordings/notes.js'
import { processName } from '../../src/recordings/process.js'
import { emptyReceipt, type Receipt } from '../../src/recordings/receipt.js'
import { type Files, folderWith, run, runIn, runInProcess } from '../command.js'
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
  const [left, live] = [`.x.yaml.4194999.1-1.tmp`, `.x.yaml.${processName()}-1.tmp`]
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

const failed = (prompt: string, status: number) => {
  const recording = recorded({ prompt })
  return { ...recording, response: { ...recording.response, status } }
}

test('prune --errors removes errors that pass, and keeps those that an app has to expect', async () => {
  const passing = [failed('busy', 429), failed('down', 503)]
  const { stdout, names } = await recordings(
    ['prune', '--errors'],
    filesOf(good, ...passing, failed('who', 401), failed('none', 404)),
  )
  expect(stdout).toBe(`${passing.map(one => `${nameOf(one)}: error\n`).join('')}2 files removed.\n`)
  expect(names).toHaveLength(3)
})

/** Asks for these prompts below `standin exec --mode replay`, with three recordings. */
async function replayed(prompts: readonly string[], ending = '') {
  const dir = folderWith(filesOf(good, old, recorded({ prompt: 'third' })))
  const asks = prompts.map(content => {
    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
    return `curl -sf "$OPENAI_BASE_URL/chat/completions" -o answer -H "authorization: Bearer $OPENAI_API_KEY" -H 'content-type: application/json' -d '${body}'\n`
  })
  const place = ['--recordings', path.join(dir, DIR)]
  await runInProcess(['exec', '--mode', 'replay', ...place, '--', 'sh', '-c', `${asks.join('')}${ending}`])
  const prune = async (...flags: readonly string[]) => ({
    ...(await run(['recordings', 'prune', ...place, ...flags])),
    names: await namesIn(dir),
  })
  return { dir: path.join(dir, DIR), prune }
}

test('prune --unused removes what the last complete replay did not use', async () => {
  const { prune, dir } = await replayed(['hello', 'third'])
  expect((await prune()).stdout).toMatch(/--unused {11}1 recording\. The last run ended at \S+Z after 2 answers\.\n/)
  expect((await prune('--unused', '--dry-run')).names).toHaveLength(3)
  const { stdout, names } = await prune('--unused')
  expect(stdout).toBe(`${nameOf(old)}: unused\n1 file removed.\n`)
  expect(names).toHaveLength(2)
  expect(readFileSync(path.join(dir, '.standin/.gitignore'), 'utf8')).toBe('*\n')
})

test.each([
  ['no replay', [], '', 'No run with it is noted.'],
  ['a replay that failed', ['hello'], 'exit 3', 'The last run ended with exit code 3, so it may not have used'],
])('after %s, prune --unused says why it removes nothing', async (_, prompts, ending, why) => {
  const { prune } = await replayed(prompts, ending)
  expect(await prune('--unused')).toMatchObject({ code: 2, stderr: expect.stringContaining(why) })
  const { stdout, names } = await prune()
  expect(stdout).toContain(`--unused           ${why}`)
  expect(names).toHaveLength(3)
})

/** What one of the processes of this run has noted at its end. */
function note(dir: string, receipt: Partial<Receipt>) {
  const end = { endedMs: Date.now(), exitCode: 0, isWhole: false, receipt: { ...emptyReceipt, served: 1, ...receipt } }
  new RunNote(dir, expect.unreachable).ended(end)
}

test('what another process of the run has used, or what was recorded since, is not unused', async () => {
  const { prune, dir } = await replayed(['hello'])
  const [first, second, third] = [nameOf(good), nameOf(old), nameOf(recorded({ prompt: 'third' }))]
  note(dir, { used: [first], unused: [second, third] })
  note(dir, { used: [third], unused: [first, second] })
  expect((await prune('--unused')).stdout).toBe(`${second}: unused\n1 file removed.\n`)
  note(dir, { unused: [third] })
  expect((await prune('--unused')).stdout).toBe('0 files removed.\n')
  expect(existsSync(path.join(dir, third))).toBe(true)
})

test('a part of a run that was killed, or a test that failed, makes nothing unused', async () => {
  const { prune, dir } = await replayed(['hello'])
  const unused = [nameOf(old)]
  const ofTest = { ...{ served: 1, others: 0, changedPrompts: 0, changedMessages: 0, missed: 0, recorded: 0 } }
  note(dir, { unused, tests: { '': { ...ofTest, result: 'failed' } } })
  expect((await prune('--unused')).stdout).toBe('0 files removed.\n')
  const file = path.join(dir, '.standin/runs/99.jsonl')
  const [head = ''] = readFileSync(path.join(dir, '.standin/runs/2.jsonl'), 'utf8').split('\n')
  writeFileSync(file, `${head.replace(/"by":"[^"]*"/, '"by":"4194999.1"')}\n`)
  expect(await prune('--unused')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('A part of the last run was killed'),
  })
})

test('a removal of more than half of the folder asks for a yes', async () => {
  const { prune, dir } = await replayed(['hello'])
  note(dir, { used: [nameOf(good)], unused: [nameOf(old), nameOf(recorded({ prompt: 'third' }))] })
  expect(await prune('--unused')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('2 of 3 recordings would be removed, more than half of the folder. Add --yes'),
  })
  expect((await prune('--unused', '--yes')).names).toHaveLength(1)
})

test('a test that is gone is unused if the last run was whole', async () => {
  const dir = folderWith(filesOf(good, old))
  const [mine, gone] = [nameOf(good), nameOf(old)]
  const file = path.join(dir, DIR, gone)
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^request:/m, 'test: test/orders.test.ts > refunds\nrequest:'))
  // Within a millisecond of the run's start, a file counts as recorded since.
  utimesSync(file, new Date(0), new Date(0))
  note(path.join(dir, DIR), { used: [mine] })
  const prune = async (...flags: readonly string[]) =>
    (await run(['recordings', 'prune', '--recordings', path.join(dir, DIR), '--unused', ...flags])).stdout
  expect(await prune()).toBe('0 files removed.\n')
  expect(await prune('--whole')).toBe(`${gone}: unused\n1 file removed.\n`)
})
