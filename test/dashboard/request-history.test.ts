import fc from 'fast-check'
import { expect, test } from 'vitest'
import { turnsAnswered, turnsAsked } from '../../src/dashboard/page/requests/conversation.js'
import { everything, filterIn, matching, queryOf } from '../../src/dashboard/page/requests/filter.js'
import { createHistory, MOST_ROWS } from '../../src/dashboard/page/requests/history.js'
import type { JournalBrief } from '../../src/journal/index.js'
import { runs } from '../runs.js'

const brief = (id: number, more: Partial<JournalBrief> = {}): JournalBrief => ({
  id: String(id),
  at: '2026-01-01T00:00:00.000Z',
  scope: '',
  caller: { kind: 'anonymous' },
  method: 'GET',
  path: '/health',
  endpoint: null,
  mode: null,
  model: null,
  prompt: null,
  call: null,
  stream: null,
  source: null,
  fault: null,
  missed: false,
  status: 200,
  error: null,
  code: null,
  hint: null,
  openaiRefuses: null,
  complete: true,
  requestBytes: 0,
  responseBytes: 0,
  tokens: null,
  firstByteMs: 1,
  firstTokenMs: null,
  durationMs: 1,
  pieces: 0,
  piecesAtMs: [],
  ...more,
})

test('however batches arrive, no row appears twice, every row is counted, and only a limited number is kept', () => {
  // Batches that skip ids and repeat some, as after a lost connection.
  const batch = fc.record({ back: fc.nat(30), gaps: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 900 }) })
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 8 }), batches => {
      const history = createHistory()
      history.began('one', '7')
      let last = 7
      for (const { back, gaps } of batches) {
        let id = Math.max(0, last - back)
        const ids = gaps.map(gap => {
          id += gap
          return id
        })
        history.add(ids.map(id => brief(id)))
        last = Math.max(last, id)
      }
      const rows = history.newestFirst().map(({ id }) => Number(id))
      const { told, skipped } = history.counts()
      expect(rows.length).toBe(Math.min(told, MOST_ROWS))
      expect(rows).toEqual([...new Set(rows)].toSorted((a, b) => b - a))
      expect(told + skipped).toBe(last - 7)
    }),
    { numRuns: runs(50) },
  )
})

test('when a scope is cleared, the rows of other scopes stay', () => {
  const history = createHistory()
  history.began('one', '0')
  history.add([brief(1, { scope: 'a' }), brief(2), brief(3, { scope: 'b' })])
  history.clear('a')
  expect(history.newestFirst().map(({ id }) => id)).toEqual(['3', '2'])
})

test('cleared rows do not come back, and another run starts from the beginning', () => {
  const history = createHistory()
  expect(history.began('one', '0')).toBe(false)
  history.add([brief(1), brief(2)])
  history.clear()
  expect(history.began('one', '0')).toBe(false)
  history.add([brief(1), brief(2), brief(3)])
  expect(history.newestFirst().map(({ id }) => id)).toEqual(['3'])
  expect(history.began('two', '0')).toBe(true)
  history.add([brief(1)])
  expect(history.newestFirst().map(({ id }) => id)).toEqual(['1'])
})

test('rows that were cleared while the connection was lost disappear when it is back', () => {
  const history = createHistory()
  history.began('one', '0')
  expect(history.clearUntil('0')).toBe(false)
  history.add([brief(1), brief(2)])
  history.began('one', '4')
  expect(history.clearUntil('4')).toBe(true)
  expect(history.newestFirst()).toEqual([])
  history.add([brief(5)])
  expect(history.clearUntil('4')).toBe(false)
  expect(history.newestFirst().map(({ id }) => id)).toEqual(['5'])
  expect(history.counts()).toEqual({ told: 1, skipped: 0 })
})

test('a filter is read back from the address unchanged', () => {
  const filters = fc.record({
    search: fc.string(),
    status: fc.constantFrom('', '2xx', 'none'),
    mode: fc.constantFrom('', 'replay'),
    caller: fc.constantFrom('', 'refused'),
    model: fc.string(),
    endpoint: fc.string(),
    scope: fc.string(),
    problems: fc.boolean(),
  })
  fc.assert(
    fc.property(filters, fc.string({ minLength: 1 }), (filter, id) => {
      const query = new URLSearchParams(queryOf(filter, id))
      expect(filterIn(query)).toEqual(filter)
      expect(query.get('id')).toBe(id)
    }),
  )
  expect(queryOf(everything)).toBe('')
})

test.each([
  [{ search: 'HEALTH' }, true],
  [{ search: 'greet' }, true],
  [{ search: 'gpt' }, true],
  [{ search: 'ada@' }, true],
  [{ search: '200' }, true],
  [{ search: 'weather' }, true],
  [{ search: 'nowhere' }, false],
  [{ search: 'model:gpt-* status:2xx credential:"ada@example.com" greet' }, true],
  [{ search: 'model:gpt-4 greet' }, false],
  [{ search: 'status:401' }, false],
  [{ search: 'caller:user method:get path:/health' }, true],
  [{ search: 'problems:yes' }, false],
  [{ status: '2xx' }, true],
  [{ status: 'none' }, false],
  [{ mode: 'replay' }, false],
  [{ caller: 'user', model: 'gpt-4*' }, true],
  [{ caller: 'refused' }, false],
  [{ scope: 'one' }, true],
  [{ problems: true }, false],
])('the filter %o matches: %s', (filter, isMatch) => {
  const of = {
    source: 'rule "greet"',
    model: 'gpt-4o',
    prompt: 'How is the Weather?',
    caller: { kind: 'user', id: 'a', email: 'ada@example.com' },
  } as const
  expect(matching({ ...everything, ...filter })(brief(1, { ...of, mode: 'emulate', scope: 'one' }))).toBe(isMatch)
})

test.each([{ status: 404 }, { status: null }, { complete: false }, { missed: true }])('%o is a problem', more => {
  expect(matching({ ...everything, problems: true })(brief(1, more))).toBe(true)
})

test('a stream is assembled choice by choice, with its calls, up to where it was cut', () => {
  const chunk = (index: number, delta: object) => `data: ${JSON.stringify({ choices: [{ index, delta }] })}\n\n`
  const call = (index: number, named: object) => ({ tool_calls: [{ index, function: named }] })
  const stream = [
    chunk(0, { role: 'assistant', content: 'Hi ' }),
    chunk(1, { content: 'Other' }),
    chunk(0, { content: 'there' }),
    chunk(1, call(0, { name: 'find', arguments: '{"a"' })),
    chunk(1, call(0, { arguments: ':1}' })),
    'data: {"choices":[{"ind',
  ].join('')
  expect(turnsAnswered(stream)).toEqual([
    { role: 'assistant', text: 'Hi there', calls: [] },
    { role: 'assistant', text: 'Other', calls: [{ name: 'find', arguments: '{"a":1}' }] },
  ])
})

test('bodies of any form are read without an error', () => {
  fc.assert(
    fc.property(fc.anything(), fc.string(), (any, text) => {
      for (const body of [any, { messages: any }, { choices: any }, { choices: [any] }, { messages: [any] }, text]) {
        expect(Array.isArray(turnsAsked(body)) && Array.isArray(turnsAnswered(body))).toBe(true)
      }
    }),
  )
  expect(
    turnsAsked({ messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image_url' }] }] }),
  ).toEqual([{ role: 'user', text: 'a\n[image_url]', calls: [] }])
})
