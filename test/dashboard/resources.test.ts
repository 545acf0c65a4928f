/** Resources on the dashboard: their rows are found, added, edited, deleted and restored. */
import { expect } from 'vitest'
import { notValid } from '../sentences.js'
import { expectAccessible } from './axe.js'
import { inBrowser, useBrowser } from './browser.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()
const path = '/builder/projects'

inBrowser('rows of a resource are searched, added, edited, deleted and restored', async () => {
  const data = Array.from({ length: 23 }, (_, i) => ({
    id: i + 1,
    name: `Project ${i + 1}`,
    about: 'long '.repeat(40),
  }))
  const platform = await platformWith({ resources: { [path]: { data } } })
  const { page, complaints } = await openPage()
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = page.getByRole('dialog')
  const send = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
  const rows = platform.resource(path)

  await page.goto(`${platform.dashboardUrl}/resources`)
  await page.getByText('API key, user token').waitFor()
  await page.getByRole('link', { name: path, exact: true }).click()
  await page.getByText('23 rows', { exact: true }).waitFor()
  await expectAccessible(page)
  await page.getByLabel('Search rows').fill('project 23')
  await page.getByText('1 row', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('1 row', { exact: true }).waitFor()

  await button('Edit 23').click()
  await dialog.getByLabel('Row (JSON)').fill('{"name":')
  await send('Save')
  await dialog.getByText(notValid('JSON')).waitFor()
  await dialog.getByLabel('Row (JSON)').fill('{"name":"Project 23b"}')
  await send('Save')
  await page.getByRole('row').filter({ hasText: '23b' }).waitFor()
  expect((await rows.rows()).at(-1)).toEqual({ id: 23, name: 'Project 23b' })

  await button('Add row').click()
  await dialog.getByLabel('Row (JSON)').fill('{"id":1}')
  await send('Add row')
  await dialog.getByText('There is a row with the id "1" already.').waitFor()
  await dialog.getByLabel('Row (JSON)').fill('{"name":"Project 230"}')
  await send('Add row')
  await page.getByText('2 rows', { exact: true }).waitFor()

  await button('Delete 23').click()
  await send('Delete')
  await page.getByText('1 row', { exact: true }).waitFor()
  await button('Restore').click()
  await send('Restore')
  await page.getByRole('row').filter({ hasText: 'Project 23"' }).waitFor()
  expect(await rows.rows()).toEqual(data)
  expect(complaints.filter(one => !one.includes('409'))).toEqual([])
})

inBrowser('fields that are changed elsewhere while a row is edited stay changed', async () => {
  const platform = await platformWith({ resources: { [path]: { data: [{ id: 1, name: 'Atlas', status: 'new' }] } } })
  const { page } = await openPage()
  const dialog = page.getByRole('dialog')
  await page.goto(`${platform.dashboardUrl}/resources?path=${encodeURIComponent(path)}`)
  await page.getByRole('button', { name: 'Edit 1' }).click()
  await dialog.getByLabel('Row (JSON)').fill('{"id":1,"name":"Atlas 2","status":"new"}')
  await platform.ask(`${path}/1`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ status: 'done', owner: 'Ada' }),
  })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await platform.resource(path).rows()).toEqual([{ id: 1, name: 'Atlas 2', status: 'done', owner: 'Ada' }])
})
