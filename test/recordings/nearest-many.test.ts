/** The nearest recording is found by its conversation, however many there are and however large they are. */
import { expect, test } from 'vitest'
import { recordingText } from '../../src/recordings/file-text.js'
import { fileOf, ignoreFrom, keysOf } from '../../src/recordings/index.js'
import type { Recording } from '../../src/recordings/recording.js'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'
import { answered, asking } from './scene.js'

const TEMPLATE = 'Summarize this order for the customer, in one friendly sentence, without prices. Order: '
const user = (content: unknown) => ({ role: 'user', content })

/** A folder with the answer "N" to the nth of these requests, and a platform that replays it. */
async function recordedAs(bodies: readonly object[], ignore: string[] = []) {
  const files = bodies.map((body, n) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: String(n) }, finish_reason: 'stop' }]
    const recording: Recording = answered(JSON.stringify({ object: 'chat.completion', choices }), asking(body))
    const { conversation } = keysOf(recording.request, ignoreFrom([]))
    return [fileOf(recording.request, conversation, ''), recordingText(recording)] as const
  })
  const numbers = new Map<string, number>()
  const named = files.map(([file, text]) => {
    const n = (numbers.get(file) ?? 0) + 1
    numbers.set(file, n)
    return [n === 1 ? file : file.replace('.yaml', `-${n}.yaml`), text] as const
  })
  const dir = folderWith(Object.fromEntries(named))
  const platform = await platformWith({ mode: 'replay', recordings: { dir, onMiss: 'nearest', ignore } })
  return {
    ...platform,
    /** The number of the recording that answers, or the file that a miss names. */
    async nearest(body: object): Promise<number | string | undefined> {
      const response = await platform.chat(body)
      const { error, choices } = (await response.json()) as {
        error?: string
        choices?: [{ message: { content: string } }]
      }
      return choices ? Number(choices[0].message.content) : /The nearest is (\S+?)[;.] /.exec(`${error} `)?.[1]
    },
    fileOf: (n: number) => named[n]?.[0],
  }
}

const chat = (messages: readonly object[], more: object = {}) => ({ model: 'gpt-4o', messages, ...more })

test('of 500 requests of one template, each is found when the prompt has changed, and the one with the same words when a word of the question has', async () => {
  const order = (n: number) =>
    `${TEMPLATE}${n * 7919}, ${['lamp', 'chair', 'desk', 'sofa'][n % 4]} for ${n % 50} people`
  const { nearest, fileOf } = await recordedAs(Array.from({ length: 500 }, (_, n) => chat([user(order(n))])))
  for (const n of [0, 1, 250, 499]) {
    expect(await nearest(chat([{ role: 'system', content: 'Be kind.' }, user(order(n))]))).toBe(n)
    expect(await nearest(chat([user(order(n).replace('customer', 'buyer'))]))).toBe(fileOf(n))
  }
})

test('of 8 questions about images of 2 MB, each is found', async () => {
  const image = (n: number) => ({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${String(n).repeat(2_000_000)}` },
  })
  const about = (n: number, more: object = {}) =>
    chat([user([{ type: 'text', text: 'What is this?' }, image(n)])], more)
  const { nearest } = await recordedAs(Array.from({ length: 8 }, (_, n) => about(n)))
  for (const n of [0, 7]) expect(await nearest(about(n, { temperature: 0.5 }))).toBe(n)
})

test('after an inserted message, the recording with the same question is the nearest', async () => {
  const other = chat([user('Hello'), { role: 'assistant', content: 'Hi!' }, user('Where is order 8?')])
  const { nearest, fileOf } = await recordedAs([other, chat([user('Where is order 7?')])])
  const inserted = [user('Hello'), { role: 'assistant', content: 'Hi!' }, user('Where is order 7?')]
  expect(await nearest(chat(inserted))).toBe(fileOf(1))
})

test('after a change of ignore, all recordings are found', async () => {
  const bodies = Array.from({ length: 20 }, (_, n) => chat([user(`Question ${n} on 2026-11-28`)]))
  const { nearest } = await recordedAs(bodies, ['dates'])
  const told = []
  for (let n = 0; n < 20; n++) told.push(await nearest(chat([user(`Question ${n} on 2026-11-29`)])))
  expect(told).toEqual(bodies.map((_, n) => n))
})
