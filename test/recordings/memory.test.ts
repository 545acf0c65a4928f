import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { ignoreFrom } from '../../src/recordings/canonical.js'
import { createShelf, openFolder } from '../../src/recordings/folder.js'
import { requestKey } from '../../src/recordings/key.js'
import { fileOf, type RecordingFile } from '../../src/recordings/names.js'
import { createHistory } from '../../src/recordings/run.js'
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
  const key = requestKey(request, ignoreFrom([]))
  const kept: RecordingFile = { file: fileOf(request, key, 1), key, nth: 1 }
  return { kept, recording: recorded({ chunks: [{ atMs: 0, bytes: Buffer.from('{"said":"yes"}') }] }, request) }
}

test('a written recording leaves only its name in memory', async () => {
  const shelf = createShelf(openFolder(folderWith()))
  const run = createHistory(() => {}).of('')
  await shelf.ready()
  const record = async (first: number, end: number) => {
    for (let nth = first; nth < end; nth++) {
      const { kept, recording } = recordingOf(nth)
      run.begin(kept.key, shelf.of(kept.key))
      shelf.put(kept, recording)
      run.recorded(kept, recording.response, false)
    }
  }
  await record(0, 100)
  const before = heapBytes()
  await record(100, 600)
  expect((heapBytes() - before) / 500).toBeLessThan(2000)
  expect(run.receipt(shelf.all())).toMatchObject({ recorded: 600, unused: [] })
})

test('a recording that was read takes memory in proportion to its file', async () => {
  const folder = openFolder(folderWith())
  const all = Array.from({ length: 150 }, (_, nth) => recordingOf(nth))
  for (const { kept, recording } of all) folder.write(kept.file, recording, kept.key)
  const shelf = createShelf(folder)
  const read = async (some: typeof all) => {
    for (const { kept } of some) await shelf.read(kept.file)
  }
  await read(all.slice(0, 50))
  const before = heapBytes()
  await read(all.slice(50))
  // A file has about 3,500 bytes.
  expect((heapBytes() - before) / 100).toBeLessThan(20_000)
})

test('a scope with very many different requests forgets the counts of the oldest', () => {
  const run = createHistory(() => {}).of('')
  expect(run.count('', 'first')).toBe(0)
  expect(run.count('', 'first')).toBe(1)
  for (let nth = 0; nth < 10_000; nth++) run.count('', `request ${nth}`)
  expect(run.count('', 'request 9999')).toBe(1)
  expect(run.count('', 'first')).toBe(0)
})
