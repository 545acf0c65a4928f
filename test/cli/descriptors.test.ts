import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { startReady } from '../command.js'

test.skipIf(process.platform !== 'linux')(
  'what could not be loaded because no file could be opened is loaded by the next request',
  async () => {
    const { ready } = await startReady({ env: { STANDIN_STATE: 'memory' } })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const ask = async (path: string) => {
      const [answer] = (await once(get(ready.url + path, { agent }), 'response')) as [IncomingMessage]
      return { status: answer.statusCode, body: await json(answer) }
    }
    const allow = (files: number) => execFileSync('prlimit', ['--pid', String(ready.pid), `--nofile=${files}:`])
    // The connection is there already, and no other file can be opened.
    expect(await ask('/health')).toMatchObject({ status: 200 })
    allow(3)
    const refused = { status: 503, body: { error: 'Standin cannot open another file. Try again later.' } }
    expect(await ask('/__standin/journal')).toEqual(refused)
    expect(await ask('/__standin/journal')).toEqual(refused)
    allow(1024)
    expect(await ask('/__standin/journal')).toMatchObject({ status: 200 })
  },
)
