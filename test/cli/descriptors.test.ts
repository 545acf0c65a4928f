import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { startReady } from '../command.js'
import { platformWith } from '../scene.js'

const onLinux = test.skipIf(process.platform !== 'linux')

/** A platform in a process of its own, with a limit on its open files. All requests share one connection. */
async function platformIn(env: Readonly<Record<string, string>>) {
  const { ready } = await startReady({ env: { STANDIN_STATE: 'memory', ...env } })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const headers = { authorization: `Bearer ${ready.apiKey}` }
  const ask = async (path: string) => {
    const [answer] = (await once(get(ready.url + path, { agent, headers }), 'response')) as [IncomingMessage]
    return { status: answer.statusCode, body: await json(answer) }
  }
  const allow = (files: number) => execFileSync('prlimit', ['--pid', String(ready.pid), `--nofile=${files}:`])
  return { ask, allow }
}

const refused = { status: 503, body: { error: 'Standin cannot open another file. Try again later.' } }

onLinux('code that could not be loaded for lack of file descriptors is loaded by a later request', async () => {
  const { ask, allow } = await platformIn({})
  expect(await ask('/health')).toMatchObject({ status: 200 })
  allow(3)
  expect(await ask('/__standin/journal')).toEqual(refused)
  expect(await ask('/__standin/journal')).toEqual(refused)
  allow(1024)
  expect(await ask('/__standin/journal')).toMatchObject({ status: 200 })
})

onLinux(
  'without a file descriptor for a connection, the error says so and does not blame the live platform',
  async () => {
    const live = await platformWith()
    const env = { STANDIN_MODE: 'proxy', STANDIN_UPSTREAM_BASE_URL: live.url, STANDIN_UPSTREAM_API_KEY: live.apiKey }
    const { ask, allow } = await platformIn(env)
    // Loads the code that asks the live platform. Stopping the live platform closes the connection.
    expect(await ask('/v1/models')).toMatchObject({ status: 200 })
    await live.stop()
    allow(3)
    expect(await ask('/v1/models')).toEqual(refused)
  },
)
