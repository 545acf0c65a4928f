/** Reports to `standin exec` what the platform of some tests does, and applies the faults of its run. */
import path from 'node:path'
import { callKey, callsIgnore } from '../adversary/calls.js'
import type { EndpointViolations } from '../check/finding.js'
import { uptimeMs } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import type { JournalEntry } from '../journal/index.js'
import type { Platform } from '../platform.js'
import { type Miss, type Tidied, testNameOf } from '../recordings/index.js'
import type { JoinedRun } from '../run/join.js'

/** Returns a function that reports the end. */
export function followRun(platform: Platform, run: JoinedRun) {
  const { journal, loaded } = platform
  const folder = path.resolve(loaded.dir, loaded.config.recordings.dir)
  const opened = new WeakMap<Exchange, string>()
  const misses: Miss[] = []
  const violations: EndpointViolations[] = []
  const wholeEntry = (exchange: Exchange, id: number): JournalEntry => {
    const durationMs = uptimeMs() - exchange.startedMs
    const entry = journal.entry({ id, exchange, atMs: Date.now() - durationMs, durationMs }, Number.MAX_SAFE_INTEGER)
    return { ...entry, scope: testNameOf(exchange, folder) }
  }
  journal.follow((exchange, id) => {
    const entry = wholeEntry(exchange, id)
    run.send({ ...entry, id: opened.get(exchange) ?? entry.id })
  })
  platform.onMiss(miss => void misses.push(miss))
  platform.violations.onViolating(one => void violations.push(one))
  applyFaults(platform, run, exchange => wholeEntry(exchange, 0), opened)
  return async (tidied: Tidied | undefined): Promise<void> => {
    const receipt = platform.receipt(run.handed.isWhole)
    await run.report({
      folder,
      receipt: receipt ?? null,
      misses,
      violations,
      overBudget: platform.overBudget(true),
      removed: tidied?.removed ?? [],
    })
  }
}

/** Applies the faults of the run, and reports what they hit at once: a process that hangs may be killed before the exchange ends. */
function applyFaults(
  { faultCalls, loaded }: Platform,
  run: JoinedRun,
  entryOf: (exchange: Exchange) => JournalEntry,
  opened: WeakMap<Exchange, string>,
): void {
  const ignore = callsIgnore(loaded.config.recordings.ignore)
  let count = 0
  for (const { key, fault, times } of run.handed.faults) {
    const isCall = (exchange: Exchange) => {
      const entry = entryOf(exchange)
      if (callKey(entry, ignore) !== key) return false
      const id = `open-${++count}`
      opened.set(exchange, id)
      run.send({ ...entry, id, fault: { fault, happened: true, isSpoilt: false } }, true)
      return true
    }
    faultCalls.add({ fault, times, path: '*' }, isCall, true)
  }
}
