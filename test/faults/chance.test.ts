import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createChances } from '../../src/faults/index.js'
import { exchangeWith } from '../exchanges.js'

const exchange = (body: string, path = '/v1/chat/completions') => exchangeWith({ path, body: Buffer.from(body) })

const bodies = Array.from({ length: 10_000 }, (_, i) => `request ${i}`)

/** The requests that fail at this rate, in order. */
function failing(order: readonly string[], { seed = 1, chance = 0.05, entry = 'entry' } = {}) {
  const chances = createChances()
  return order.filter(body => chances.draw(exchange(body), seed, entry) < chance)
}

test.each([1, 2, 3])('a chance of 0.05 hits about one in twenty of 10,000 requests: seed %i', seed => {
  // Three standard deviations are 65.
  const { length } = failing(bodies, { seed })
  expect(length).toBeGreaterThan(435)
  expect(length).toBeLessThan(565)
})

test('the order of requests does not change which ones fail', () => {
  const usual = failing(bodies)
  expect(failing(bodies.toReversed()).toSorted()).toEqual(usual.toSorted())
  expect(failing(bodies)).toEqual(usual)
})

test('a different seed or entry hits different requests', () => {
  const usual = failing(bodies)
  expect(failing(bodies, { seed: 2 })).not.toEqual(usual)
  expect(failing(bodies, { entry: 'other' })).not.toEqual(usual)
})

test('a repeated request draws again, with the same results in every run', () => {
  const drawn = () => {
    const chances = createChances()
    return Array.from({ length: 10_000 }, () => chances.draw(exchange('the same'), 1, 'entry') < 0.05)
  }
  const first = drawn()
  const hits = first.filter(Boolean).length
  expect(hits).toBeGreaterThan(435)
  expect(hits).toBeLessThan(565)
  expect(drawn()).toEqual(first)
})

test('several draws for one exchange count as one request', () => {
  const once = createChances()
  const often = createChances()
  const first = exchange('a')
  for (let i = 0; i < 5; i++) often.draw(first, 1, `entry ${i}`)
  once.draw(exchange('a'), 1, 'entry 0')
  expect(often.draw(exchange('a'), 1, 'entry')).toBe(once.draw(exchange('a'), 1, 'entry'))
})

test('requests that differ in method, path, query or body draw separately', () => {
  const base = exchange('a')
  const others = [
    base,
    { ...base, method: 'PUT' },
    { ...base, path: '/v1/models' },
    { ...base, query: 'a=1' },
    { ...base, body: Buffer.from('b') },
    { ...base, body: undefined },
  ]
  const draws = others.map(other => createChances().draw(other, 1, 'entry'))
  expect(new Set(draws).size).toBe(draws.length)
})

test('a draw is at least 0 and less than 1', () => {
  const chances = createChances()
  fc.assert(
    fc.property(fc.string(), fc.nat(), (body, seed) => {
      const drawn = chances.draw(exchange(body), seed, 'entry')
      expect(drawn).toBeGreaterThanOrEqual(0)
      expect(drawn).toBeLessThan(1)
    }),
  )
})

test('memory is bounded: the least recently used request is forgotten', () => {
  const chances = createChances(2)
  const draw = (body: string) => chances.draw(exchange(body), 1, 'entry')
  const [a, b] = [draw('a'), draw('b')]
  expect(draw('a')).not.toBe(a)
  draw('c')
  // c has replaced b, which starts again; a was still known, and is then forgotten for b.
  expect(draw('b')).toBe(b)
  draw('c')
  expect(draw('a')).toBe(a)
})
