import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'

test('the models are listed in the form that clients of OpenAI read', async () => {
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

test('without configuration there is a handful of models', async () => {
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

test('further fields of a model are listed as they are', async () => {
  const further = { context_window: 8192, pricing: { input: 0.5, currencies: ['EUR'] }, deprecated: false }
  const { ask } = await platformWith({ models: [{ id: 'one', ...further }] })
  expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'one', ...further }] })
})

test('every listed model can be asked', async () => {
  const { ask, chat } = await platformWith()
  const { data } = (await (await ask('/v1/models')).json()) as { data: { id: string }[] }
  for (const { id } of data) {
    const response = await chat({ model: id, messages: [{ role: 'user', content: 'hello' }] })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ model: id })
  }
})
