/** The list of the page as data: each request once, and the words of its search. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { filterIn, journalQueryOf, queryOf } from '../../src/dashboard/page/activity/filter.js'
import { createHistory, MOST_ROWS } from '../../src/dashboard/page/live/history.js'
import type { JournalBrief } from '../../src/journal/index.js'
import { runs } from '../runs.js'

const brief = (id: number, more: object = {}) =>
  ({
    id: String(id),
    scope: '',
    status: 200,
    complete: true,
    missed: false,
    findings: 0,
    tokens: null,
    ...more,
  }) as JournalBrief

const idsIn = (history: ReturnType<typeof createHistory>) => history.now().rows.map(({ id }) => Number(id))

test('however batches arrive, no row appears twice, every row is counted, and only the newest are kept', () => {
  // Batches that skip ids and repeat some, as after a lost connection.
  const batch = fc.record({ back: fc.nat(30), gaps: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 400 }) })
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 8 }), batches => {
      const history = createHistory()
      history.began('one', '7')
      const seen = new Set<number>()
      let last = 7
      for (const { back, gaps } of batches) {
        let id = Math.max(0, last - back)
        const ids = gaps.map(gap => {
          id += gap
          return id
        })
        for (const one of ids) if (one > last) seen.add(one)
        history.add(ids.map(id => brief(id)))
        last = Math.max(last, id)
      }
      expect(idsIn(history)).toEqual([...seen].toSorted((a, b) => b - a).slice(0, MOST_ROWS))
      expect(seen.size + history.now().skipped).toBe(last - 7)
    }),
    { numRuns: runs(50) },
  )
})

test('what was cleared, also while the connection was lost, does not come back; another run starts over', () => {
  const history = createHistory()
  expect(history.began('one', '0')).toBe(false)
  history.add([brief(1, { scope: 'a' }), brief(2), brief(3)])
  history.clear('a')
  expect(idsIn(history)).toEqual([3, 2])
  expect(history.clearUntil('4')).toBe(true)
  history.add([brief(2), brief(5)])
  expect(idsIn(history)).toEqual([5])
  expect(history.began('two', '0')).toBe(true)
  history.add([brief(1, { status: 500 })])
  expect([idsIn(history), history.now().problems]).toEqual([[1], 1])
})

test('a filter is read back from the address unchanged, and words of the journal are words of the search', () => {
  const filters = fc.record({ search: fc.string(), problems: fc.boolean() })
  fc.assert(
    fc.property(filters, filter => {
      expect(filterIn(new URLSearchParams(queryOf(filter, '17')))).toEqual(filter)
    }),
    { numRuns: runs(100) },
  )
  const asked = journalQueryOf(filterIn(new URLSearchParams('status=404&search=run:7 some words')))
  expect(asked).toEqual({ status: '404', run: '7', search: 'some words' })
  expect(journalQueryOf({ search: ' ', problems: false })).toBe(undefined)
})
