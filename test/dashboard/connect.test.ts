import { expect } from 'vitest'
import { clipboardOf, inBrowser, useBrowser } from './browser.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

inBrowser('without signing in, the page shows where to point an app, the endpoints and the models', async () => {
  const { url, dashboardUrl, anonKey } = await platformWith({
    models: [{ id: 'model-one' }, { id: 'vendor/model-two' }],
  })
  const { page } = await openPage()
  expect((await page.goto(dashboardUrl))?.status()).toBe(200)
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  expect(await page.title()).toBe('Connect · Standin')
  expect(await page.locator('dd').allInnerTexts()).toEqual([url, `${url}/v1`, url, anonKey])
  expect(await page.getByRole('row').allInnerTexts()).toEqual([
    'Path\tMethod\tCredential',
    '/health\tGET\tnone needed',
    '/api/v1\tGET\tanon key, service key, user token',
    '/v1/models\tGET\tAPI key, user token',
    '/v1/chat/completions\tPOST\tAPI key, user token',
  ])
  const models = page.getByRole('region', { name: 'Models' }).getByRole('listitem')
  expect(await models.allInnerTexts()).toEqual(['model-one', 'vendor/model-two'])
})

inBrowser('an address is copied with one click, and the page confirms it', async () => {
  const { url, dashboardUrl } = await platformWith()
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(dashboardUrl)
  await page.getByRole('button', { name: 'Copy For OpenAI’s clients' }).click()
  await page.getByRole('button', { name: 'Copied For OpenAI’s clients' }).waitFor()
  await page.getByRole('status').getByText('Copied').waitFor({ state: 'attached' })
  expect(await clipboardOf(page)).toBe(`${url}/v1`)
})

inBrowser('there is sample code for each client', async () => {
  const { url, dashboardUrl, anonKey, apiKey } = await platformWith({ models: [{ id: 'model-one' }] })
  const { page } = await openPage()
  await page.goto(dashboardUrl)
  const code = async (client: string) => {
    await page.getByRole('tab', { name: client }).click()
    return page.getByRole('tabpanel').innerText()
  }
  expect(await code('curl')).toContain(`curl ${url}/v1/chat/completions`)
  // On this machine it works unchanged.
  expect(await code('openai')).toContain(`baseURL: '${url}/v1',\n  apiKey: '${apiKey}'`)
  expect(await code('openai')).toContain("model: 'model-one'")
  expect(await code('supabase-js')).toContain(`createClient(\n  '${url}',\n  '${anonKey}',\n)`)
  expect(await code('.env')).toContain(`OPENAI_BASE_URL=${url}/v1\nOPENAI_API_KEY=${apiKey}\n`)
})

inBrowser('values from the configuration are shown as text, whatever they contain', async () => {
  const id = `<img src=x onerror="alert(1)">&amp;'"`
  const { dashboardUrl } = await platformWith({ models: [{ id }] })
  const { page, complaints } = await openPage()
  await page.goto(dashboardUrl)
  const models = page.getByRole('region', { name: 'Models' }).getByRole('listitem')
  await models.waitFor()
  expect(await models.allInnerTexts()).toEqual([id])
  expect(await page.locator('img').count()).toBe(0)
  expect(complaints).toEqual([])
})
