import { expect, test } from 'vitest'
import { createProgress } from '../../src/cli/report.js'

/** A stream that keeps what is written, and a clock that the test moves. */
function scene({ isTTY, columns = 80 }: { readonly isTTY: boolean; readonly columns?: number }) {
  const written: string[] = []
  let nowMs = 0
  const stream = { isTTY, columns, write: (text: string) => written.push(text) > 0 }
  return {
    written,
    progress: createProgress(4, stream, () => nowMs),
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

test('a terminal shows a bar with percentage, count, time and current recording on one line', () => {
  const { written, progress, pass } = scene({ isTTY: true })
  progress.at('chat/a.yaml')
  pass(2500)
  progress.step()
  pass(100)
  progress.at('chat/b.yaml')
  progress.end()
  expect(written).toEqual([
    '\r\x1b[2K░░░░░░░░░░░░░░░░░░░░ 0 % 0/4 0 s chat/a.yaml',
    '\r\x1b[2K█████░░░░░░░░░░░░░░░ 25 % 1/4 2 s chat/a.yaml',
    '\r\x1b[2K█████░░░░░░░░░░░░░░░ 25 % 1/4 2 s chat/b.yaml',
    '\r\x1b[2K',
  ])
})

test('a bar never wraps, and is not redrawn faster than the eye can follow', () => {
  const { written, progress, pass } = scene({ isTTY: true, columns: 40 })
  progress.at('chat-completions/a-name-that-is-much-too-long-for-this-terminal.yaml')
  for (let i = 0; i < 50; i++) {
    pass(1)
    progress.at(`chat-completions/another-name-of-many-${i}.yaml`)
  }
  expect(written.map(line => line.replace('\r\x1b[2K', '').length)).toEqual([39])
})

test('without a terminal, a line is printed every few seconds', () => {
  const { written, progress, pass } = scene({ isTTY: false })
  for (const name of ['a', 'b', 'c']) {
    progress.at(`${name}.yaml`)
    pass(4000)
    progress.step()
  }
  progress.end()
  expect(written).toEqual(['50 % 2/4 8 s b.yaml\n'])
})
