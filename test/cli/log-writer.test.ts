import { expect, onTestFinished, test, vi } from 'vitest'
import { createLogWriter } from '../../src/cli/event-log.js'
import { createColors } from '../../src/cli/output.js'
import type { JournalEntry } from '../../src/journal/index.js'
import { KEY_UNKNOWN } from '../sentences.js'

/** What a terminal shows after these bytes were written. Emulates only what the log uses. */
function screenOf(written: string): readonly string[] {
  const rows: string[] = ['']
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what steers
  for (const part of written.split(/(\u001b\[\d*[AJ]|\r|\n)/)) {
    const up = /\[(\d+)A/.exec(part)
    if (up) rows.splice(rows.length - 1 - Number(up[1]))
    else if (part === '\n') rows.push('')
    else if (!/^(\r|.*\[0J)$/.test(part)) rows[rows.length - 1] += part
    if (up) rows.push('')
  }
  return rows.filter(row => row !== '')
}

function logOn(kind: 'terminal' | 'pipe') {
  let written = ''
  const write = (text: string) => {
    written += text
  }
  const log = createLogWriter({
    output: { write, line: text => write(`${text}\n`), flush() {} },
    layout: () => ({ colors: createColors(false), ...(kind === 'terminal' && { columns: 100 }) }),
    canOverwrite: kind === 'terminal',
  })
  return {
    ...log,
    /** Without times and columns. */
    shown: () => screenOf(written).map(row => row.replace(/^\d\d:\d\d:\d\d /, '').replace(/ +/g, ' ')),
    written: () => written,
  }
}

const asked = (method: string, path: string, more: Partial<JournalEntry> = {}): JournalEntry => ({
  id: '1',
  at: '2030-01-01T12:00:00.000Z',
  scope: '',
  caller: { kind: 'anonymous' },
  run: '1',
  message: null,
  request: { method, path, query: '', headers: {}, bytes: 0, truncated: false },
  endpoint: `${method} ${path}`,
  name: null,
  call: null,
  mode: 'emulate',
  source: null,
  answeredBy: null,
  fault: null,
  repeatable: true,
  remark: null,
  status: 200,
  error: null,
  code: null,
  hint: null,
  advice: null,
  openaiRefuses: null,
  complete: true,
  violations: [],
  response: { headers: {}, bytes: 0, truncated: false, piecesAtMs: [] },
  tokens: null,
  firstByteMs: 1,
  firstTokenMs: null,
  durationMs: 2,
  ...more,
})

const health = asked('GET', '/health')
const chat = asked('POST', '/v1/chat/completions', { source: 'rule "greeting"' })
const preflight = asked('OPTIONS', '/v1/chat/completions', { status: 204, mode: null })
const refused = asked('GET', '/v1/models', {
  status: 401,
  error: KEY_UNKNOWN,
  code: 'unknown_api_key',
  advice: 'Send another key.',
  endpoint: null,
  mode: null,
})
const chatLine = 'POST /v1/chat/completions 200 2.0ms emulate · rule "greeting"'

test('on a terminal, repeated requests share one line with a growing count', () => {
  const { request, shown } = logOn('terminal')
  for (let i = 0; i < 50; i++) request(health)
  expect(shown()).toEqual(['GET /health 200 2.0ms emulate ×50'])
  request(chat)
  request(health)
  expect(shown()).toEqual(['GET /health 200 2.0ms emulate ×50', chatLine, 'GET /health 200 2.0ms emulate'])
})

test('in a pipe, a request is written at once, and the number of its repetitions before the next different one', () => {
  const { request, shown, written } = logOn('pipe')
  for (let i = 0; i < 50; i++) request(health)
  expect(shown()).toEqual(['GET /health 200 2.0ms emulate'])
  request(chat)
  expect(shown()).toEqual([
    'GET /health 200 2.0ms emulate',
    'GET /health 200 2.0ms emulate (and 49 more like it)',
    chatLine,
  ])
  expect(written()).not.toContain('\u001b')
})

test('ending the log writes what is still pending', () => {
  const { request, end, shown } = logOn('pipe')
  for (const line of [health, health, preflight]) request(line)
  end()
  expect(shown()).toEqual([
    'GET /health 200 2.0ms emulate',
    'GET /health 200 2.0ms emulate (and 1 more like it)',
    'OPTIONS /v1/chat/completions 204 2.0ms',
  ])
})

test('a request that is refused again and again is one line, with its advice once', () => {
  const { request, shown } = logOn('terminal')
  for (let i = 0; i < 7; i++) request(refused)
  expect(shown()[0]).toContain(`refused · ${KEY_UNKNOWN} ×7`)
  expect(shown().filter(row => row.includes('→'))).toHaveLength(1)
})

test('chat completions are never merged into one line', () => {
  const { request, shown } = logOn('terminal')
  request(chat)
  request(chat)
  expect(shown()).toEqual([chatLine, chatLine])
})

test('a preflight is logged with its request', () => {
  const { request, shown } = logOn('pipe')
  request(preflight)
  request(chat)
  expect(shown()).toEqual([`${chatLine} (after a preflight)`])
})

test('preflights without a request are logged after a while', () => {
  const { request, shown } = logOn('pipe')
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  request(preflight)
  request(preflight)
  expect(shown()).toEqual([])
  vi.advanceTimersByTime(2000)
  expect(shown()).toEqual(['OPTIONS /v1/chat/completions 204 2.0ms (2 preflights)'])
})

test('a line is not updated once something else is written below it, or the terminal was resized', () => {
  const { request, interrupt, shown } = logOn('terminal')
  request(health)
  request(health)
  interrupt()
  request(health)
  expect(shown()).toEqual(['GET /health 200 2.0ms emulate ×2', 'GET /health 200 2.0ms emulate'])
})

test('with bodies, each request is logged separately', () => {
  const { request, shown } = logOn('terminal')
  request(health, ['  < 2 B', '    {}'])
  request(health, ['  < 2 B', '    {}'])
  expect(shown()).toHaveLength(6)
})
