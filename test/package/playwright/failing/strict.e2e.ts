import { test } from 'standin/playwright'

test.use({ standinOptions: { strict: true } })

for (const allowMisses of [false, true])
  test.describe(() => {
    test.use({ allowMisses })

    test(`sends what no rule answers${allowMisses ? ', and may' : ''}`, async ({ platform, request, standin }) => {
      const headers = { authorization: `Bearer ${platform.apiKey}` }
      const data = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'When do you open?' }] }
      await request.post(`${standin.url}/v1/chat/completions`, { headers, data })
    })
  })
