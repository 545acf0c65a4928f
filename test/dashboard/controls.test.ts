import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { folderWith } from '../command.js'
import { control } from '../http/controlled.js'
import { liveWith, saying } from '../recordings/live.js'
import { mustBe, NEEDS_LIVE, range } from '../sentences.js'
import { comeBack, hasFocus, inBrowser, later, tabTo, useBrowser } from './browser.js'
import { openSignedIn } from './people.js'
import { hello, platformWith, type Scene } from './scene.js'
import { addressOfThisMachine } from './this-machine.js'

const openPage = useBrowser()

/** Opens the controls of a platform. */
async function controlsOf(platform: Pick<Scene, 'dashboardUrl'>, look = {}): Promise<Page> {
  const { page } = await openPage(look)
  await page.goto(`${platform.dashboardUrl}/controls`)
  await page.getByRole('heading', { name: 'Clock' }).waitFor()
  return page
}

const modeOf = async (platform: Scene) => (await control(platform, 'GET /mode')).body.mode as string

const group = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const announced = (page: Page, text: string) =>
  page.getByRole('status').getByText(text, { exact: true }).waitFor({ state: 'attached' })

inBrowser(
  'a mode takes effect when it is chosen, for all endpoints or for one, and an unavailable one says why',
  async () => {
    const platform = await platformWith()
    const page = await controlsOf(platform)
    const mode = group(page, 'Where answers come from')
    const record = page.getByRole('radio', { name: 'Record' })
    expect(await record.isDisabled()).toBe(true)
    expect(await record.locator('..').innerText()).toContain(`The mode record ${NEEDS_LIVE}`)
    await mode.getByRole('radio', { name: 'Replay' }).click()
    await announced(page, 'The mode was changed.')
    await page.locator('.mode').getByText('replay').waitFor()
    expect(await modeOf(platform)).toBe('replay')
    await mode.getByText('Individual endpoints').click()
    await mode.getByLabel('GET /v1/models').selectOption('Emulate')
    await vi.waitFor(async () => expect((await platform.ask('/v1/models')).status).toBe(200))
    expect((await control(platform, 'GET /mode')).body).toEqual({
      mode: 'replay',
      modes: { 'GET /v1/models': 'emulate' },
    })
    await mode.getByLabel('GET /v1/models').selectOption('Default (replay)')
    await vi.waitFor(async () => expect((await control(platform, 'GET /mode')).body.modes).toEqual({}))
    await mode.getByRole('button', { name: /back to the configuration/ }).click()
    await mode.getByText('Changed', { exact: true }).waitFor({ state: 'detached' })
    expect(await modeOf(platform)).toBe('emulate')
  },
)

inBrowser('a mode that calls the live platform asks for confirmation', async () => {
  const live = await liveWith(saying({}))
  const platform = await platformWith({ upstream: { baseUrl: live.url } })
  const page = await controlsOf(platform)
  const proxy = page.getByRole('radio', { name: 'Proxy' })
  await proxy.click()
  await page.getByRole('dialog', { name: 'Switch to proxy?' }).getByRole('button', { name: 'Cancel' }).click()
  expect([await modeOf(platform), await proxy.isChecked()]).toEqual(['emulate', false])
  await proxy.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Switch' }).click()
  await page.locator('.mode').getByText('proxy').waitFor()
  expect([await modeOf(platform), await proxy.isChecked()]).toEqual(['proxy', true])
})

inBrowser('the mode of an endpoint does not change until the switch is confirmed', async () => {
  const live = await liveWith(saying({}))
  const platform = await platformWith({ upstream: { baseUrl: live.url } })
  const page = await controlsOf(platform)
  const mode = group(page, 'Where answers come from')
  await mode.getByText('Individual endpoints').click()
  const models = mode.getByLabel('GET /v1/models')
  await models.selectOption('Proxy')
  await page.getByRole('dialog', { name: 'Switch to proxy?' }).getByRole('button', { name: 'Cancel' }).click()
  expect(await models.inputValue()).toBe('')
})

inBrowser('the list of single endpoints stays open when the last one returns to the default mode', async () => {
  const platform = await platformWith()
  await control(platform, 'PUT /mode', { mode: 'emulate', modes: { 'GET /v1/models': 'replay' } })
  const page = await controlsOf(platform)
  const models = group(page, 'Where answers come from').getByLabel('GET /v1/models')
  await models.focus()
  await models.selectOption('Default (emulate)')
  await page.getByText('all in this mode').waitFor()
  expect(await hasFocus(page, models)).toBe(true)
})

