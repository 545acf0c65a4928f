import { expect, onTestFinished, test, vi } from 'vitest'
import { bounded, TookTooLong } from '../../src/core/work.js'

test('work that used the processor for too long is interrupted', () => {
  const work = () => /^(a+)+$/.exec(`${'a'.repeat(40)}!`)
  expect(() => bounded(work, 20)).toThrow(TookTooLong)
})

test('work that was interrupted before it used much CPU time is tried again', () => {
  const never = new Int32Array(new SharedArrayBuffer(4))
  let tries = 0
  const result = bounded(() => {
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
  expect(() => bounded(work, 100)).toThrow(TookTooLong)
  expect(tries).toBe(2)
})

test('work that gets no CPU time is not tried again forever', () => {
  const never = new Int32Array(new SharedArrayBuffer(4))
  expect(() => bounded(() => Atomics.wait(never, 0, 0, 60_000), 20)).toThrow(TookTooLong)
})
