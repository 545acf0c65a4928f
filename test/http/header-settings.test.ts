import { expect, test } from 'vitest'
import { hello, platformWith } from '../scene.js'

test.each([
  ['a duplicate status', 'status=503; status=500', 'status is given twice.'],
  ['a duplicate word', 'hang; hang', 'hang is given twice.'],
  ['a name of thousands of characters', `${'x'.repeat(5000)}=1`, /^\["x{60}…"\] .*Known: status, message/],
])('%s in a fault header is refused with a short error', async (_what, fault, sentence) => {
  const { chat } = await platformWith()
  const response = await chat(hello, { headers: { 'x-standin-fault': fault } })
  expect(response.status).toBe(400)
  const { error } = (await response.json()) as { error: string }
  expect(error.replace('Header x-standin-fault: ', '')).toMatch(sentence)
})
