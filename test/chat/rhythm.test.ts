import { expect, test } from 'vitest'
import { estimated } from '../../src/chat/tokens/index.js'
import type { Exchange } from '../../src/core/exchange.js'
import { isPaced, type Pace, type PaceInput, unpaced } from '../../src/core/pace.js'
import type { Reply } from '../../src/core/reply.js'
import { chatCompletions } from '../../src/endpoints/chat-completions.js'
import { hello, platformWith } from '../scene.js'
import { isUnknown } from '../sentences.js'

interface Paces {
  readonly all?: PaceInput
  readonly model?: PaceInput
  readonly rule?: PaceInput
  readonly header?: string
}

/** The pace of a stream with these settings; `undefined` if it is sent at once. */
function rhythmOf({ all = {}, model, rule, header }: Paces): Pace | undefined {
  const said = {
    choices: [{ text: 'Hi there!' }],
    answeredBy: { kind: 'canned', form: 'reply' } as const,
    ...(rule && { pace: rule }),
  }
  const reply = chatCompletions.replyWith({
    models: [{ id: hello.model, ...(model && { pace: model }) }],
    usedModels: new Set(),
    replies: { answer: () => said },
    pace: { ...unpaced, ...all } as Pace,
    tokenizer: estimated,
    requests: 'warn',
  })
  const headers = header === undefined ? {} : { 'x-standin-pace': header }
  const body = Buffer.from(JSON.stringify({ ...hello, stream: true }))
  const { body: stream } = reply({ body, headers } as unknown as Exchange) as Reply
  return typeof stream === 'object' && 'pace' in stream && isPaced(stream.pace) ? stream.pace : undefined
}

test.each<[Paces, PaceInput | undefined]>([
  [{}, undefined],
  [{ all: { firstTokenMs: 1 } }, { firstTokenMs: 1 }],
  [{ model: { firstTokenMs: 2 } }, { firstTokenMs: 2 }],
  [{ rule: { tokensPerSecond: 3 } }, { tokensPerSecond: 3 }],
  [{ header: 'tokensPerSecond=4' }, { tokensPerSecond: 4 }],
  [
    {
      all: { firstTokenMs: 1, tokensPerSecond: 1, jitter: 0.1 },
      model: { firstTokenMs: 2, jitter: 0.2 },
      rule: { jitter: 0.3 },
    },
    { tokensPerSecond: 1, firstTokenMs: 2, jitter: 0.3 },
  ],
  [
    { rule: { firstTokenMs: 3, tokensPerSecond: 9 }, header: 'firstTokenMs=0; jitter=0.5' },
    { firstTokenMs: 0, tokensPerSecond: 9, jitter: 0.5 },
  ],
  [{ rule: { tokensPerSecond: 5 }, header: 'tokensPerSecond=0' }, undefined],
])('the request overrides the rule, the rule the model, the model the configuration: %j', (paces, pace) => {
  expect(rhythmOf(paces)).toEqual(pace && { ...unpaced, ...pace })
})

test.each([['speed=3', `Header x-standin-pace: speed ${isUnknown()}`]])(
  'an invalid header is refused before a rule answers: %s',
  async (header, sentence) => {
    const { chat } = await platformWith({ rules: [{ replies: [{ text: 'one' }, { text: 'two' }] }] })
    const refused = await chat(hello, { headers: { 'x-standin-pace': header } })
    expect(refused.status).toBe(400)
    expect(((await refused.json()) as { error: string }).error).toContain(sentence)
    expect(await (await chat(hello)).text()).toContain('"content":"one"')
  },
)
