import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/build.ts',
    setupFiles: 'test/runs.ts',
    // Far more than any of them takes where nothing else goes on.
    testTimeout: 40_000,
    // Files share a worker: reading the source and the packages anew for each would take longer than most of their tests.
    isolate: false,
    // Most of the time goes by waiting for browsers, databases and processes that the tests start.
    maxWorkers: Math.max(2, availableParallelism()),
    sequence: { shuffle: true },
    // What runs only in child processes (most of cli/) is not counted, hence not more.
    coverage: {
      include: ['src/**/*.ts'],
      // The page runs in browsers, where nobody counts.
      exclude: ['src/dashboard/page/**'],
      reporter: ['text-summary', 'html'],
      thresholds: { statements: 85, branches: 80 },
    },
  },
})
