/** A reporter that shows where the time went: the slowest tests, and the seconds of each folder. */
import path from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

const SHOWN = 20

/** `npm test -- --slow` prints it after the default report. */
export default class implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(module => [...module.children.allTests()].map(test => ({ test, ms: msOf(test) })))
    console.log(`\nThe ${SHOWN} slowest tests`)
    for (const { test, ms } of tests.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN)) {
      console.log(line(ms, `${test.module.relativeModuleId} > ${test.fullName}`))
    }
    const msByFolder = new Map<string, number>()
    for (const { test, ms } of tests) {
      const folder = path.dirname(test.module.relativeModuleId)
      msByFolder.set(folder, (msByFolder.get(folder) ?? 0) + ms)
    }
    console.log('\nSeconds by folder, across all workers')
    for (const [folder, ms] of [...msByFolder].sort(([, a], [, b]) => b - a)) console.log(line(ms, folder))
    console.log(
      line(
        [...msByFolder.values()].reduce((sum, ms) => sum + ms, 0),
        'all',
      ),
    )
  }
}

const msOf = (test: TestCase) => test.diagnostic()?.duration ?? 0

const line = (ms: number, text: string) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${text}`
