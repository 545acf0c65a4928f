import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { recordingText } from '../../src/recordings/file-text.js'
import { Folder } from '../../src/recordings/folder.js'
import { ignoreFrom } from '../../src/recordings/ignore.js'
import { keysOf } from '../../src/recordings/key.js'
import { Lookup } from '../../src/recordings/lookup.js'
import { fileOf } from '../../src/recordings/names.js'
import { Run } from '../../src/recordings/run.js'
import { folderWith } from '../command.js'
import { asking, recorded } from './scene.js'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Heap in use after a garbage collection. */
function heapBytes(): number {
  collect()
  return process.memoryUsage().heapUsed
}

/** The `nth` of many recordings, with a question of 3,000 characters. */
function recordingOf(nth: number) {
  const content = `Question ${nth}: ${'what, if anything, is "that"? '.repeat(100)}`
  const request = asking({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
  const keys = keysOf(request, ignoreFrom([]))
  const file = fileOf(request, keys.conversation, '')
  const recording = recorded({ chunks: [{ atMs: 0, bytes: Buffer.from('{"said":"yes"}') }] }, request)
  return { file, keys, recording }
}

test('a written recording leaves only its name in memory', () => {
  const folder = new Folder(folderWith())
  const run = new Run()
  const record = (first: number, end: number) => {
    for (let nth = first; nth < end; nth++) {
      const { file, keys, recording } = recordingOf(nth)
      const place = run.place('', keys)
      folder.create(file, recordingText(recording))
      run.recorded({ test: '', key: keys.key, place, file }, recording.response, false)
    }
  }
  record(0, 100)
  const before = heapBytes()
  record(100, 600)
  expect((heapBytes() - before) / 500).toBeLessThan(2000)
  expect(run.receipt(new Lookup(folder, ignoreFrom([])))).toMatchObject({ recorded: 600, unused: [] })
})

test('a new recording is written without reading the folder', async () => {
  const others = Array.from({ length: 50 }, (_, nth) => [recordingOf(nth + 1).file, '<<<<<<< ours\n'] as const)
  const folder = new Folder(folderWith(Object.fromEntries(others)))
  const lookup = new Lookup(folder, ignoreFrom([]))
  const { file, keys, recording } = recordingOf(0)
  await lookup.ready()
  expect(lookup.equal(keys, '')).toEqual([])
  lookup.learn(folder.create(file, recordingText(recording)), { ...recording, test: '', place: 1 })
  // Each of the others would be noticed as unreadable.
  expect(folder.unreadable().size).toBe(0)
  await lookup.all()
  expect(folder.unreadable().size).toBe(50)
})

test('a recording that was read takes memory in proportion to its file', () => {
  const folder = new Folder(folderWith())
  const all = Array.from({ length: 150 }, (_, nth) => recordingOf(nth))
  for (const { file, recording } of all) folder.create(file, recordingText(recording))
  const read = (some: typeof all) => {
    for (const { file } of some) folder.read(file)
  }
  read(all.slice(0, 50))
  const before = heapBytes()
  read(all.slice(50))
  // A file has about 3,500 bytes.
  expect((heapBytes() - before) / 100).toBeLessThan(20_000)
})

test('a test with very many different requests forgets the counts of the oldest', () => {
  const run = new Run()
  const count = (key: string) => run.count('a test', { key, conversation: '' }, '')
  expect([count('first'), count('first')]).toEqual([0, 1])
  for (let nth = 0; nth < 10_000; nth++) count(`request ${nth}`)
  expect([count('request 9999'), count('first')]).toEqual([1, 0])
})
