import { rmSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type RunningPlatform, startReady, writeInto } from '../command.js'
import { cannotBeRead } from '../sentences.js'

const name = 'fixtures/replies/a.yaml'
const story = 'fixtures/replies/texts/story.md'

const says = async ({ chat }: RunningPlatform, content: string) => {
  const response = await chat({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })
  const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] }
  return choices[0].message.content
}

const ruleFrom = (file: string) => `- when: { user: tell }\n  reply: { file: ${file} }\n`

test('rules and the text file of one can be edited, broken or deleted, and restored at run time', async () => {
  const platform = await startReady({ files: { [name]: ruleFrom('texts/story.md'), [story]: 'one' } })
  expect(await says(platform, 'tell')).toBe('one')
  writeInto(platform.dir, { [story]: 'two' })
  await platform.event('reloaded')
  expect(await says(platform, 'tell')).toBe('two')
  rmSync(path.join(platform.dir, story))
  expect(await platform.event('reload-failed')).toMatchObject({
    problems: [{ origin: name, line: 2, sentence: `[0].reply.file: texts/story.md ${cannotBeRead()}` }],
  })
  expect(await says(platform, 'tell')).toBe('two')
  writeInto(platform.dir, { [story]: 'three' })
  await platform.event('reloaded')
  expect(await says(platform, 'tell')).toBe('three')
  writeInto(platform.dir, { [name]: '- reply: { txt: four }\n' })
  expect(await platform.event('reload-failed')).toMatchObject({ problems: [{ origin: name, line: 1 }] })
  expect(await says(platform, 'tell')).toBe('three')
  writeInto(platform.dir, { [name]: '- reply: { text: five }\n' })
  await platform.event('reloaded')
  expect(await says(platform, 'tell')).toBe('five')
})

test('the missing text file of a new rule is picked up once it exists, in any folder', async () => {
  const platform = await startReady({ files: { [name]: ruleFrom('texts/story.md'), [story]: 'one' } })
  writeInto(platform.dir, { [name]: ruleFrom('../elsewhere/new.md') })
  await platform.event('reload-failed')
  expect(await says(platform, 'tell')).toBe('one')
  writeInto(platform.dir, { 'fixtures/elsewhere/new.md': 'from elsewhere' })
  await platform.event('reloaded')
  expect(await says(platform, 'tell')).toBe('from elsewhere')
})

test('broken rules that an edited configuration names are picked up once they are fixed', async () => {
  const files = { 'platform.config.yaml': 'replies: one.yaml\n', 'one.yaml': '- reply: { text: one }\n' }
  const platform = await startReady({ files: { ...files, 'more/two.yaml': '- reply: { txt: two }\n' } })
  writeInto(platform.dir, { 'platform.config.yaml': 'replies: more/two.yaml\n' })
  await platform.event('reload-failed')
  expect(await says(platform, 'hello')).toBe('one')
  writeInto(platform.dir, { 'more/two.yaml': '- reply: { text: two }\n' })
  await platform.event('reloaded')
  expect(await says(platform, 'hello')).toBe('two')
})
