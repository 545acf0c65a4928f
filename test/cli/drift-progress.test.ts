import { afterEach, expect, test, vi } from 'vitest'
import { createProgress } from '../../src/cli/report.js'

afterEach(() => void vi.useRealTimers())

/** A stream that keeps what is written. */
function scene({ isTTY, columns = 80 }: { readonly isTTY: boolean; readonly columns?: number }) {
  const written: string[] = []
  const stream = { isTTY, columns, write: (text: string) => written.push(text) > 0 }
  vi.useFakeTimers()
  return { written, progress: createProgress(4, stream), pass: (ms: number) => void vi.advanceTimersByTime(ms) }
}

test('a terminal shows the count and the current recording on one line, which never wraps', () => {
  const { written, progress } = scene({ isTTY: true, columns: 20 })
  progress.at('chat/a.yaml')
  progress.step()
  progress.at('chat-completions/a-name-that-is-too-long.yaml')
  progress.end()
  expect(written).toEqual(['\r\x1b[2K0/4 chat/a.yaml', '\r\x1b[2K1/4 chat-completion', '\r\x1b[2K'])
})

test('without a terminal, a line is printed every few seconds', () => {
  const { written, progress, pass } = scene({ isTTY: false })
  for (const name of ['a', 'b', 'c']) {
    progress.at(`${name}.yaml`)
    pass(4000)
    progress.step()
  }
  progress.end()
  expect(written).toEqual(['2/4 c.yaml\n'])
})
