import pc from 'picocolors'
import { expect, test } from 'vitest'
import { requestEvent, requestLine } from '../../src/cli/request-log.js'
import type { Exchange } from '../../src/core/exchange.js'
import { exchangeWith } from '../exchanges.js'

const noColors = pc.createColors(false)
const colors = pc.createColors(true)

const answered = { status: 200, source: undefined, error: undefined, complete: true }

const exchange = (parts: Partial<Exchange> = {}): Exchange =>
  exchangeWith({ method: 'GET', path: '/health', startedMs: performance.now(), outcome: answered, ...parts })

/** The line without its time of day and its duration. */
const lineOf = (parts: Partial<Exchange>) =>
  requestLine(exchange(parts), noColors)
    .replace(/^\d\d:\d\d:\d\d /, '')
    .replace(/[\d.]+ ms/, '- ms')

test.each<[string, Exchange['caller']]>([
  ['', { kind: 'anonymous' }],
  [' anon key', { kind: 'anon' }],
  [' service key', { kind: 'service' }],
  [' API key "ci"', { kind: 'apiKey', id: 'key-1', name: 'ci' }],
  [' ada@a.test', { kind: 'user', id: 'u-1', email: 'ada@a.test' }],
  [' u-1', { kind: 'user', id: 'u-1' }],
])('the line tells who asked:%s', (who, caller) => {
  expect(lineOf({ caller })).toBe(`GET  /health 200 - ms${who}`)
})

test('the line tells what gave the answer, or what was wrong', () => {
  const source = 'rule "greeting"'
  expect(lineOf({ outcome: { ...answered, source } })).toMatch(/ms rule "greeting"$/)
  expect(lineOf({ outcome: { ...answered, status: 401, source, error: 'The API key is not known.' } })).toMatch(
    /401 - ms The API key is not known\.$/,
  )
})

test('the line tells of an answer that was broken off, and of one that never came', () => {
  expect(lineOf({ outcome: { ...answered, source: 'rule "story"', complete: false } })).toMatch(
    /200 - ms rule "story" \(broken off\)$/,
  )
  expect(lineOf({ outcome: { ...answered, complete: false } })).toMatch(/200 - ms \(broken off\)$/)
  expect(lineOf({ outcome: undefined })).toBe('GET  /health --- - ms the client left before there was an answer')
})

const steering = 'a\u001b[2Jb\u0007c\rd\ne\u009b31mf\u007f'

test.each<[string, Partial<Exchange>]>([
  ['path', { path: `/${steering}` }],
  ['name of a rule', { outcome: { ...answered, source: `rule "${steering}"` } }],
  ['error', { outcome: { ...answered, status: 400, error: steering } }],
  ['name of an API key', { caller: { kind: 'apiKey', id: 'key-1', name: steering } }],
  ['email of a user', { caller: { kind: 'user', id: 'u-1', email: steering } }],
  ['id of a user', { caller: { kind: 'user', id: steering } }],
])('the %s cannot steer the terminal', (_, parts) => {
  const line = lineOf(parts)
  expect(line).not.toMatch(/\p{Cc}/u)
  expect(line).toContain('a\\x1b[2Jb\\x07c\\x0dd\\x0ae\\x9b31mf\\x7f')
})

test.each([
  [200, colors.green('200')],
  [304, colors.yellow('304')],
  [404, colors.yellow('404')],
  [500, colors.red('500')],
])('on a terminal the status %d has its colour', (status, painted) => {
  expect(requestLine(exchange({ outcome: { ...answered, status } }), colors)).toContain(` ${painted} `)
})

test('the event of a request holds nothing of its body', () => {
  const event = requestEvent(exchange({ body: Buffer.from('hush'), outcome: undefined }))
  expect(event).toEqual({
    event: 'request',
    method: 'GET',
    path: '/health',
    status: null,
    durationMs: expect.any(Number),
    caller: { kind: 'anonymous' },
    complete: false,
  })
})
