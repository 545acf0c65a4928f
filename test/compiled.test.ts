import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { compiledCode } from '../src/compiled.js'
import { folderWith, startReady } from './command.js'

/** Runs the code of a built file; returns its result, and the files beside it once compiled code is kept. */
function ran(dir: string, digest = 'abc') {
  const run = compiledCode.run(pathToFileURL(path.join(dir, 'code.js')), digest) as (text: string) => string
  const said = run('ready')
  compiledCode.save()
  return { said, kept: readdirSync(dir).filter(name => name !== 'code.js') }
}

const files = { 'code.js': '(function (text) { return "It is " + text + "." })' }

test('kept code is not compiled again', () => {
  const dir = folderWith(files)
  const { said, kept } = ran(dir)
  expect({ said, kept }).toEqual({ said: 'It is ready.', kept: [expect.stringContaining('code.js.abc.')] })
  const before = statSync(path.join(dir, kept[0] ?? '')).ino
  expect(ran(dir)).toEqual({ said, kept })
  expect(statSync(path.join(dir, kept[0] ?? '')).ino).toBe(before)
})

test('code of another build is compiled anew, even if it has the same length', () => {
  const dir = folderWith(files)
  ran(dir)
  writeFileSync(path.join(dir, 'code.js'), files['code.js'].replace('It is', 'I was'))
  const { said, kept } = ran(dir, 'def')
  expect(said).toBe('I was ready.')
  expect(kept).toHaveLength(2)
})

/** A file that has never run, and the name under which its compiled code would be kept. */
function neverRun(word: string) {
  const dir = folderWith({ 'code.js': files['code.js'].replace('It', word) })
  const [name = ''] = ran(folderWith(files)).kept
  return { dir, name }
}

test('damaged compiled code is replaced', () => {
  const { dir, name } = neverRun('She')
  const { kept } = ran(dir)
  expect(kept).toEqual([name])
  const file = path.join(dir, name)
  const whole = readFileSync(file)
  // The function that has run stays in V8's memory, so the damaged file belongs to code of the same text elsewhere.
  const elsewhere = folderWith({ 'code.js': readFileSync(path.join(dir, 'code.js'), 'utf8') })
  for (const damaged of [Buffer.alloc(whole.length), whole.subarray(0, -8), whole.fill(0, 100, 108)]) {
    writeFileSync(path.join(elsewhere, name), damaged)
    expect(ran(elsewhere)).toEqual({ said: 'She is ready.', kept: [name] })
    expect(readFileSync(path.join(elsewhere, name)).equals(damaged)).toBe(false)
  }
})

test('code runs even if its compiled code cannot be kept', () => {
  const { dir, name } = neverRun('He')
  mkdirSync(path.join(dir, name, 'a folder'), { recursive: true })
  expect(ran(dir)).toEqual({ said: 'He is ready.', kept: [name] })
})

test('the error in an app that bundles the package says to leave it out', () => {
  const away = pathToFileURL(path.join(folderWith(), 'code.js'))
  expect(() => compiledCode.run(away, 'abc')).toThrow(
    /cannot read its file .*code\.js\. If this code is bundled, leave Standin out/,
  )
})

test('the built command keeps the compiled code of its largest files once it is ready', async () => {
  await startReady({ files: { 'platform.config.yaml': 'seed: 1\n' } })
  const chunks = readdirSync(path.join(import.meta.dirname, '../dist/chunks'))
  for (const name of ['start', 'yaml', 'running'])
    expect(chunks).toContainEqual(expect.stringMatching(new RegExp(`^${name}\\.code\\.js\\.[0-9a-f]{16}\\.`)))
})
