import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderWith, startIn } from '../command.js'
import { runHere } from '../run-here.js'
import { DIR, filesOf, nameOf, namesIn, recorded } from './recorded.js'

const [same, other, damaged, whole] = ['same', 'other', 'damaged', 'whole'].map(prompt => recorded({ prompt })) as [
  ReturnType<typeof recorded>,
  ...ReturnType<typeof recorded>[],
]
const fileOf = (recording = same) => `${DIR}/${nameOf(recording)}`

/** The text of a recording after two branches have changed this line of it. */
const conflicting = (recording: typeof same, line: RegExp, ours: string, theirs: string) =>
  filesOf(recording)[fileOf(recording)]?.replace(
    line,
    `<<<<<<< HEAD\n${ours}\n=======\n${theirs}\n>>>>>>> their-branch\n`,
  ) ?? ''

/** A folder after a merge: two branches have recorded one request at other times, and another one with other answers. */
const merged = () =>
  folderWith({
    ...filesOf(whole as typeof same),
    [fileOf(same)]: conflicting(
      same,
      /^recordedAt: .*\n/m,
      'recordedAt: "2026-11-28T10:00:00.000Z"',
      'recordedAt: "2026-11-28T11:00:00.000Z"',
    ),
    [fileOf(other)]: conflicting(
      other as typeof same,
      /^ +content: Hi!\n/m,
      '            content: Hi!',
      '            content: Hello!',
    ),
    [fileOf(damaged)]: 'request: [',
  })

const here = (dir: string, ...args: readonly string[]) => runHere(args, { dir, env: {}, input: undefined })

test('what a merge has left unreadable is named by config check, scan, the receipt and each miss; repair takes out the markers that say nothing', async () => {
  const dir = merged()
  for (const command of [
    ['config', 'check'],
    ['recordings', 'scan'],
  ]) {
    const { code, stderr } = await here(dir, ...command)
    expect(code).toBe(1)
    for (const recording of [same, other]) expect(stderr).toMatch(new RegExp(`${fileOf(recording)}:\\d+.* conflict`))
    expect(stderr).toContain(`${fileOf(damaged)}:1`)
    expect(stderr).not.toContain(fileOf(whole))
  }
  const ask = `
    const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'same' }] }),
    })
    console.log(response.status, await response.text())`
  const replay = () =>
    startIn(dir, ['exec', '--mode', 'replay', '--', process.execPath, '--input-type=module', '-e', ask], {}).ended
  const missed = await replay()
  expect(missed.stdout).toMatch(/^424 .*cannot be read/)
  expect(missed.stderr).toContain('3 recordings cannot be read (some may be repaired: standin recordings repair):')

  expect((await here(dir, 'recordings', 'repair', '--dry-run')).stdout).toBe(
    `${nameOf(same)}: markers removed\n1 file would be repaired.\n`,
  )
  const repaired = await here(dir, 'recordings', 'repair')
  expect(repaired).toMatchObject({ code: 1, stdout: `${nameOf(same)}: markers removed\n1 file repaired.\n` })
  expect(repaired.stderr).toMatch(new RegExp(`${fileOf(other)}:\\d+.* conflict`))
  expect(repaired.stderr).not.toContain(fileOf(same))
  expect(readFileSync(path.join(dir, fileOf(same)), 'utf8')).toContain('recordedAt: "2026-11-28T10:00:00.000Z"\n')
  expect((await replay()).stdout).toMatch(/^200 /)
})

test('a folder of 0.3 replays as it is, and repair gives it the form and the names of today', async () => {
  const earlier = (text: string) =>
    text
      .replace('request:\n', 'key: 743a554efe06\nrequest:\n')
      .replace('      model: gpt-4o\n\n', '')
      .replace(/content: (twice|mine)\n/, 'content: $1\n      model: gpt-4o\n')
  const [text = ''] = Object.values(filesOf(recorded({ prompt: 'twice' })))
  const again = text.replace('Hi!', 'Hi again!')
  const dir = folderWith({
    [`${DIR}/chat-completions/gpt-4o-twice-743a554efe06-2.yaml`]: earlier(again),
    [`${DIR}/chat-completions/gpt-4o-twice-743a554efe06.yaml`]: earlier(text),
    [`${DIR}/chat-completions/mine.yml`]: earlier(text.replaceAll('twice', 'mine')),
  })
  const ask = `
    for (const content of ['twice', 'twice', 'mine']) {
      const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }),
      })
      console.log((await response.json()).choices?.[0].message.content)
    }`
  const replay = () =>
    startIn(
      dir,
      ['exec', '--mode', 'replay', '--strict-unused', '--', process.execPath, '--input-type=module', '-e', ask],
      {},
    ).ended
  expect(await replay()).toMatchObject({ code: 0, stdout: 'Hi!\nHi again!\nHi!\n' })
  expect(await here(dir, 'recordings', 'repair')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('3 files repaired.\n'),
  })
  expect(await namesIn(dir)).toEqual([
    'chat-completions/mine.yml',
    expect.stringMatching(/^chat-completions\/twice-[0-9a-f]{8}-2\.yaml$/),
    expect.stringMatching(/^chat-completions\/twice-[0-9a-f]{8}\.yaml$/),
  ])
  expect(await replay()).toMatchObject({ code: 0, stdout: 'Hi!\nHi again!\nHi!\n' })
})
