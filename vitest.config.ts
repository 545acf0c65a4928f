import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/build.ts',
    testTimeout: 20_000,
    sequence: { shuffle: true },
    coverage: { include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
})
