/** An app in a browser, Standin in another process, and a test that connects to it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { connect } from '../../src/index.js'
import { assertReceived } from '../../src/test-runner.js'
import { startReady } from '../command.js'
import { inBrowser, useBrowser } from '../dashboard/browser.js'

const openPage = useBrowser()

const appPage = (
  url: string,
  key: string,
) => `<!doctype html><title>Weather</title><button>Ask</button><output></output>
<script type="module">
  document.querySelector('button').onclick = async () => {
    const response = await fetch('${url}/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ${key}', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'How is the weather?' }] }),
    })
    const { choices } = await response.json()
    document.querySelector('output').textContent = response.ok ? choices[0].message.content : 'Closed.'
  }
</script>`

async function served(html: string): Promise<string> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(html))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

inBrowser("an end-to-end test sets the model's answers and sees the app's requests", async () => {
  const { ready } = await startReady()
  const platform = await connect(ready.url)
  const scope = await platform.scope('this test')
  const { page } = await openPage()
  await page.goto(await served(appPage(platform.url, scope.apiKey)))
  await scope.reply('Sunny.', { when: { user: /weather/ } })
  const ask = page.getByRole('button', { name: 'Ask' })
  await ask.click()
  await page.getByText('Sunny.').waitFor()
  await assertReceived(scope, { path: '/v1/chat/completions', body: { messages: [{ content: /weather/ }] } })
  await scope.failNext({ status: 503 })
  await ask.click()
  await page.getByText('Closed.').waitFor()
  expect(await scope.journal.count({ status: 503 })).toBe(1)
})
