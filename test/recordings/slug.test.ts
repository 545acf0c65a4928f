import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endpointFolder, slugOf } from '../../src/recordings/names.js'
import { oddJson, oddText } from './odd.js'
import { asking, question } from './scene.js'

const saying = (content: unknown, model = 'gpt-4o-mini') =>
  slugOf(asking({ model, messages: [{ role: 'user', content }] }))

test('a slug is the model and the beginning of the message', () => {
  expect(slugOf(asking(question))).toBe('gpt-4o-mini-what-is-the-capital-of-france')
  expect(saying('How much is the fish, and does it come with chips and peas?')).toBe(
    'gpt-4o-mini-how-much-is-the-fish-and-does-it-come',
  )
  expect(saying('Où est l’Élysée?', 'anthropic/claude-3.5')).toBe('anthropic-claude-3-5-ou-est-l-elysee')
})

test('a slug uses the last message of the user, and of many parts the first text', () => {
  const messages = [
    ...question.messages,
    { role: 'user', content: 'And of Spain?' },
    { role: 'assistant', content: 'Well' },
  ]
  expect(slugOf(asking({ model: 'm', messages }))).toBe('m-and-of-spain')
  const parts = [
    { type: 'image_url', image_url: { url: 'data:' } },
    { type: 'text', text: 'What is this?' },
  ]
  expect(saying(parts, 'm')).toBe('m-what-is-this')
})

test('without a message a slug uses the model, the query or the method', () => {
  expect(saying('猫はどこ', 'm')).toBe('m')
  expect(saying('猫はどこ', '')).toBe('post')
  expect(slugOf(asking('', { method: 'GET', query: 'limit=10&after=a%20b' }))).toBe('after-a-b-limit-10')
  expect(slugOf(asking('', { method: 'GET' }))).toBe('get')
  expect(slugOf(asking({ model: 'embed', input: 'x' }))).toBe('embed')
  expect(saying('word '.repeat(20).trim(), 'a-model-with-a-name-that-is-longer-than-any-other')).toBe(
    'a-model-with-a-name-that-is-word-word-word-word',
  )
})

test('a slug is valid in a file name and cannot be mistaken for a key', () => {
  const hex = fc.stringMatching(/^[0-9a-f]{8,60}$/)
  fc.assert(
    fc.property(
      fc.oneof(oddText, hex),
      fc.oneof(oddJson, oddText, hex),
      fc.webQueryParameters(),
      (model, content, query) => {
        const body = { model, messages: [{ role: 'user', content }] }
        for (const slug of [slugOf(asking(body, { query })), slugOf(asking('', { query })), slugOf(asking(body))]) {
          expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
          expect(slug.length).toBeLessThanOrEqual(50)
          expect(slug).not.toMatch(/[0-9a-f]{12}$/)
        }
      },
    ),
  )
})

test.each([
  ['/v1/chat/completions', 'chat-completions'],
  ['/v1/models', 'models'],
  ['/api/v1', 'api-v1'],
  ['/v1/Files/ABC/', 'files-abc'],
  ['/v1/', 'v1'],
  ['/', 'root'],
  ['/..%2f..%2Fetc/passwd', 'etc-passwd'],
  ['/v1/con', 'path-con'],
  ['/C:\\aux', 'c-aux'],
])('recordings of %s are in the folder %s', (path, folder) => {
  expect(endpointFolder(path)).toBe(folder)
})

test('a folder name is valid on any file system', () => {
  fc.assert(
    fc.property(fc.oneof(oddText, fc.webPath()), path => {
      const folder = endpointFolder(`/${path}`)
      expect(folder).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      expect(folder.length).toBeLessThanOrEqual(60)
    }),
  )
})
