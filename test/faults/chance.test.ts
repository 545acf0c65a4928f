import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createChances } from '../../src/faults/index.js'
import { exchangeWith } from '../exchanges.js'

const exchange = (body: string, path = '/v1/chat/completions') => exchangeWith({ path, body: Buffer.from(body) })

const bodies = Array.from({ length: 10_000 }, (_, i) => `request ${i}`)

/** Which of these requests fail at this rate, in the order in which they come. */
function failing(order: readonly string[], { seed = 1, chance = 0.05, entry = 'entry' } = {}) {
  const chances = createChances()
  return order.filter(body => chances.draw(exchange(body), seed, entry) < chance)
}

test.each([1, 2, 3])('one in twenty is close to one in twenty of 10,000 requests: seed %i', seed => {
  // Three standard deviations are 65.
  const { length } = failing(bodies, { seed })
  expect(length).toBeGreaterThan(435)
  expect(length).toBeLessThan(565)
})

test('the order in which requests come changes nothing', () => {
  const usual = failing(bodies)
  expect(failing(bodies.toReversed()).toSorted()).toEqual(usual.toSorted())
  expect(failing(bodies)).toEqual(usual)
})

test('another seed and another entry hit others', () => {
  const usual = failing(bodies)
  expect(failing(bodies, { seed: 2 })).not.toEqual(usual)
  expect(failing(bodies, { entry: 'other' })).not.toEqual(usual)
})

test('a request that comes again draws again, the same in every run', () => {
  const drawn = () => {
    const chances = createChances()
    return Array.from({ length: 10_000 }, () => chances.draw(exchange('the same'), 1, 'entry') < 0.05)
  }
  const first = drawn()
  const struck = first.filter(Boolean).length
  expect(struck).toBeGreaterThan(435)
  expect(struck).toBeLessThan(565)
  expect(drawn()).toEqual(first)
})

test('however often is drawn for one exchange, it is one request', () => {
  const once = createChances()
  const often = createChances()
  const first = exchange('a')
  for (let i = 0; i < 5; i++) often.draw(first, 1, `entry ${i}`)
  once.draw(exchange('a'), 1, 'entry 0')
  expect(often.draw(exchange('a'), 1, 'entry')).toBe(once.draw(exchange('a'), 1, 'entry'))
})

test('requests that differ in method, path, query or body are others', () => {
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

test('what is remembered is bounded: the request that has not come for longest is forgotten', () => {
  const chances = createChances(2)
  const draw = (body: string) => chances.draw(exchange(body), 1, 'entry')
  const [a, b] = [draw('a'), draw('b')]
  expect(draw('a')).not.toBe(a)
  draw('c')
  // c has taken the place of b, which begins again; a is still known, and is then forgotten for b.
  expect(draw('b')).toBe(b)
  draw('c')
  expect(draw('a')).toBe(a)
})
