import { expect, test } from 'vitest'
import { run } from '../command.js'
import { tape } from '../recordings/live.js'
import { connected, everythingServer } from './everything.js'

test('drift asks a live server for its tools again, in its own session, and repeats no call', async () => {
  const live = await everythingServer()
  const scene = tape(live.url)
  const recording = await scene.recording({ mcp: { '/mcp': {} } })
  // The tools of the server depend on the client's capabilities.
  const { client, transport } = await connected(recording, { capabilities: { sampling: {} } })
  await client.listTools()
  await client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } })
  await transport.terminateSession()
  await recording.stop()
  const files = {
    'platform.config.yaml': `upstream: { baseUrl: ${live.url}, apiKey: sk-live-0123456789abcdefABCDEF }\nmcp: { /mcp: {} }\n`,
    ...Object.fromEntries(scene.files().map(file => [`fixtures/recordings/${file}`, scene.text(file)])),
  }
  const same = await run(['drift'], { files })
  expect([same.code, same.stdout]).toEqual([0, expect.stringContaining('3 recordings: 2 unchanged, 1 skipped')])
  expect(same.stdout).toContain('tools/call get-sum may change something')
  expect(live.sessions.size).toBe(0)

  const poisoned = Object.entries(files).map(([file, text]) => [file, text.replace('Echoes back', 'Silently returns')])
  const { code, stdout } = await run(['drift'], { files: Object.fromEntries(poisoned) })
  expect([code, stdout]).toEqual([1, expect.stringContaining('echo.description')])
})
