import { expect, test } from 'standin/playwright'

const people = ['Ada', 'Bob', 'Cem', 'Dai']

for (const name of people)
  test(`${name} gets the answer for ${name} while three others ask the same`, async ({
    page,
    platform,
    signIn,
  }, info) => {
    await platform.reply(`For ${name}.`)
    await signIn(page)
    await page.goto('/')
    await page.request.get(`/meet?people=4&repeat=${info.repeatEachIndex}`)
    await page.getByRole('button', { name: 'Ask' }).click()
    await expect(page.getByRole('status')).toHaveText(`For ${name}.`)
    await page.goto('/rendered')
    await expect(page.getByRole('status')).toHaveText(`For ${name}.`)
    await expect(platform).toHaveReceivedTimes(2, '/v1/chat/completions')
  })

test('the code of a test finds the platform under the names that the project uses', ({ standin }) => {
  expect(process.env.VITE_SUPABASE_URL).toBe(standin.url)
  expect(standin.env).toMatchObject({ VITE_SUPABASE_URL: standin.url, OPENAI_BASE_URL: `${standin.url}/v1` })
})

test('nobody has signed in, and the app passes baggage on', async ({ page, platform }) => {
  await page.context().setExtraHTTPHeaders({ baggage: platform.baggage })
  await platform.reply('For anyone.')
  await page.goto('/')
  await page.getByRole('button', { name: 'Ask' }).click()
  await expect(page.getByRole('status')).toHaveText('For anyone.')
  await expect(platform).toHaveReceived('/v1/chat/completions')
})

test('an open page is loaded again, also for a second user', async ({ page, platform, signIn }, info) => {
  await platform.reply('For both.')
  await page.goto('/')
  await expect(page.getByRole('heading')).toHaveText('Please sign in.')
  await signIn(page)
  await expect(page.getByRole('heading')).toHaveText(`Hello ${platform.email}`)
  // With more in the session than one cookie can hold.
  const email = `${'long'.repeat(11)}${info.repeatEachIndex}@${`${'part'.repeat(12)}.`.repeat(3)}example.com`
  await signIn(page, { email })
  await expect(page.getByRole('heading')).toHaveText(`Hello ${email}`)
  await page.goto('/rendered')
  await expect(page.getByRole('heading')).toHaveText(`Hello ${email}`)
  await expect(page.getByRole('status')).toHaveText('For both.')
  await expect(platform).toHaveReceivedTimes(1, '/v1/chat/completions')
})
