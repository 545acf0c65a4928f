/** The entry point for jest: a platform for the tests of a file, and matchers for what it received. */
import './check/require-node.js'
import type {} from 'expect'
import { matchers, type ReceivedMatchers } from './testing/matchers.js'
import { createUsePlatform, START_TIMEOUT_MS, type TestRunner } from './testing/use-platform.js'

export type { Scope } from './testing/abilities.js'
export type { Platform } from './testing/platform.js'
export type { UsePlatformOptions } from './testing/use-platform.js'

/** What jest puts into the global scope of a test file, unless `injectGlobals` is off. */
interface JestGlobals extends TestRunner {
  beforeAll(work: () => Promise<void>, timeoutMs?: number): unknown
  readonly expect: { extend(more: typeof matchers): void; getState(): JestState }
}

/** The state of the test that is running. */
interface JestState extends ReturnType<NonNullable<TestRunner['testState']>> {
  readonly assertionCalls: number
  readonly numPassingAsserts: number
}

// From the global scope, so that the package does not have to depend on `@jest/globals`.
const jest = globalThis as Partial<JestGlobals>
if (!jest.expect || !jest.beforeAll || !jest.beforeEach || !jest.afterEach || !jest.afterAll) {
  throw new Error(
    'standin/jest works inside a jest test file with jest\'s globals. With "injectGlobals": false, use createUsePlatform and matchers from standin/test-runner.',
  )
}

const { expect, beforeAll, afterEach } = jest
expect.extend(matchers)

/** Jest does not tell its hooks whether a test has failed. An assertion tells; a test without any may have thrown. */
function endedTest() {
  const { assertionCalls, numPassingAsserts } = expect.getState()
  return { passed: assertionCalls === 0 ? undefined : numPassingAsserts === assertionCalls, mayHaveThrown: true }
}

/**
 * A platform for the tests of the file or of the surrounding `describe`: started before them, reset before each of
 * them, and stopped afterwards. A test fails if a request had no prepared answer.
 *
 * ```ts
 * import { usePlatform } from 'standin/jest'
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
  ...(jest as JestGlobals),
  beforeAll: work => beforeAll(work, START_TIMEOUT_MS),
  afterEach: work => afterEach(() => work(endedTest())),
  testState: expect.getState,
})

// For `expect` of @jest/globals. Each declaration has the same type parameters as the one that it adds to.
declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends ReceivedMatchers {}
}

// For the global `expect` of @types/jest.
declare global {
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: declared exactly as @types/jest does.
    interface Matchers<R, T = {}> extends ReceivedMatchers {}
  }
}
