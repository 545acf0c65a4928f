import { expect, test } from 'vitest'
import { eventsOf, hello, platformWith, textOfChunks } from '../scene.js'

test('a rule that matches says what the model says', async () => {
  const { chat } = await platformWith({ rules: [{ when: { user: 'hello' }, reply: { text: 'Hi there!' } }] })
  const response = await chat(hello)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    id: expect.stringMatching(/^chatcmpl-\w+$/),
    object: 'chat.completion',
    created: expect.closeTo(Date.now() / 1000, -1),
    model: 'gpt-4o-mini',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hi there!', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    system_fingerprint: 'fp_standin',
  })
})

test('a stream says the same words as the whole reply to the same request', async () => {
  const { chat } = await platformWith()
  const whole = (await (await chat(hello)).json()) as { choices: [{ message: { content: string } }] }
  const response = await chat({ ...hello, stream: true })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const { chunks, done } = eventsOf(await response.text())
  expect(textOfChunks(chunks)).toBe(whole.choices[0].message.content)
  expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: '' })
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
  expect(done).toBe(true)
})
