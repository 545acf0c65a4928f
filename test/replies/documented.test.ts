import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createReplies, type Generation, neverAnswering } from '../../src/replies/index.js'
import { rulesInText } from '../../src/replies/load.js'

const page = readFileSync(new URL('../../docs/rules-and-replies.md', import.meta.url), 'utf8')
const rules = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => text).join('')

async function documented() {
  const { rules: ready, problems } = await rulesInText(rules, { name: 'the page', dir: undefined, seed: 0 })
  expect(problems).toEqual([])
  return ready
}

/** A reply in the notation of the page. */
const shown = ({ choices: [choice] }: Generation) =>
  choice?.toolCalls?.map(call => `${call.name}(${call.arguments})`).join(' ') ?? choice?.text

test('the rules in the documentation are valid and have no findings', async () => {
  expect(neverAnswering(await documented(), ['gpt-4o-mini'])).toEqual([])
})

const cities = ['Oslo', 'Bergen']

test.each([
  ['weather in Oslo', {}, 'get_weather({"city":"Oslo"})'],
  ['weather in Oslo', { unit: 'celsius' }, 'get_weather({"city":"Oslo","unit":"celsius"})'],
  ['prices', { city: 'Oslo' }, '{"Oslo":{"price":12}}'],
  ['everywhere', { cities }, 'get_weather({"city":"Oslo"}) get_weather({"city":"Bergen"})'],
  ['next', {}, 'First.'],
])('%s with %j is answered as documented', async (content, metadata, answer) => {
  const replies = createReplies({ rules: await documented(), seed: 0, strict: true })
  const messages = [{ role: 'user' as const, content }]
  expect(shown(await replies.answer({ model: 'gpt-4o-mini', messages, metadata }))).toEqual(answer)
})
