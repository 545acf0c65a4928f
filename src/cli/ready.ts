/** `standin ready`: waits until a Standin answers, for scripts, health checks and the start of test runners. */
import { setTimeout } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { isObject } from '../core/json.js'
import { CONTROL } from '../core/paths.js'
import { type CommandLine, command, integer } from './command.js'
import { connectionFailure, runningAddress, runningFlags } from './running.js'
import { EXIT_STOPPED, stopOnSignals } from './stop-signals.js'

const readyFlags = {
  ...runningFlags,
  timeout: integer([0, 3600], 'Seconds to wait; 0 asks once (30)', 30),
}

export const readyCommands = {
  ready: command({
    flags: readyFlags,
    examples: [
      ['standin & standin ready && npm test', 'test once it answers'],
      ['standin ready --timeout 0', 'exit with 0 or 1 at once, for a health check'],
    ],
    run: ready,
  }),
}

const PAUSE_MS = 100
const LONGEST_ANSWER_MS = 5000

/** Returns the exit code: 0 as soon as a Standin answers, 1 if none has after the timeout. */
async function ready(line: CommandLine<typeof readyFlags>): Promise<number> {
  const url = runningAddress(line)
  const signal = stopOnSignals()
  const endMs = performance.now() + line.flags.timeout * 1000
  for (;;) {
    const why = await reasonToWait(url.origin, signal)
    if (signal.aborted) return EXIT_STOPPED
    if (why === undefined) break
    if (performance.now() + PAUSE_MS > endMs) {
      console.error(`${url.origin} is not ready: ${why}.`)
      return 1
    }
    await setTimeout(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
  console.log(`${url.origin} is ready.`)
  return 0
}

/** Why a Standin at this address is not ready; `undefined` if it is. */
async function reasonToWait(origin: string, signal: AbortSignal): Promise<string | undefined> {
  const dispatcher = new Agent({ headersTimeout: LONGEST_ANSWER_MS, bodyTimeout: LONGEST_ANSWER_MS })
  try {
    const { statusCode, body } = await request(`${origin}${CONTROL}/ready`, { dispatcher, signal })
    const answer = await body.json().catch(() => undefined)
    if (statusCode === 200 && isObject(answer) && answer.ready === true) return undefined
    return statusCode >= 500 ? `it answers with status ${statusCode}` : 'what answers there is not Standin'
  } catch (error) {
    return connectionFailure(error)
  } finally {
    void dispatcher.destroy()
  }
}
