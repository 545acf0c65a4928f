/** The tests of the app: files run in parallel, in separate processes. */
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['**/*.spec.{js,ts}'], maxWorkers: 2 } })
