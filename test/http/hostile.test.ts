import { expect, test } from 'vitest'
import { eventsOf, hello, platformWith } from '../scene.js'

test('tools that are nested 6,000 levels deep are refused, and the server carries on', async () => {
  const { chat } = await platformWith()
  const parameters = `${'{"a":'.repeat(6000)}1${'}'.repeat(6000)}`
  const tools = [{ type: 'function', function: { name: 'deep', parameters: 'here' } }]
  const body = JSON.stringify({ ...hello, stream: true, tools }).replace('"here"', parameters)
  const refused = await chat({}, { body })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toEqual({
    error: 'The request body has more than 1100 levels of objects and arrays.',
  })
  const deepest = await chat({}, { body: body.replace(parameters, `${'{"a":'.repeat(1090)}1${'}'.repeat(1090)}`) })
  expect(deepest.status).toBe(200)
  expect(await deepest.text()).toContain('[DONE]')
  expect((await chat(hello)).status).toBe(200)
})

test('a magic word works even when the prompt repeats it 125,000 times', async () => {
  const { chat } = await platformWith()
  const requestWith = (word: string) => ({
    ...hello,
    messages: [{ role: 'user', content: `${word} `.repeat(125_000) }],
  })
  const answered = await chat(requestWith('standin:json'))
  expect(answered.status).toBe(200)
  expect(await answered.json()).toMatchObject({
    choices: [{ message: { content: expect.stringMatching(/^\{"ok":true/) } }],
  })
  const unknown = await chat(requestWith('standin:nonsense'))
  expect(unknown.status).toBe(400)
  expect(((await unknown.json()) as { error: string }).error).toContain('standin:nonsense')
})

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

const control = (url: string, path: string, body: unknown) =>
  fetch(`${url}/__standin${path}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

test('too many rules in one call are refused', async () => {
  const { url } = await platformWith()
  const rules = Array.from({ length: 110 }, (_, i) => ({ reply: { json: Array(200).fill(i) } }))
  const refusal = { error: expect.stringMatching(/ more than 20000 strings, commas and brackets/) }
  const tooMany = await control(url, '/replies', rules)
  expect([tooMany.status, await tooMany.json()]).toEqual([400, refusal])
  const added = await control(url, '/replies', rules.slice(0, 90))
  expect(((await added.json()) as { data: unknown[] }).data).toHaveLength(90)
  const refused = await control(url, '/replies', { reply: { text: '{{ user }}'.repeat(7000) } })
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { error: expect.stringContaining('may have 20000 characters in total, not 70000. Put the rule into a file.') },
  ])
})
