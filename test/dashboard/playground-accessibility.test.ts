import { expectAccessible } from './axe.js'
import { inBrowser, useBrowser } from './browser.js'
import { answersOn, messageIn, playOn, sayOn, unfold } from './playground.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

const long = 'a_word_that_is_longer_than_a_phone_is_wide_and_never_breaks_anywhere_at_all'
const rules = [
  { name: 'slow', when: { user: 'slowly' }, reply: { text: 'word '.repeat(500) }, pace: { tokensPerSecond: 20 } },
  { name: long, when: { user: 'long' }, reply: { text: `${long}\n${long} ${long}`, reasoning: `${long} and so on` } },
  {
    name: 'calls',
    when: { user: 'tool', toolResult: false },
    reply: { toolCalls: [{ name: 'get_weather', arguments: { [long]: long } }] },
  },
]

inBrowser(
  'the playground is accessible and fits desktop and phone, in light and dark colours, whatever the settings',
  async () => {
    const platform = await platformWith({ rules, models: [{ id: long }, { id: 'short' }] })
    const { page } = await openPage()
    const check = () => expectAccessible(page)
    await page.goto(`${platform.dashboardUrl}/playground`)
    await page.getByText('No messages yet').waitFor()
    await check()
    await unfold(page)
    await page.getByLabel('Credential').selectOption('None, to see the 401')
    await messageIn(page).fill('hello')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await check()

    await playOn(page, platform)
    await unfold(page, 'Tools', 'Response format', 'System message')
    await page.getByLabel('Response format (JSON)').fill(`{ ${long} }`)
    await page.getByLabel('System message').fill(long)
    await page.getByLabel('Temperature').fill('warm')
    await page.getByText('Enter a number, or leave it empty.').first().waitFor()
    await check()
  },
)

inBrowser('an answer and its details are accessible and fit desktop and phone, in light and dark colours', async () => {
  const platform = await platformWith({ rules, models: [{ id: long }, { id: 'short' }] })
  const { page } = await openPage()
  const check = () => expectAccessible(page)
  await playOn(page, platform)
  await sayOn(page, 'long')
  await unfold(page, 'Reasoning', 'Raw and code')
  // Each tab shows a block of code; this is the one with the longest lines.
  await page.getByRole('tab', { name: 'Response' }).click()
  await check()
})

inBrowser('a longer conversation is accessible and fits desktop and phone, in light and dark colours', async () => {
  const platform = await platformWith({ rules, models: [{ id: long }, { id: 'short' }] })
  const { page } = await openPage()
  const check = () => expectAccessible(page)
  await playOn(page, platform)
  await unfold(page, 'Tools')
  await page.getByRole('button', { name: 'Fill in a sample of Tools' }).click()
  await sayOn(page, 'long')
  await sayOn(page, 'a tool')
  await page.getByLabel('Result of get_weather').fill(long)
  await check()
  await page.getByRole('button', { name: 'Edit message 1' }).click()
  await check()
  await messageIn(page).fill('slowly')
  await page.keyboard.press('Enter')
  await answersOn(page).last().locator('.said').getByText('word word').waitFor()
  await check()
})