inBrowser('a preset makes the next request fail, and pending faults are listed', async () => {
  const platform = await platformWith()
  const page = await controlsOf(platform)
  const faults = group(page, 'Faults')
  await faults.getByRole('button', { name: '429, Retry-After 2 s' }).click()
  await faults.getByRole('listitem').getByText('Status 429, retry after 2').waitFor()
  await faults.getByRole('button', { name: '500' }).click()
  await faults.getByRole('listitem').nth(1).waitFor()
  await faults.getByRole('button', { name: /^Remove: Status 429, retry after 2/ }).click()
  await announced(page, 'The fault was removed.')
  await vi.waitFor(async () => expect(await hasFocus(page, faults.getByRole('heading', { name: 'Faults' }))).toBe(true))
  expect((await platform.chat(hello)).status).toBe(500)
  await comeBack(page)
  await faults.getByText('No pending faults.').waitFor()
  expect((await platform.chat(hello)).status).toBe(200)
})

inBrowser(
  'any fault can be set for the requests it is meant for, and an invalid one is refused at its field',
  async () => {
    const platform = await platformWith()
    const page = await controlsOf(platform)
    const faults = group(page, 'Faults')
    await faults.getByText('Another fault').click()
    const status = faults.getByLabel('Status')
    await status.fill('200')
    await faults.getByRole('button', { name: 'Add fault' }).click()
    await faults.getByText(mustBe('fault.status', range('an HTTP status', 400, 599), 200)).waitFor()
    expect([await status.getAttribute('aria-invalid'), await hasFocus(page, status)]).toEqual(['true', true])
    await status.fill('418')
    await faults.getByLabel('Message').fill('I am a teapot.')
    await faults.getByLabel('Times').fill('2')
    await faults.getByLabel('Path').fill('/v1/*')
    await faults.getByLabel('Method').selectOption('POST')
    await faults.getByLabel('Model').selectOption('gpt-4o-mini')
    await faults.getByLabel('The user says').fill('hello')
    await faults.getByRole('button', { name: 'Add fault' }).click()
    await faults.getByText('Status 418, message I am a teapot.').waitFor()
    await faults.getByText('the next 2 requests: POST /v1/*, user contains “hello”, model gpt-4o-mini').waitFor()
    expect((await platform.ask('/v1/models')).status).toBe(200)
    expect((await platform.chat({ ...hello, model: 'gpt-4o' })).status).toBe(200)
    const faulty = await platform.chat(hello)
    expect([faulty.status, await faulty.json()]).toEqual([418, { error: 'I am a teapot.' }])
  },
)

inBrowser('the server accepts every kind of fault in the form', async () => {
  const platform = await platformWith()
  const page = await controlsOf(platform)
  const faults = group(page, 'Faults')
  await faults.getByText('Another fault').click()
  const kinds = await faults.getByLabel('What goes wrong').locator('option').allInnerTexts()
  expect(kinds.length).toBeGreaterThan(10)
  for (const [count, kind] of kinds.entries()) {
    await faults.getByLabel('What goes wrong').selectOption(kind)
    await faults.getByRole('button', { name: 'Add fault' }).click()
    await faults.getByRole('listitem').nth(count).waitFor()
  }
  const { data } = (await control(platform, 'GET /faults')).body as { data: readonly { fault: object }[] }
  expect(data.map(({ fault }) => fault)).toEqual([
    { status: 503 },
    { delayMs: 3000 },
    { hang: true },
    { contentType: 'text/html' },
    { malformedArguments: true },
    { cutAfterChunks: 3 },
    { endAfterChunks: 3 },
    { stallAfterChunks: 3 },
    { malformedChunk: 2 },
    { done: 'missing' },
    { interleave: true },
    { errorAfterChunks: 3 },
    { cutAfterBytes: 100 },
    { truncate: true },
    { finishReason: 'length' },
    { reset: 'before' },
  ])
  await faults.getByRole('button', { name: 'Remove all' }).click()
  await faults.getByText('No pending faults.').waitFor()
})

inBrowser('a fault hits requests at random until it is removed', async () => {
  const platform = await platformWith()
  const page = await controlsOf(platform)
  const faults = group(page, 'Faults')
  await faults.getByText('Another fault').click()
  await faults.getByLabel('Random matching requests').check()
  await faults.getByLabel('Chance').fill('1')
  await faults.getByRole('button', { name: 'Add fault' }).click()
  await faults.getByText('100 % of requests to /v1/*').waitFor()
  expect((await platform.chat(hello)).status).toBe(503)
  await faults.getByRole('button', { name: /back to the configuration/ }).click()
  await faults.getByText('Changed', { exact: true }).waitFor({ state: 'detached' })
  expect((await platform.chat(hello)).status).toBe(200)
})

