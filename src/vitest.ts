/** The entry point for vitest: a platform for the tests of a file, and matchers for what it received. */
import './check/require-node.js'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { matchers, type ReceivedMatchers } from './testing/matchers.js'
import { createUsePlatform, START_TIMEOUT_MS } from './testing/use-platform.js'

export type { Scope } from './testing/abilities.js'
export type { Platform } from './testing/platform.js'
export type { UsePlatformOptions } from './testing/use-platform.js'

expect.extend(matchers)

/**
 * A platform for the tests of the file or of the surrounding `describe`: started before them, reset before each of
 * them, and stopped afterwards. A test fails if a request had no prepared answer.
 *
 * Each file has its own platform, so that files can run at the same time. Tests that run at the same time in one file
 * (`test.concurrent`) share one: give each its own `platform.scope(name)`, and set `reset: false`.
 *
 * ```ts
 * import { expect, test } from 'vitest'
 * import { usePlatform } from 'standin/vitest'
 *
 * const platform = usePlatform({ env: true })
 *
 * test('the bot greets', async () => {
 *   await platform.reply('Hi!', { when: { user: 'hello' } })
 *   expect(await greet('hello')).toBe('Hi!')
 *   await expect(platform).toHaveReceived({ path: '/v1/chat/completions', body: { model: 'gpt-4o-mini' } })
 * })
 * ```
 */
export const usePlatform = createUsePlatform({
  beforeAll: work => beforeAll(work, START_TIMEOUT_MS),
  beforeEach: work => beforeEach(({ task }) => work({ isConcurrent: task.concurrent === true })),
  afterAll,
  // Vitest wants to see the names of the parts that a hook takes.
  afterEach: work => afterEach(({ task }) => work(task.result?.state === 'fail')),
  testState: expect.getState,
})

// Vitest 4 and 5 declare their own interfaces of matchers with different type parameters. These two have none, in both.
declare global {
  namespace Chai {
    interface Assertion extends ReceivedMatchers {}
  }
}
