import { expect, test } from 'vitest'
import { startPlatform } from '../../src/index.js'
import { platformWith } from '../scene.js'
import { mustBe, range, wholeNumber } from '../sentences.js'

test("the models are listed in OpenAI's format", async () => {
  const { ask } = await platformWith({
    models: [
      { id: 'one', owned_by: 'acme' },
      { id: 'two', created: 1_800_000_000 },
    ],
  })
  const response = await ask('/v1/models')
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual({
    object: 'list',
    data: [
      { id: 'one', object: 'model', created: 1_735_689_600, owned_by: 'acme' },
      { id: 'two', object: 'model', created: 1_800_000_000, owned_by: 'standin' },
    ],
  })
})

test('there are five models by default', async () => {
  const { ask } = await platformWith()
  const { data } = (await (await ask('/v1/models')).json()) as { data: { id: string }[] }
  expect(data.map(({ id }) => id)).toEqual([
    'gpt-4o-mini',
    'gpt-4o',
    'llama-3.3-70b-instruct',
    'mistral-small-latest',
    'qwen2.5-72b-instruct',
  ])
})

test('additional fields of a model are listed unchanged', async () => {
  const further = { context_window: 8192, pricing: { input: 0.5, currencies: ['EUR'] }, deprecated: false }
  const { ask } = await platformWith({ models: [{ id: 'one', ...further }] })
  expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'one', ...further }] })
})

test('the pace and the prompt limit of a model are not listed', async () => {
  const { ask } = await platformWith({
    models: [
      {
        id: 'one',
        pace: { firstTokenMs: 300, jitter: 0.5 },
        maxPromptTokens: 4096,
        context_window: 8192,
      },
      { id: 'two', pace: {} },
    ],
  })
  const listed = { object: 'model', created: 1_735_689_600, owned_by: 'standin' }
  expect(await (await ask('/v1/models')).json()).toEqual({
    object: 'list',
    data: [
      { id: 'one', ...listed, context_window: 8192 },
      { id: 'two', ...listed },
    ],
  })
})

test.each([
  [{ pace: { jitter: 2 } }, mustBe('models[0].pace.jitter', range('a number', 0, 1), 2)],
  [{ maxPromptTokens: 0 }, mustBe('models[0].maxPromptTokens', wholeNumber(1, 2147483647), 0)],
])('an invalid model is refused with the reason: %o', async (more, sentence) => {
  // The compiler would refuse this; a configuration file can contain it.
  const model = { id: 'one', ...more } as { id: string }
  await expect(startPlatform({ models: [model] })).rejects.toThrow(sentence)
})

test('every listed model answers chat requests', async () => {
  const { ask, chat } = await platformWith()
  const { data } = (await (await ask('/v1/models')).json()) as { data: { id: string }[] }
  for (const { id } of data) {
    const response = await chat({ model: id, messages: [{ role: 'user', content: 'hello' }] })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ model: id })
  }
})

test('with models: any, an unknown model answers, and is listed once it has been used', async () => {
  const { ask, chat } = await platformWith({ models: 'any' })
  const listed = async () => {
    const { data } = (await (await ask('/v1/models')).json()) as { data: { id: string }[] }
    return data.map(({ id }) => id)
  }
  const before = await listed()
  expect(before).toHaveLength(5)
  for (const model of ['claude-sonnet-5', 'gpt-4o', 'claude-sonnet-5']) {
    const response = await chat({ model, messages: [{ role: 'user', content: 'hello' }] })
    expect([response.status, await response.json()]).toMatchObject([200, { model }])
  }
  expect(await listed()).toEqual([...before, 'claude-sonnet-5'])
})

test('an entry with the id "*" says what the models without an entry have in common', async () => {
  const { ask, chat } = await platformWith({
    models: [{ id: 'one' }, { id: '*', owned_by: 'acme', maxPromptTokens: 5 }],
  })
  const short = await chat({ model: 'two', messages: [{ role: 'user', content: 'hi' }] })
  expect(short.status).toBe(400)
  expect(await short.json()).toMatchObject({ error: expect.stringContaining('5 tokens') })
  const own = await chat({ model: 'one', messages: [{ role: 'user', content: 'hello to all of you out there' }] })
  expect(own.status).toBe(200)
  const { data } = (await (await ask('/v1/models')).json()) as { data: { id: string; owned_by: string }[] }
  expect(data.map(({ id, owned_by }) => `${id} of ${owned_by}`)).toEqual(['one of standin'])
})
