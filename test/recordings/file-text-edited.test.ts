import { expect, test } from 'vitest'
import { ProblemsError } from '../../src/check/problem.js'
import { questionIn, recordingIn } from '../../src/recordings/file-text.js'
import { ignoreFrom } from '../../src/recordings/ignore.js'
import { requestKey } from '../../src/recordings/key.js'
import { recordedBody } from '../../src/recordings/recording.js'
import { AN_OBJECT, isMissing, isUnknown, mustBe, notValid, range } from '../sentences.js'
import { asking } from './scene.js'

const request = 'request: { method: GET, path: /v1/models }\n'
const response = 'response: { status: 200 }\n'

/** The problems of a file, as they would be printed. */
function problemsOf(text: string, read: (text: string, file: string) => unknown = recordingIn): readonly string[] {
  try {
    read(text, 'models/a.yaml')
  } catch (error) {
    if (error instanceof ProblemsError) return error.message.split('\n')
    throw error
  }
  return []
}

const bodyIn = (text: string) => recordedBody(recordingIn(text, 'a.yaml').response).toString()

test('a handwritten recording may leave out everything that has a default', () => {
  const beforeMs = Date.now()
  const { recordedAt, ...rest } = recordingIn(request + response, 'a.yaml')
  expect(Date.parse(recordedAt)).toBeGreaterThanOrEqual(beforeMs)
  expect(Date.parse(recordedAt)).toBeLessThanOrEqual(Date.now())
  expect(rest).toEqual({
    ...{ test: '', place: 1 },
    request: { method: 'GET', path: '/v1/models', query: '', body: { kind: 'none' } },
    response: { status: 200, headMs: 0, headers: [], chunks: [], endMs: 0, complete: true },
  })
})

test('edited JSON is answered as edited, in its original formatting', () => {
  const edited = (more: string) =>
    `${request}response:\n  status: 200\n  body:\n    json:\n      a: [1, yes, 12345678901234567890]\n      b: é\n${more}`
  expect(bodyIn(edited(''))).toBe('{"a":[1,"yes",12345678901234567890],"b":"é"}')
  expect(bodyIn(edited('    written: spaced, ascii, newline\n'))).toBe(
    '{"a": [1, "yes", 12345678901234567890], "b": "\\u00e9"}\n',
  )
})

test('a chunk without a time is sent together with the previous one', () => {
  const text = `${request}response:\n  status: 200\n  chunks:\n    - text: a\n    - { atMs: 5, text: b }\n    - text: c\n`
  expect(recordingIn(text, 'a.yaml').response).toMatchObject({
    chunks: [{ atMs: 0 }, { atMs: 5 }, { atMs: 5 }],
    endMs: 5,
  })
})

test('headers may be numbers, lists and in any case', () => {
  const text = `${request}response:\n  status: 200\n  headers:\n    Retry-After: 2\n    x-id: 12345678901234567890\n    link: [a, b]\n`
  expect(recordingIn(text, 'a.yaml').response.headers).toEqual([
    ['retry-after', '2'],
    ['x-id', '12345678901234567890'],
    ['link', 'a'],
    ['link', 'b'],
  ])
})

test('an edited request has the key of its new content', () => {
  const text = `request:\n  method: post\n  path: /v1/chat/completions\n  body:\n    json:\n      stream: false\n      model: m\n      messages:\n        - role: user\n          content: hi\n`
  const asked = asking({ model: 'm', messages: [{ content: 'hi', role: 'user' }] })
  const ignore = ignoreFrom([])
  expect(requestKey(questionIn(text, 'a.yaml').request, ignore)).toBe(requestKey(asked, ignore))
})

test('a request can be read when it follows the response or the response is broken', () => {
  expect(questionIn(response + request, 'a.yaml').request).toMatchObject({ method: 'GET' })
  expect(questionIn(`${request}response: { status: 200, [ }\n`, 'a.yaml').request).toMatchObject({ method: 'GET' })
})

test.each<[text: string, problems: readonly string[]]>([
  [
    `${request}response: { status: 2000 }`,
    [mustBe('models/a.yaml:2:13: response.status', range('a status', 100, 999), 2000)],
  ],
  [response, [isMissing('models/a.yaml:1:1: request', AN_OBJECT)]],
  ['', [isMissing('models/a.yaml:1:1: request', AN_OBJECT), isMissing('models/a.yaml:1:1: response', AN_OBJECT)]],
  ['no recording', [mustBe('models/a.yaml:1:1: the file', AN_OBJECT, 'no recording')]],
  [
    `recordedAt: yesterday\n${request}respnse: {}\n${response}`,
    [
      mustBe('models/a.yaml:1:1: recordedAt', 'a time such as 2030-01-31T12:00:00Z', 'yesterday'),
      `models/a.yaml:3:1: respnse ${isUnknown('response')}`,
    ],
  ],
  [
    `${request}response:\n  status: 200\n  body: { json: {}, text: a }\n`,
    ['models/a.yaml:4:3: response.body has none or several of json, text, base64. Use exactly one.'],
  ],
  [
    `${request}response:\n  status: 200\n  body: { text: a }\n  chunks: []\n`,
    ['models/a.yaml:2:1: response has both body and chunks. Use only one of them.'],
  ],
  [
    `${request}response:\n  status: 200\n  chunks:\n    - { atMs: soon, text: a }\n    - { atMs: 1 }\n    - { base64: "%" }\n`,
    [
      mustBe('models/a.yaml:5:9: response.chunks[0].atMs', range('milliseconds', 0, 9007199254740991), 'soon'),
      'models/a.yaml:6:7: response.chunks[1] has none or several of text, base64. Use exactly one.',
      mustBe('models/a.yaml:7:9: response.chunks[2].base64', 'bytes in Base64', '%'),
    ],
  ],
  [
    `${request}response:\n  status: 200\n  body: { written: nicely, json: {} }\n`,
    [mustBe('models/a.yaml:4:11: response.body.written', 'a style such as compact or indented', 'nicely')],
  ],
  [
    `${request}${request}${response}`,
    [`models/a.yaml:2:1: ${notValid('YAML')}: The key "request" appears twice, first on line 1. Remove one of them.`],
  ],
])('the problems of %j are reported', (text, problems) => {
  expect(problemsOf(text)).toEqual(problems)
})

test('a body that nests too deep is refused, also through aliases', () => {
  const nested = (inside: string) => `${'['.repeat(400)}${inside}${']'.repeat(400)}`
  const json = `[&a ${nested('')}, &b ${nested('*a ')}, ${nested('*b ')}]`
  const text = `request: { method: POST, path: /v1/files, body: { json: ${json} } }\n${response}`
  for (const read of [recordingIn, questionIn])
    expect(problemsOf(text, read)).toEqual(['models/a.yaml: This is nested more than 1100 levels deep.'])
})

test('a problem in the request is reported with its position', () => {
  const text = `# comment\nrequest:\n  method: GET\n  path: models\n${response}`
  expect(problemsOf(text, questionIn)).toEqual([
    mustBe('models/a.yaml:4:3: request.path', 'a path that begins with /', 'models'),
  ])
})
