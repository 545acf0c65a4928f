import { PassThrough } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { colorsFor, createOutput, printable } from '../../src/cli/output.js'

afterEach(() => void vi.unstubAllEnvs())

/** An output, and everything that was written, write by write. */
function outputInto() {
  const stream = new PassThrough()
  const writes: string[] = []
  stream.setEncoding('utf8').on('data', text => writes.push(text))
  return { output: createOutput(stream as unknown as NodeJS.WriteStream), writes }
}

const nextTurn = () => new Promise(resolve => setImmediate(resolve))

test('the lines of one turn of the event loop are written at once', async () => {
  const { output, writes } = outputInto()
  output.line('one')
  output.line('two')
  expect(writes).toEqual([])
  await nextTurn()
  expect(writes).toEqual(['one\ntwo\n'])
  output.line('three')
  await nextTurn()
  expect(writes).toEqual(['one\ntwo\n', 'three\n'])
})

test('flush writes pending lines immediately, and only once', async () => {
  const { output, writes } = outputInto()
  output.line('one')
  output.flush()
  await nextTurn()
  expect(writes).toEqual(['one\n'])
})

test.each([
  ['plain /path?and=more', 'plain /path?and=more'],
  ['Grüße 😀', 'Grüße 😀'],
  ['\u0000\u0009\u000a\u001f\u007f\u0080\u009f', '\\x00\\x09\\x0a\\x1f\\x7f\\x80\\x9f'],
  ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown)
})

test('only a terminal gets colours, unless it is a dumb one or NO_COLOR is set', () => {
  const isColored = (isTTY: boolean) => colorsFor({ isTTY } as NodeJS.WriteStream).bold('x') !== 'x'
  vi.stubEnv('TERM', 'xterm').stubEnv('NO_COLOR', '')
  expect([isColored(true), isColored(false)]).toEqual([true, false])
  vi.stubEnv('NO_COLOR', '1')
  expect(isColored(true)).toBe(false)
  vi.stubEnv('TERM', 'dumb').stubEnv('NO_COLOR', '')
  expect(isColored(true)).toBe(false)
})
