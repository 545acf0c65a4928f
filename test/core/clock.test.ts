import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Clock, createClock } from '../../src/core/clock.js'

const noon = Date.UTC(2030, 0, 1, 12)
const HOUR_MS = 3_600_000

/** A clock with a real time that the test controls. */
function clockAt(startMs = noon) {
  let realMs = startMs
  return {
    clock: createClock(() => realMs),
    realMs: () => realMs,
    pass(ms: number) {
      realMs += ms
    },
  }
}

test('the clock shows the real time by default', () => {
  const { clock, pass } = clockAt()
  pass(1)
  expect(clock.now()).toBe(noon + 1)
  expect(clock.state()).toEqual({ now: '2030-01-01T12:00:00.001Z', frozen: false, offsetMs: 0 })
})

test('a clock that was set runs on from there', () => {
  const { clock, pass } = clockAt()
  clock.set(Date.UTC(2040, 5, 1))
  pass(1500)
  expect(clock.state()).toEqual({
    now: '2040-06-01T00:00:01.500Z',
    frozen: false,
    offsetMs: Date.UTC(2040, 5, 1) - noon,
  })
})

test('a frozen clock only moves by advance, and runs on from there', () => {
  const { clock, pass } = clockAt()
  clock.freeze()
  pass(10_000)
  expect(clock.state()).toEqual({ now: '2030-01-01T12:00:00.000Z', frozen: true, offsetMs: -10_000 })
  clock.advance(HOUR_MS)
  pass(10_000)
  expect(clock.now()).toBe(noon + HOUR_MS)
  clock.run()
  pass(5)
  expect(clock.state()).toMatchObject({ now: '2030-01-01T13:00:00.005Z', frozen: false })
})

test.each<readonly [string, (clock: Clock) => void]>([
  ['set before 1970', clock => clock.set(-1)],
  ['set beyond the year 9000', clock => clock.set(Date.UTC(9000, 0, 1) + 1)],
  ['moved before 1970', clock => clock.advance(-2 * noon)],
])('a clock cannot be %s, and stays as it is', (_what, turn) => {
  const { clock } = clockAt()
  clock.advance(HOUR_MS)
  expect(() => turn(clock)).toThrow(RangeError)
  clock.freeze()
  expect(() => turn(clock)).toThrow(RangeError)
  expect(clock.state()).toEqual({ now: '2030-01-01T13:00:00.000Z', frozen: true, offsetMs: HOUR_MS })
})

type Turn =
  | { readonly kind: 'set' | 'advance' | 'pass'; readonly ms: number }
  | { readonly kind: 'freeze' | 'run' | 'reset' }

const turns: fc.Arbitrary<Turn> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), ms: fc.integer({ min: 10 ** 9, max: 10 ** 12 }) }),
  fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: -1000, max: 1000 }) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(1000) }),
  fc.record({ kind: fc.constantFrom('freeze' as const, 'run' as const, 'reset' as const) }),
)

test('after any operations the clock shows the time it was last set to plus all that has passed or been added', () => {
  fc.assert(
    fc.property(fc.array(turns), all => {
      const { clock, realMs, pass } = clockAt()
      let shown = noon
      let frozen = false
      for (const turn of all) {
        switch (turn.kind) {
          case 'set':
            clock.set(turn.ms)
            shown = turn.ms
            break
          case 'advance':
            clock.advance(turn.ms)
            shown += turn.ms
            break
          case 'pass':
            pass(turn.ms)
            shown += frozen ? 0 : turn.ms
            break
          case 'reset':
            clock.reset()
            shown = realMs()
            frozen = false
            break
          case 'freeze':
          case 'run':
            clock[turn.kind]()
            frozen = turn.kind === 'freeze'
        }
        expect(clock.now()).toBe(shown)
        expect(clock.state()).toEqual({ now: new Date(shown).toISOString(), frozen, offsetMs: shown - realMs() })
      }
    }),
  )
})
