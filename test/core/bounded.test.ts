import { expect, onTestFinished, test, vi } from 'vitest'
import { TimeLimitError, withTimeLimit } from '../../src/core/work.js'

test('work that used the processor for too long is interrupted', () => {
  const work = () => /^(a+)+$/.exec(`${'a'.repeat(40)}!`)
  expect(() => withTimeLimit(work, 20)).toThrow(TimeLimitError)
})

test('work that was interrupted before it used much CPU time is tried again', () => {
  const never = new Int32Array(new SharedArrayBuffer(4))
  let tries = 0
  const result = withTimeLimit(() => {
    if (++tries < 3) Atomics.wait(never, 0, 0, 200)
    return tries
  }, 100)
  expect(result).toBe(3)
})

test('the CPU time of all tries together is bounded', () => {
  const never = new Int32Array(new SharedArrayBuffer(4))
  let tries = 0
  const used = vi.spyOn(process, 'cpuUsage')
  onTestFinished(() => used.mockRestore())
  used.mockImplementation(before => ({ user: tries * 30_000 - (before?.user ?? 0), system: 0 }))
  const work = () => {
    tries++
    Atomics.wait(never, 0, 0, 60_000)
  }
  expect(() => withTimeLimit(work, 100)).toThrow(TimeLimitError)
  expect(tries).toBe(2)
})

test('work that gets no CPU time is not tried again forever', () => {
  const never = new Int32Array(new SharedArrayBuffer(4))
  expect(() => withTimeLimit(() => Atomics.wait(never, 0, 0, 60_000), 20)).toThrow(TimeLimitError)
})
