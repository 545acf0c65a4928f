import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endpointFolder, hashesIn, slugOf } from '../../src/recordings/names.js'
import { oddJson, oddText } from './odd.js'
import { asking, question } from './scene.js'

const saying = (content: unknown, model = 'gpt-4o-mini') =>
  slugOf(asking({ model, messages: [{ role: 'user', content }] }))

test('a slug is the beginning of the message', () => {
  expect(slugOf(asking(question))).toBe('what-is-the-capital-of-france')
  expect(saying('How much is the fish, and does it come with chips and peas?')).toBe(
    'how-much-is-the-fish-and-does-it-come-with-chips',
  )
  expect(saying('Où est l’Élysée?', 'anthropic/claude-3.5')).toBe('ou-est-l-elysee')
})

test('a slug uses the last message of the user, and of many parts the first text', () => {
  const messages = [
    ...question.messages,
    { role: 'user', content: 'And of Spain?' },
    { role: 'assistant', content: 'Well' },
  ]
  expect(slugOf(asking({ model: 'm', messages }))).toBe('and-of-spain')
  const parts = [
    { type: 'image_url', image_url: { url: 'data:' } },
    { type: 'text', text: 'What is this?' },
  ]
  expect(saying(parts, 'm')).toBe('what-is-this')
})

test('without a message a slug uses the query, the model or the method', () => {
  expect(saying('猫はどこ', 'm')).toBe('m')
  expect(saying('猫はどこ', '')).toBe('post')
  expect(slugOf(asking('', { method: 'GET', query: 'limit=10&after=a%20b' }))).toBe('after-a-b-limit-10')
  expect(slugOf(asking('', { method: 'GET' }))).toBe('get')
  expect(slugOf(asking({ model: 'embed', input: 'x' }))).toBe('embed')
})

test('a slug is valid in a file name, and cannot be mistaken for a hash', () => {
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
          const by = { conversation: '01234567', test: slug.length % 2 ? '' : '012345' }
          const name = [slug, by.conversation, ...(by.test ? [by.test] : []), 9999].join('-')
          expect(hashesIn(`chat-completions/${name}.yaml`)).toEqual(by)
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
