import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderWith } from '../command.js'
import { nameOfRecording, recordingOf } from '../dashboard/lists.js'
import { hello, platformWith, type Scene } from '../scene.js'

const recordings = '/__standin/recordings'

interface Listed {
  readonly file: string
  readonly said?: string
  readonly used?: boolean
  readonly problem?: string
}

interface List {
  readonly folder: string
  readonly data: readonly Listed[]
  readonly total: number
}

const bare = { bearer: null } as const

const listed = async ({ ask }: Scene, query = '') => (await (await ask(recordings + query, bare)).json()) as List

const errorOf = async (response: Response) => [response.status, ((await response.json()) as { error: string }).error]

async function withRecordings(files: Readonly<Record<string, string>>, more = {}) {
  const dir = folderWith(files)
  return { dir, platform: await platformWith({ recordings: { dir }, ...more }) }
}

test('recordings can be searched by prompt, model, path and name, and paged through', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [nameOfRecording(i), recordingOf(`question ${i} on whales`)]),
  )
  const { platform } = await withRecordings({
    ...files,
    [nameOfRecording(99)]: recordingOf('What does a penguin eat?'),
  })
  expect(await listed(platform, '?search=PENGUIN%20eat')).toMatchObject({
    total: 1,
    data: [{ file: nameOfRecording(99), said: 'What does a penguin eat?' }],
  })
  expect(await listed(platform, `?search=${'63.yaml'}`)).toMatchObject({ total: 1 })
  expect(await listed(platform, '?search=gpt-4o%20completions&limit=1')).toMatchObject({ total: 31 })
  expect(await listed(platform, '?search=nowhere')).toMatchObject({ total: 0, data: [] })
  const page = await listed(platform, '?limit=10&offset=25')
  expect([page.total, page.data.length, page.data[0]?.said]).toEqual([31, 6, 'question 25 on whales'])
  expect((await platform.ask(`${recordings}?limit=0`, bare)).status).toBe(400)
})

test('the list shows which recordings were used in this run, or cannot be read', async () => {
  const { platform } = await withRecordings(
    {
      [nameOfRecording(1)]: recordingOf('hello'),
      [nameOfRecording(2)]: recordingOf('another question'),
      [nameOfRecording(3)]: 'request: [',
    },
    { mode: 'replay' },
  )
  await (await platform.chat({ ...hello, model: 'gpt-4o' })).text()
  const { data } = await listed(platform)
  expect(data.map(({ used, problem }) => [used, problem])).toEqual([
    [true, undefined],
    [false, undefined],
    [undefined, expect.stringMatching(/not valid YAML/)],
  ])
})

test('without a folder the list is empty, and listing does not count as use', async () => {
  const dir = path.join(folderWith(), 'not-there')
  const platform = await platformWith({ recordings: { dir } })
  expect(await listed(platform)).toMatchObject({ data: [], total: 0, folder: expect.stringContaining('not-there') })
  expect(await platform.receipt()).toBeUndefined()
})

test('a recording can be read exactly as written, and deleted', async () => {
  const { platform } = await withRecordings({ [nameOfRecording(1)]: recordingOf('one') })
  const one = `${recordings}/${encodeURIComponent(nameOfRecording(1))}`
  expect(await (await platform.ask(one, bare)).json()).toEqual({ file: nameOfRecording(1), text: recordingOf('one') })
  expect((await platform.ask(one, { ...bare, method: 'DELETE' })).status).toBe(204)
  expect(await errorOf(await platform.ask(one, { ...bare, method: 'DELETE' }))).toEqual([
    404,
    `There is no recording "${nameOfRecording(1)}".`,
  ])
  expect((await listed(platform)).total).toBe(0)
})

test('no name leads out of the folder: neither dots, nor an absolute path, nor a link', async () => {
  const { dir, platform } = await withRecordings({ [nameOfRecording(1)]: recordingOf('one') })
  const outside = folderWith({
    [nameOfRecording(7)]: recordingOf('kept outside'),
    'secret-0123456789ab.yaml': recordingOf('kept outside'),
  })
  symlinkSync(path.join(outside, 'secret-0123456789ab.yaml'), path.join(dir, 'link-0123456789ab.yaml'))
  symlinkSync(path.join(outside, 'chat-completions'), path.join(dir, 'linked'))
  const names = [
    `../${path.basename(outside)}/${nameOfRecording(7)}`,
    path.join(outside, nameOfRecording(7)),
    `chat-completions/../../${path.basename(outside)}/${nameOfRecording(7)}`,
    'link-0123456789ab.yaml',
    nameOfRecording(7).replace('chat-completions', 'linked'),
    '%00',
  ]
  for (const name of names) {
    for (const method of ['GET', 'DELETE']) {
      const response = await platform.ask(`${recordings}/${encodeURIComponent(name)}`, { ...bare, method })
      expect([name, method, response.status]).toEqual([name, method, 404])
    }
  }
  expect(JSON.stringify(await listed(platform))).not.toContain('kept outside')
})
