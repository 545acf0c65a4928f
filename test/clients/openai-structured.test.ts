/** OpenAI's helpers for structured outputs. */
import { ContentFilterFinishReasonError, LengthFinishReasonError } from 'openai/core/error'
import { zodResponseFormat } from 'openai/helpers/zod'
import { expect, test } from 'vitest'
import { z } from 'zod/v4'
import { asking, chatSaying, chatWith, failureOf } from './clients.js'

const hello = asking('hello')

const invoice = z.object({
  number: z.string(),
  total: z.number().min(0),
  paid: z.boolean(),
  customer: z.object({ name: z.string(), email: z.email(), country: z.enum(['NO', 'SE']) }),
  lines: z.array(z.object({ text: z.string(), amount: z.number(), note: z.string().nullable() })).min(1),
  issued: z.iso.date(),
})
const response_format = zodResponseFormat(invoice, 'invoice')

test('parse reads generated JSON that fits a zod schema, the same whole and streamed', async () => {
  const chat = await chatWith({})
  const { choices } = await chat.parse({ ...asking('Make an invoice'), response_format })
  const parsed = invoice.parse(choices[0]?.message.parsed)
  const stream = chat.stream({ ...asking('Make an invoice'), response_format })
  const snapshots: unknown[] = []
  stream.on('content.delta', ({ parsed }) => snapshots.push(parsed))
  const completion = await stream.finalChatCompletion()
  expect(completion.choices[0]?.message.parsed).toEqual(parsed)
  expect(snapshots.at(-1)).toEqual(parsed)
  expect(snapshots.length).toBeGreaterThan(10)
})

interface Tree {
  name: string
  children: Tree[]
}
const tree: z.ZodType<Tree> = z.object({ name: z.string(), children: z.lazy(() => z.array(tree)) })

test('parse reads generated values for a recursive schema and for a union', async () => {
  const chat = await chatWith({})
  const shape = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), radius: z.number() }),
    z.object({ kind: z.literal('box'), sides: z.array(z.number()).length(2) }),
  ])
  const scene = z.object({ shape, tree })
  const { choices } = await chat.parse({ ...hello, response_format: zodResponseFormat(scene, 'scene') })
  expect(scene.safeParse(choices[0]?.message.parsed).error).toBeUndefined()
})

test('parse reads the JSON of a rule', async () => {
  const answer = z.object({ city: z.string(), celsius: z.number() })
  const chat = await chatWith({
    rules: [{ when: { responseFormat: { name: 'answer' } }, reply: { json: { city: '{{user}}', celsius: 7 } } }],
  })
  const { choices } = await chat.parse({ ...asking('Oslo'), response_format: zodResponseFormat(answer, 'answer') })
  expect(choices[0]?.message.parsed).toEqual({ city: 'Oslo', celsius: 7 })
})

test('parse and streams report a refusal', async () => {
  const chat = await chatSaying({ refusal: 'I will not make invoices.' })
  const { choices } = await chat.parse({ ...hello, response_format })
  expect(choices[0]).toMatchObject({
    finish_reason: 'stop',
    message: { refusal: 'I will not make invoices.', parsed: null, content: null },
  })
  const stream = chat.stream({ ...hello, response_format })
  const done: string[] = []
  stream.on('refusal.done', ({ refusal }) => done.push(refusal))
  await stream.done()
  expect(done).toEqual(['I will not make invoices.'])
})

test('parse throws its LengthFinishReasonError when the token limit cuts the JSON off', async () => {
  const chat = await chatWith({})
  const request = { ...hello, response_format, max_completion_tokens: 5 }
  expect(await failureOf(chat.parse(request))).toBeInstanceOf(LengthFinishReasonError)
  expect(await failureOf(chat.stream(request).done())).toBeInstanceOf(LengthFinishReasonError)
})

test('parse throws its ContentFilterFinishReasonError for content_filter', async () => {
  const chat = await chatSaying({ text: '{"number": "1', finishReason: 'content_filter' })
  expect(await failureOf(chat.parse({ ...hello, response_format }))).toBeInstanceOf(ContentFilterFinishReasonError)
  expect(await failureOf(chat.stream({ ...hello, response_format }).done())).toBeInstanceOf(
    ContentFilterFinishReasonError,
  )
})
