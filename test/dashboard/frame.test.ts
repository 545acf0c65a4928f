/** The page as a whole: five views, accessible in every appearance, and the addresses of earlier versions. */
import { expect } from 'vitest'
import { formerRoutes, movedTo, routes } from '../../src/dashboard/routes.js'
import { allAppearances, expectAccessible } from './axe.js'
import { inBrowser, useBrowser } from './browser.js'
import { hello, platformWith } from './scene.js'

const openPage = useBrowser()

inBrowser('every view is accessible and fits desktop and phone, also with long names', async () => {
  const email = 'somebody.with.a.long.name@a-company-with-a-long-name.example'
  const long = 'a_model_with_a_name_that_is_longer_than_a_phone_is_wide_and_never_breaks'
  const platform = await platformWith({ users: [{ email, password: 'another battery' }], models: [{ id: long }] })
  await (await platform.chat({ ...hello, model: long })).text()
  await (await platform.chat(hello)).text()
  await platform.ask(`/v1/${'long'.repeat(40)}`)
  const { page, complaints } = await openPage()
  for (const [view, address] of Object.entries(routes)) {
    await page.goto(new URL(address, platform.url).href)
    const heading = page.getByRole('heading', { level: 1, name: view.replace(/^./, first => first.toUpperCase()) })
    await heading.waitFor({ state: 'attached' })
    await page.locator('.waiting').waitFor({ state: 'detached' })
    await expectAccessible(page, allAppearances).catch(error => {
      throw new Error(`${view}: ${error.message}`)
    })
  }
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto(platform.dashboardUrl)
  await page.getByLabel('Search requests').waitFor()
  await expectAccessible(page)
  await page.emulateMedia({ forcedColors: 'none' })
  expect(complaints).toEqual([])
})

inBrowser('each address of an earlier version leads to its view, with its query', async () => {
  const platform = await platformWith()
  await (await platform.chat(hello)).text()
  const { page } = await openPage()
  for (const former of Object.keys(formerRoutes)) {
    await page.goto(platform.url + former)
    const now = new URL(page.url())
    expect(now.pathname + now.search + now.hash).toBe(formerRoutes[former])
  }
  await page.goto(`${platform.dashboardUrl}/requests?id=1`)
  await page.getByRole('complementary').getByText('Conversation').waitFor()
  expect(movedTo(new URL('http://localhost/dashboard/replies?rule=a'))).toBe('/dashboard/answers?rule=a')
  await page.goto(`${platform.dashboardUrl}/nowhere`)
  await page.getByText('There is no page at').waitFor()
})
