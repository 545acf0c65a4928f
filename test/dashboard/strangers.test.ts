import { expect } from 'vitest'
import { KEY_UNKNOWN } from '../sentences.js'
import { appElsewhere, fetchOn, goWithin, inBrowser, useBrowser } from './browser.js'
import { signedUp } from './people.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

const ownPaths = [
  '/dashboard',
  '/dashboard/connect',
  '/dashboard/api/config',
  '/dashboard/api/keys',
  '/__standin/outbox',
  '/__standin/users',
  '/__standin/ready',
]

/** Views that a signed-out user can open, with the titles they then have. */
const views = [
  ['', 'Activity'],
  ['/answers', 'Answers'],
  ['/people', 'People'],
  ['/connect', 'Connect'],
] as const

inBrowser('signed out, the page contains only public keys', async () => {
  const { dashboardUrl, apiKey, serviceKey } = await platformWith({
    apiKeys: [{ name: 'mine', key: 'sk-of-our-own-and-long-enough' }],
    upstream: { apiKey: 'sk-live-secret', anonKey: 'live-anon-secret' },
  })
  const { page } = await openPage()
  await page.goto(dashboardUrl)
  for (const [view, title] of views) {
    await goWithin(page, dashboardUrl + view)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    const source = await page.content()
    for (const key of [apiKey, serviceKey, 'sk-live-secret', 'live-anon-secret']) expect(source).not.toContain(key)
  }
})

inBrowser('the page loads nothing from other origins and logs no errors', async () => {
  const { url, dashboardUrl } = await platformWith()
  const { page, asked, complaints } = await openPage()
  await page.goto(dashboardUrl)
  for (const [view, title] of views) {
    await goWithin(page, dashboardUrl + view)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
  }
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter(address => /^https?:/.test(address) && new URL(address).origin !== url)).toEqual([])
  expect(complaints).toEqual([])
})

inBrowser("a page of another origin can neither read nor change Standin's own data", async () => {
  const platform = await platformWith()
  const token = await signedUp(platform)
  const { page } = await openPage()
  await page.goto(await appElsewhere())
  for (const path of ownPaths) expect(await fetchOn(page, platform.url + path)).toEqual({ refused: 'Failed to fetch' })

  // Without a preflight, as a form or a beacon would send it.
  const plain = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"name":"foreign"}' }
  expect(await fetchOn(page, `${platform.url}/dashboard/api/keys`, plain)).toEqual({ refused: 'Failed to fetch' })
  const mine = { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } }
  expect(await fetchOn(page, `${platform.url}/dashboard/api/keys`, { ...mine, body: '{"name":"foreign"}' })).toEqual({
    refused: 'Failed to fetch',
  })
  const keys = await platform.ask('/dashboard/api/keys', { bearer: token })
  expect(await keys.json()).toEqual({ data: [] })
})

inBrowser("a page of another origin cannot load Standin's data as a script or an image", async () => {
  const { url } = await platformWith()
  const { page } = await openPage()
  await page.goto(await appElsewhere())
  const loads = (tag: string, path: string) =>
    page.evaluate<string>(`new Promise(done => {
      const element = document.createElement(${JSON.stringify(tag)})
      element.onload = () => done('loaded')
      element.onerror = () => done('refused')
      element.src = ${JSON.stringify(url + path)}
      document.body.append(element)
    })`)
  expect(await loads('script', '/__standin/users')).toBe('refused')
  expect(await loads('img', '/__standin/outbox')).toBe('refused')
})

inBrowser('a page of another origin cannot frame the dashboard', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  await page.goto(await appElsewhere())
  const refused = page.waitForEvent('console', message => message.text().includes('frame-ancestors'))
  await page.evaluate(`document.body.append(
    Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(dashboardUrl)} }),
  )`)
  expect((await refused).type()).toBe('error')
})

inBrowser('an app of another origin calls the platform with its key', async () => {
  const { url, apiKey } = await platformWith({ models: [{ id: 'model-one' }] })
  const { page } = await openPage()
  await page.goto(await appElsewhere())
  const authorization = `Bearer ${apiKey}`
  expect(await fetchOn(page, `${url}/v1/models`, { headers: { authorization } })).toMatchObject({
    status: 200,
    body: { data: [{ id: 'model-one' }] },
  })
  const body = JSON.stringify({ model: 'model-one', messages: [{ role: 'user', content: 'hello' }] })
  const headers = { authorization, 'content-type': 'application/json', 'x-stainless-lang': 'js' }
  expect(await fetchOn(page, `${url}/v1/chat/completions`, { method: 'POST', headers, body })).toMatchObject({
    status: 200,
    body: { object: 'chat.completion' },
  })
})

inBrowser('an app of another origin can read error responses', async () => {
  const { url } = await platformWith()
  const { page } = await openPage()
  await page.goto(await appElsewhere())
  const headers = { authorization: 'Bearer nothing' }
  expect(await fetchOn(page, `${url}/nowhere`, { headers })).toEqual({
    status: 404,
    body: { error: 'Not found.', path: '/nowhere' },
  })
  expect(await fetchOn(page, `${url}/v1/models`, { headers })).toEqual({
    status: 401,
    body: { error: KEY_UNKNOWN },
  })
  expect(await fetchOn(page, `${url}/v1/models`, { method: 'POST', headers })).toMatchObject({ status: 405 })
})
