import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { connect } from '../../src/index.js'
import { platformWith } from '../scene.js'
import { said } from './asking.js'

const circle: { me?: unknown } = {}
circle.me = circle

const notJson: readonly [name: string, value: unknown, sentence: string][] = [
  ['a function', { rate: () => 1 }, 'json.rate is a function, which JSON cannot represent.'],
  ['NaN', { rates: [1, Number.NaN] }, 'json.rates[1] is NaN, which JSON cannot represent.'],
  ['an unawaited promise', { user: Promise.resolve({}) }, 'json.user is a Promise, which JSON cannot represent.'],
  ['a circular reference', { a: circle }, 'json.a.me contains itself, which JSON does not allow.'],
]

test.each(notJson)(
  '%s in a reply is refused with its field, in this process and over HTTP',
  async (_, json, sentence) => {
    const platform = await platformWith()
    for (const either of [platform, await connect(platform.url)]) {
      await expect(either.reply({ json })).rejects.toThrow(`the rule: reply.${sentence}`)
      await expect(either.reply([{ json }])).rejects.toThrow(`the rule: replies[0].${sentence}`)
    }
    await expect(platformWith({ rules: [{ reply: { json } }] })).rejects.toThrow(`rules: [0].reply.${sentence}`)
  },
)

test('values that JSON can represent are written as JSON, in this process and over HTTP', async () => {
  const platform = await platformWith()
  const json = { at: new Date(0), long: 12345678901234567890n, none: undefined, null: null, items: [/x/] }
  for (const either of [platform, await connect(platform.url)]) {
    await either.reply({ json })
    expect(await said(platform, 'a')).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","long":12345678901234567890,"null":null,"items":["/x/"]}',
    )
    await expect(either.reply({ json: undefined })).rejects.toThrow('reply is empty')
  }
})

test('rows, tools and options must be JSON as well', async () => {
  const platform = await platformWith({ resources: { '/projects': {} } })
  for (const either of [platform, await connect(platform.url)]) {
    const projects = either.resource('/projects')
    await expect(projects.insert({ stars: 1n } as never)).rejects.toThrow('insert: stars is a BigInt')
    await expect(projects.update('1', { stars: Number.NaN })).rejects.toThrow('update: stars is NaN')
  }
  await expect(platformWith({ mcp: { tools: [circle] } } as never)).rejects.toThrow(
    'startPlatform: mcp.tools[0].me contains itself',
  )
})

test('objects of another realm are accepted, such as those from structuredClone in jest', async () => {
  const platform = await platformWith()
  await platform.reply(runInNewContext('({ when: { user: /^hel/ }, reply: { text: "Hi!" } })'))
  expect(await said(platform, 'hello')).toBe('Hi!')
})
