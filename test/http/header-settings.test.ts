import { expect, test } from 'vitest'
import { hello, platformWith } from '../scene.js'

test.each([
  ['a status that is there twice', 'status=503; status=500', 'status is there twice.'],
  ['a word that is there twice', 'hang; hang', 'hang is there twice.'],
  ['a name of thousands of letters', `${'x'.repeat(5000)}=1`, /^\["x{60}…"\] .*Known: status, message/],
])('%s in a fault header is refused in a sentence that stays short', async (_what, fault, sentence) => {
  const { chat } = await platformWith()
  const response = await chat(hello, { headers: { 'x-standin-fault': fault } })
  expect(response.status).toBe(400)
  const { error } = (await response.json()) as { error: string }
  expect(error.replace('Header x-standin-fault: ', '')).toMatch(sentence)
})
