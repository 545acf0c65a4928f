/** The hooks of a test runner, to run tests by hand. */
import { createUsePlatform, type UsePlatformOptions } from '../../src/test-runner.js'

type Hook = (hasFailed?: unknown) => Promise<void>

export function runner(options: UsePlatformOptions = {}) {
  const hooks = { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] } as Record<string, Hook[]>
  const hook = (name: string) => (work: Hook) => void hooks[name]?.push(work)
  const run = async (name: string, hasFailed?: unknown) => {
    for (const work of hooks[name] ?? []) await work(hasFailed)
  }
  const use = { beforeAll: hook('beforeAll'), beforeEach: hook('beforeEach') }
  const platform = createUsePlatform({ ...use, afterEach: hook('afterEach'), afterAll: hook('afterAll') })(options)
  return { platform, run }
}
