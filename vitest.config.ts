import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'
import { LongestFirst } from './test/sequencer.js'

/** A folder with other versions of the clients than the project installs; `npm run clients` runs the tests with them. */
const clientsFolder = process.env.CLIENTS

/** Resolves the packages in the folder's package.json from there, so that the same tests run with them. */
function clientsFrom(folder: string): Plugin {
  const importer = path.join(folder, 'package.json')
  const { dependencies } = JSON.parse(readFileSync(importer, 'utf8'))
  // Except test runners: the tests in test/package start those, and this run keeps its own.
  const names = Object.keys(dependencies).filter(name => !/vitest|jest/.test(name))
  return {
    name: 'clients',
    enforce: 'pre',
    resolveId(id) {
      return names.some(name => id === name || id.startsWith(`${name}/`)) ? this.resolve(id, importer) : undefined
    },
  }
}

export default defineConfig({
  plugins: clientsFolder ? [clientsFrom(clientsFolder)] : [],
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/build.ts',
    setupFiles: 'test/runs.ts',
    // For tests that hang. Tests with many steps in a browser take a quarter of it on a slow machine with all cores busy.
    testTimeout: 120_000,
    // Transformed files are cached between runs, unless CLIENTS makes them import other packages.
    fsModuleCache: !clientsFolder,
    // Files share a worker: loading the source and the packages again for each would take longer than most of their tests.
    isolate: false,
    // Most of the time is spent waiting for browsers, databases and processes that the tests start.
    maxWorkers: Math.max(3, availableParallelism()),
    sequence: { shuffle: true, sequencer: LongestFirst },
    // With more room for young objects, those of a test are freed before they are copied: 5% less time.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
    // Code that runs only in child processes (most of cli/) is not counted, so the thresholds are no higher.
    coverage: {
      include: ['src/**/*.ts'],
      // The page runs in browsers, where coverage is not measured.
      exclude: ['src/dashboard/page/**'],
      reporter: ['text-summary', 'html'],
      thresholds: { statements: 85, branches: 80 },
    },
  },
})
