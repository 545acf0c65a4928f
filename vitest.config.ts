import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'
import { LongestFirst } from './test/sequencer.js'

/** A folder with other versions of the clients than those that the project installs: `npm run clients` runs the tests with them. */
const clientsFolder = process.env.CLIENTS

/** Resolves the packages that the folder names from there, so that the same tests run with them. */
function clientsFrom(folder: string): Plugin {
  const importer = path.join(folder, 'package.json')
  const { dependencies } = JSON.parse(readFileSync(importer, 'utf8'))
  // Test runners are for the tests in test/package, which start them; these tests stay with the one that runs them.
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
    // For tests that hang. Those with many steps in a browser take a quarter of it on a slow machine with all cores busy.
    testTimeout: 120_000,
    // What a file becomes is kept from run to run. It names other packages where CLIENTS does.
    experimental: { fsModuleCache: !clientsFolder },
    // Files share a worker: reading the source and the packages anew for each would take longer than most of their tests.
    isolate: false,
    // Most of the time goes by waiting for browsers, databases and processes that the tests start.
    maxWorkers: Math.max(3, availableParallelism()),
    sequence: { shuffle: true, sequencer: LongestFirst },
    // With room for more young objects, those of a test are gone before they are copied: a twentieth less time.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
    // What runs only in child processes (most of cli/) is not counted, hence not more.
    coverage: {
      include: ['src/**/*.ts'],
      // The page runs in browsers, where nobody counts.
      exclude: ['src/page/**'],
      reporter: ['text-summary', 'html'],
      thresholds: { statements: 85, branches: 80 },
    },
  },
})
