import { expect, test } from 'vitest'
import { compareAnswers, shapeOfAnswer } from '../../src/contract/shape.js'

interface Answer {
  readonly status?: number
  readonly type?: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
}

const shaped = ({ status = 200, type = 'application/json', headers = [], body = '{}' }: Answer) =>
  shapeOfAnswer({
    status,
    headers: [['content-type', type], ...headers],
    body: Buffer.from(body),
  })

/** The drift between two answers, as `severity path`. */
const drifted = (recorded: Answer, live: Answer) =>
  compareAnswers(shaped(recorded), shaped(live)).map(({ severity, path }) => `${severity} ${path}`)

test.each<[string, Answer, Answer, readonly string[]]>([
  ['an error instead of success', {}, { status: 500, body: '{"error":"x"}' }, ['critical status']],
  ['success instead of an error', { status: 404, body: '{"error":"x"}' }, {}, ['critical status']],
  ['another kind of error', { status: 404 }, { status: 503 }, ['critical status']],
  ['another success status', { status: 200 }, { status: 201 }, ['warning status']],
  ['an overload that has passed', { status: 429 }, { status: 200 }, ['warning status']],
  ['an outage that has passed', { status: 503 }, { status: 200 }, ['warning status']],
  [
    'an error with another body',
    { status: 400, body: '{"error":"No."}' },
    { status: 400, body: '{"error":{"message":"No."}}' },
    ['critical error'],
  ],
  [
    'an error with other words',
    { status: 400, body: '{"error":"No."}' },
    { status: 400, body: '{"error":"Never."}' },
    [],
  ],
  ['another content type', {}, { type: 'text/html', body: '<p>Hello' }, ['critical content-type', 'critical body']],
  ['the same type with a charset', {}, { type: 'Application/JSON; charset=utf-8' }, []],
  ['broken JSON', {}, { body: '{' }, ['critical body']],
  ['an empty body', {}, { body: '' }, ['critical body']],
  [
    'removed and new headers',
    { headers: [['x-ratelimit-limit-requests', '60']] },
    { headers: [['retry-after', '1']] },
    ['warning x-ratelimit-limit-requests', 'info retry-after'],
  ],
  ['headers with other values', { headers: [['retry-after', '1']] }, { headers: [['retry-after', '20']] }, []],
  ['headers that mean nothing to clients', { headers: [['x-request-id', 'a']] }, {}, []],
])('the drift has its severity: %s', (_what, recorded, live, expected) => {
  expect(drifted(recorded, live)).toEqual(expected)
})

const choice = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const role = choice({ role: 'assistant', content: '' })
const words = ['one', ' two', ' three'].map(content => choice({ content }))
const finish = choice({}, 'stop')
const usage = { choices: [], usage: { total_tokens: 3 } }
const DONE = '[DONE]'

const stream = (frames: readonly unknown[], end = '\n'): Answer => ({
  type: 'text/event-stream',
  body: frames
    .map(frame => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}${end}${end}`)
    .join(`: still there${end}${end}`),
})

const whole = [role, ...words, finish, usage, DONE]

test.each<[string, readonly unknown[], readonly string[]]>([
  ['that is the same', whole, []],
  ['with one word instead of three', [role, choice({ content: 'One, two, three!' }), finish, usage, DONE], []],
  [
    'that is cut off by the limit',
    [role, ...words, choice({}, 'length'), usage, DONE],
    ['info choices[].finish_reason'],
  ],
  ['without [DONE]', [role, ...words, finish, usage], ['critical [DONE]']],
  ['without its role', [choice({ content: 'o' }), ...words, finish, usage, DONE], ['critical choices[].delta.role']],
  ['without its usage', [role, ...words, finish, DONE], ['critical usage']],
  ['that never finishes', [role, ...words, choice({}), usage, DONE], ['critical choices[].finish_reason']],
  [
    'with other deltas',
    [role, ...['one', 'two'].map(text => choice({ text })), finish, usage, DONE],
    ['warning choices[].delta.text', 'critical choices[].delta.content'],
  ],
  [
    'with a tool call instead of the words',
    [role, choice({ tool_calls: [{ index: 0 }] }), choice({}, 'stop'), usage, DONE],
    ['warning choices[].delta.tool_calls'],
  ],
  [
    'with an unknown finish reason',
    [role, ...words, choice({}, 'eos'), usage, DONE],
    ['critical choices[].finish_reason'],
  ],
  [
    'with an error in the middle',
    [role, { error: 'Too much.' }, ...words, finish, usage, DONE],
    expect.arrayContaining(['critical error']),
  ],
  ['with a frame that is not JSON', [role, '{"choices":', ...words, finish, usage, DONE], ['critical body']],
  ['without any frame', [DONE], ['critical body']],
])('a recorded stream is compared with one %s', (_what, frames, expected) => {
  expect(drifted(stream(whole), stream(frames, '\r\n'))).toEqual(expected)
})

test('a stream that has become a whole answer is critical, and the other way round', () => {
  const completion = { body: JSON.stringify({ object: 'chat.completion', choices: [] }) }
  expect(drifted(stream(whole), completion)).toEqual(['critical content-type', 'critical body'])
  expect(drifted(completion, stream(whole))).toEqual(['critical content-type', 'critical body'])
})

test('a stream of lines is compared line by line', () => {
  const lines = (...values: readonly object[]) => ({
    type: 'application/x-ndjson',
    body: values.map(value => `${JSON.stringify(value)}\n`).join(''),
  })
  expect(drifted(lines({ a: 1 }, { a: 2 }), lines({ a: 3 }))).toEqual([])
  expect(drifted(lines({ a: 1 }, { a: 2 }), lines({ b: 3 }))).toEqual(['critical a', 'warning b'])
})
