import { expect, onTestFinished, test, vi } from 'vitest'
import { createPauses, inSlices, inTurns, runAtOnce, type Sliced } from '../../src/core/work.js'
import { writeText } from '../../src/recordings/file-text.js'
import { redactResponse } from '../../src/recordings/redacted.js'
import { createRedact } from '../../src/redact/index.js'
import { recorded } from '../recordings/scene.js'

/** Keeps the processor busy for longer than a slice, this many times. */
function* busy(times: number, said: string[]): Sliced<string> {
  for (let i = 0; i < times; i++) {
    const endMs = performance.now() + 6
    while (performance.now() < endMs);
    said.push('work')
    yield
  }
  return 'done'
}

test('long work yields to other tasks', async () => {
  const said: string[] = []
  const done = inSlices(busy(3, said))
  const others = setInterval(() => said.push('others'), 0)
  expect(await done).toBe('done')
  clearInterval(others)
  expect(said.filter(who => who === 'work')).toHaveLength(3)
  expect(said.slice(0, said.lastIndexOf('work'))).toContain('others')
})

test('short work finishes synchronously', () => {
  // With a fixed clock this work takes no time, however slow the machine is.
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => now.mockRestore())
  let isDone = false
  inSlices(
    (function* () {
      yield
      isDone = true
    })(),
  )
  expect(isDone).toBe(true)
})

test('failing work rejects in slices and throws at once', async () => {
  function* failing(): Sliced<void> {
    yield
    throw new Error('no')
  }
  await expect(inSlices(failing())).rejects.toThrow('no')
  expect(() => runAtOnce(failing())).toThrow('no')
})

/** The number of pauses in the work. */
function pausesOf(work: Sliced<unknown>): number {
  let pauses = 0
  while (!work.next().done) pauses++
  return pauses
}

test('a stream of 2,000 chunks is redacted and written with a pause for each chunk', () => {
  const event = (i: number) => `data: {"choices":[{"index":0,"delta":{"content":"word ${i} "}}]}\n\n`
  const chunks = Array.from({ length: 2000 }, (_, i) => ({ atMs: i, bytes: Buffer.from(event(i)) }))
  const recording = recorded({ headers: [['content-type', 'text/event-stream']], chunks })
  const redaction = createRedact({ known: [], patterns: [], names: [], emails: true })()
  expect(pausesOf(redactResponse(recording.response, redaction))).toBeGreaterThan(2000)
  expect(pausesOf(writeText(recording, '0123456789ab'))).toBeGreaterThan(2000)
})

test('a pause ends as soon as a caller waits for the work, and later pauses are skipped', async () => {
  const pauses = createPauses()
  const work = (async () => {
    await pauses.of(60_000)
    await pauses.of(60_000)
  })()
  await expect(pauses.without(() => work)).resolves.toBeUndefined()
})

test('each piece of work starts in its own turn of the event loop, and results come in order', async () => {
  const begun: string[] = []
  const piece = (name: string) => () => {
    begun.push(name)
    return name
  }
  setImmediate(() => begun.push('a request'))
  expect(await inTurns([piece('first'), piece('second')])).toEqual(['first', 'second'])
  expect(begun).toEqual(['a request', 'first', 'second'])
})
