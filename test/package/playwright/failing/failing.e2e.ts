import { expect, test } from 'standin/playwright'

const people = ['Ada', 'Bob', 'Cem']

for (const name of people)
  test(`${name} has no scope`, async ({ page, standin, signIn }) => {
    await standin.reply(`For ${name}.`, { when: { user: /weather/ } })
    await signIn(page)
    await page.goto('/')
    await page.request.get('/meet?people=3')
    await page.getByRole('button', { name: 'Ask' }).click()
    await expect(page.getByRole('status')).toHaveAttribute('aria-busy', 'false')
    expect(await page.getByRole('status').textContent()).toBe(`For ${name}.`)
  })

test('holds what nobody asks for', async ({ platform }) => {
  await platform.hold({ when: { user: /tides/ }, name: 'the answer about tides' })
})

test('asks in other words than prepared', async ({ platform, request, standin }) => {
  await platform.reply('Sunny.', { when: { user: /weather/ } })
  const headers = { authorization: `Bearer ${platform.apiKey}` }
  const data = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'How is the Weather?' }] }
  const answer = await request.post(`${standin.url}/v1/chat/completions`, { headers, data })
  expect((await answer.json()).choices[0].message.content).toBe('Sunny.')
})

test('expects another model', async ({ platform, request, standin }) => {
  const headers = { authorization: `Bearer ${platform.apiKey}` }
  const data = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }
  await request.post(`${standin.url}/v1/chat/completions`, { headers, data })
  await expect.configure({ timeout: 1 })(platform).toHaveReceived({ model: 'gpt-4o' })
})

test.describe(() => {
  test.use({ baseURL: '' })

  test('signs in on no page', async ({ page, signIn }) => {
    await signIn(page)
  })
})
