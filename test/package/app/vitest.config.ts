/** The tests of the app: files side by side, in processes of their own. */
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['**/*.spec.{js,ts}'], maxWorkers: 2 } })
