import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { run, runIn, startReady } from '../command.js'
import { freePort } from '../free-port.js'
import { platformWith } from '../scene.js'

test('ready ends as soon as the platform answers', async () => {
  const { url } = await platformWith()
  expect(await run(['ready', '--url', url])).toMatchObject({ code: 0, stdout: `${url} is ready.\n`, stderr: '' })
})

test('ready waits for a platform that starts later', async () => {
  const port = await freePort()
  const { ended } = runIn(['ready', '--port', String(port)])
  await startReady({ flags: ['--port', String(port)] })
  expect(await ended).toMatchObject({ code: 0, stdout: `http://127.0.0.1:${port} is ready.\n` })
})

test('nothing there: exit code 1, and what was wrong', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  expect(await run(['ready', '--url', url, '--timeout', '0'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `${url} is not ready: ECONNREFUSED.\n`,
  })
})

test('a server that is not Standin is not ready', async () => {
  const server = createServer((_request, response) => response.end('{"ready":"yes"}')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise(resolve => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await run(['ready', '--url', url, '--timeout', '0'])).toMatchObject({
    code: 1,
    stderr: `${url} is not ready: what answers there is not Standin.\n`,
  })
})
