/** MCP servers on the dashboard: their tools, a form that calls one, and its last calls. */
import { expect } from 'vitest'
import { notValid } from '../sentences.js'
import { expectAccessible } from './axe.js'
import { inBrowser, later, useBrowser } from './browser.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

const weather = {
  name: 'get_weather',
  description: 'The weather in a city.',
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Its name.' },
      days: { type: 'integer' },
      unit: { enum: ['celsius', 'kelvin'] },
      options: { type: 'object' },
    },
    required: ['city'],
  },
} as const

inBrowser('a tool is found and called with a form, and its calls link to their requests', async () => {
  const platform = await platformWith({
    mcp: { '/mcp': { tools: [weather] }, '/tools': {} },
    rules: [
      {
        on: 'tools/call get_weather',
        when: { arguments: { city: 'Oslo' } },
        reply: { structuredContent: { celsius: -3 }, progress: [{ message: 'asking' }] },
      },
    ],
  })
  const { page, complaints } = await openPage()
  const call = () => page.getByRole('button', { name: 'Call tool' }).click()
  const calls = page.getByRole('table', { name: 'Last calls' })

  await page.goto(`${platform.dashboardUrl}/mcp`)
  await page.getByLabel('Credential').selectOption('None, to see the 401')
  await page.getByRole('region', { name: 'Server /tools' }).getByText('No credential was sent.').waitFor()
  await page.getByLabel('Credential').selectOption('Development key')
  await page.getByText('This server lists no tools.').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'get_weather', exact: true }).click()
  await page.getByText('No calls yet').waitFor()

  await call()
  await page.getByText('city is missing').first().waitFor()
  await page.getByLabel('city').fill('Oslo')
  await page.getByLabel('days').fill('2')
  await page.getByLabel('unit').selectOption('"kelvin"')
  await page.getByLabel('options (JSON)').fill('{"wind":')
  await call()
  await page.getByText(notValid('JSON')).waitFor()
  await page.getByLabel('options (JSON)').fill('{"wind":true}')
  await call()
  await page.getByRole('region', { name: 'Result' }).getByText('"celsius": -3').waitFor()
  const last = calls.getByRole('row').filter({ hasText: '{"celsius":-3}' })
  await last.getByText('{"city":"Oslo","days":2,"unit":"kelvin","options":{"wind":true}}').waitFor()
  await page.getByText('Schemas').click()
  await expectAccessible(page)

  await last.getByRole('link').click()
  await page.getByText('tools/call get_weather').first().waitFor()
  // Requests that the page makes on its own are not in the list.
  expect(platform.journal.find().map(({ request }) => request.body)).toMatchObject([
    { method: 'tools/call' },
    { method: 'tools/call' },
  ])
  expect(complaints).toEqual([])
})

inBrowser('a tool that is added while the view is open appears without a reload', async () => {
  const platform = await platformWith({ mcp: { tools: [weather] } })
  const { page } = await openPage({ hasClock: true })
  await page.goto(`${platform.dashboardUrl}/mcp`)
  await page.getByRole('link', { name: 'get_weather', exact: true }).waitFor()
  await platform.mcp.change({ tools: [{ name: 'get_tide', inputSchema: { type: 'object' } }] })
  await later(page, () => page.getByRole('link', { name: 'get_tide', exact: true }).isVisible())
  await platform.reset()
  await later(page, () => page.getByRole('link', { name: 'get_tide', exact: true }).isHidden())
})