inBrowser('the clock can be advanced, frozen and returned to real time', async () => {
  const platform = await platformWith()
  const page = await controlsOf(platform)
  const clock = group(page, 'Clock')
  await clock.getByRole('button', { name: '+ 1 hour' }).click()
  await clock.getByText('1 hour ahead of real time').waitFor()
  expect(platform.clock.state().offsetMs).toBe(3_600_000)
  await clock.getByRole('button', { name: 'Freeze' }).click()
  await clock.getByText('Frozen').waitFor()
  await clock.getByRole('button', { name: 'Resume' }).click()
  await clock.getByText('Adjusted').waitFor()
  await clock.getByRole('button', { name: /back to real time/ }).click()
  await clock.getByText('Real time', { exact: true }).waitFor()
  expect(platform.clock.state()).toMatchObject({ offsetMs: 0, frozen: false })
})

inBrowser('everything is reset after confirmation', async () => {
  const platform = await platformWith()
  await control(platform, 'PUT /pace', { firstTokenMs: 5 })
  await control(platform, 'PUT /limits', { requestsPerMinute: 5 })
  await control(platform, 'PUT /faults/random', { random: [{ chance: 1, status: 503 }] })
  await control(platform, 'POST /faults', { fault: { status: 500 } })
  await control(platform, 'PUT /mode', { mode: 'replay' })
  platform.clock.advance(1000)
  const page = await controlsOf(platform)
  await page.getByRole('button', { name: 'Reset everything' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
  await announced(page, 'Everything was reset.')
  for (const name of ['Where answers come from', 'Faults', 'Clock']) {
    await group(page, name).getByText('Changed', { exact: true }).waitFor({ state: 'detached' })
  }
  expect([await modeOf(platform), platform.clock.state().offsetMs, (await platform.chat(hello)).status]).toEqual([
    'emulate',
    0,
    200,
  ])
})

inBrowser('a reset says what happens to users, and signs out the current user', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await page.getByRole('link', { name: 'Controls' }).click()
  await page.getByRole('button', { name: 'Reset everything' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('So do users, keys, messages and the rows of resources').waitFor()
  await dialog.getByRole('button', { name: 'Reset' }).click()
  await announced(page, 'Everything was reset.')
  await page.getByRole('button', { name: /^Account/ }).waitFor({ state: 'detached' })

  const kept = await platformWith({ state: `file:${folderWith({})}/state.db` })
  await page.goto(`${kept.dashboardUrl}/controls`)
  await page.getByRole('button', { name: 'Reset everything' }).click()
  await dialog.getByText('Users, keys and recordings stay.').waitFor()
})

inBrowser('changes made elsewhere appear without a reload', async () => {
  const platform = await platformWith()
  const page = await controlsOf(platform, { hasClock: true })
  platform.clock.advance(3_600_000)
  platform.switchMode('replay')
  await later(page, () => group(page, 'Clock').getByText('1 hour ahead of real time').isVisible())
  await later(page, () => page.getByRole('radio', { name: 'Replay' }).isChecked())
  await page.locator('.mode').getByText('replay').waitFor()
})

inBrowser('all controls work by keyboard alone, and the focus keeps its place', async () => {
  const platform = await platformWith()
  const page = await controlsOf(platform)
  await tabTo(page, page.getByRole('radio', { name: 'Emulate' }))
  await page.keyboard.press('ArrowDown')
  await announced(page, 'The mode was changed.')
  expect(await modeOf(platform)).toBe('replay')
  const back = page.getByRole('button', { name: 'Where answers come from: back to the configuration' })
  await back.waitFor()
  await back.focus()
  await page.keyboard.press('Enter')
  await announced(page, 'Where answers come from: reset to the configuration.')
  expect(await hasFocus(page, page.getByRole('heading', { name: 'Where answers come from' }))).toBe(true)
  await tabTo(page, page.getByRole('button', { name: '500' }))
  await page.keyboard.press('Enter')
  await announced(page, 'The fault was added.')
  await tabTo(page, page.getByText('Another fault'))
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByLabel('Times'))
  await tabTo(page, page.getByRole('button', { name: '+ 1 day' }))
  await page.keyboard.press('Space')
  await page.getByText('1 day ahead of real time').waitFor()
})

inBrowser('from another machine the control token opens the controls', async ({ skip }) => {
  const address = addressOfThisMachine()
  if (address === undefined) skip('This machine has no address other than loopback.')
  const controlToken = 'control-token-of-this-test'
  const { url } = await platformWith({ host: '0.0.0.0', controlToken })
  const { page } = await openPage()
  await page.goto(`http://${address}:${new URL(url).port}/dashboard/controls`)
  await page.getByText('The control API needs a credential here').waitFor()
  await page.getByLabel('Control token').fill(controlToken)
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByRole('button', { name: '+ 1 hour' }).click()
  await page.getByText('1 hour ahead of real time').waitFor()
})
