import { expect, test } from 'vitest'
import { eventsOf, hello, platformWith } from '../scene.js'

test('an answer that would be too large is refused before it is generated', async () => {
  const { chat } = await platformWith()
  const long = { ...hello, messages: [{ role: 'user', content: 'standin:long' }], logprobs: true, stream: true }
  const refused = await chat({ ...long, n: 128 })
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { error: string }).error).toMatch(
    /^The answer would be about \d+ MB, and the limit is 32 MB\. Ask for fewer choices/,
  )
  expect((await chat({ ...long, n: 128, max_tokens: 10 })).status).toBe(200)
})

test.each([false, true])(
  'a large answer is generated in a worker, and is like any other, streamed: %s',
  async stream => {
    const { chat } = await platformWith()
    const body = { ...hello, messages: [{ role: 'user', content: 'standin:long' }], stream, logprobs: true }
    const choicesOf = async (more: object) => {
      const text = await (
        await chat({ ...body, ...more }, { headers: { 'x-standin-pace': 'firstTokenMs=0; tokensPerSecond=0' } })
      ).text()
      if (!stream) return (JSON.parse(text) as { choices: readonly unknown[] }).choices
      return eventsOf(text).chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '')
    }
    const small = await choicesOf({ max_tokens: 20, n: 2 })
    expect(small.length).toBeGreaterThanOrEqual(2)
    const large = await choicesOf({ n: 2, top_logprobs: 5 })
    const whole = await (await chat({ ...hello, messages: body.messages })).json()
    const { content } = (whole as { choices: readonly { message: { content: string } }[] }).choices[0]?.message ?? {
      content: '',
    }
    if (stream) expect(large.join('').length).toBe(2 * content.length)
    else
      expect(large).toMatchObject([
        { index: 0, message: { content } },
        { index: 1, message: { content } },
      ])
  },
)

test('the tokens of a long prompt are counted in a worker, and limited as usual', async () => {
  const platform = await platformWith({
    tokenizer: 'o200k_base',
    models: [{ id: hello.model, maxPromptTokens: 20_000 }],
  })
  const requestWith = (words: number) => ({ ...hello, messages: [{ role: 'user', content: ' word'.repeat(words) }] })
  const short = await platform.chat(requestWith(10_000))
  expect(await short.json()).toMatchObject({ usage: { prompt_tokens: 10_007 } })
  const long = await platform.chat(requestWith(20_000))
  expect(long.status).toBe(400)
  expect(((await long.json()) as { error: string }).error).toContain('20007')
})
