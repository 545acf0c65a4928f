/** Platforms for tests in the browser, each at an origin that the browser already knows if there is one. */
import { onTestFinished } from 'vitest'
import { StartError } from '../../src/check/problem.js'
import type { PlatformOptions } from '../../src/index.js'
import type { Until } from '../command.js'
import { type Scene, platformWith as startWith } from '../scene.js'

export { hello, type Scene } from '../scene.js'

/** Ports of platforms that have stopped. At a new origin a page takes 50 % longer, because nothing that it loads is cached. */
const freePorts: number[] = []

/** Starts a platform with these options; by default it is stopped with the test. */
export async function platformWith(options: PlatformOptions = {}, until: Until = onTestFinished): Promise<Scene> {
  if (options.port !== undefined) return startWith(options, until)
  let platform: Scene | undefined
  // What is registered first runs last, when the platform has stopped.
  until(() => void (platform && freePorts.push(Number(new URL(platform.url).port))))
  platform = await startAt(freePorts.pop() ?? 0, options, until)
  return platform
}

async function startAt(port: number, options: PlatformOptions, until: Until): Promise<Scene> {
  try {
    const platform = await startWith({ ...options, port }, until)
    if (port !== 0) await forgetConnections(platform.dashboardUrl)
    return platform
  } catch (error) {
    // Another process may have taken the port by now.
    if (port === 0 || !(error instanceof StartError)) throw error
    return startWith(options, until)
  }
}

/** A connection to the platform that was at this port before may still seem open to fetch: requests of the page find out. */
async function forgetConnections(url: string): Promise<void> {
  const isAnswered = () =>
    fetch(url).then(
      async response => (await response.text()) !== '',
      () => false,
    )
  while (!(await isAnswered()));
}
