import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringifyExact } from '../../src/core/json.js'
import { questionIn, recordingIn, recordingText } from '../../src/recordings/file-text.js'
import { ignoreFrom } from '../../src/recordings/ignore.js'
import { requestKey } from '../../src/recordings/key.js'
import { type Recording, recordedBody } from '../../src/recordings/recording.js'
import { runs } from '../runs.js'
import { knownFormats, oddBytes, oddJson, oddText, otherFormats } from './odd.js'
import { answered, asking, question, recorded, streamed } from './scene.js'

const written = (recording: Recording) => recordingText(recording)
const again = (recording: Recording) => recordingIn(written(recording), 'a.yaml')
const bodyAgain = (recording: Recording) => recordedBody(again(recording).response).toString()

const contentEvent = (content: string) =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
const done = Buffer.from('data: [DONE]\n\n')

test('a recording of a whole answer is readable in a review', () => {
  const tools = [
    { type: 'function', function: { name: 'find', parameters: { required: ['a', 'yes'], enum: [1, '1', null] } } },
  ]
  const messages = [{ role: 'system', content: 'Be brief.\nBe kind.\n' }, ...question.messages]
  const request = asking({ model: 'gpt-4o-mini', temperature: 0.2, messages, tools }, { query: 'b=2&a=1' })
  const answer = { id: 'c-1', choices: [{ message: { content: 'Paris.', refusal: null } }], usage: {} }
  const recording = { ...answered(JSON.stringify(answer), request), test: 'test/a.test.ts > answers', place: 2 }
  expect(written(recording)).toBe(`\
# POST /v1/chat/completions: "What is the capital of France?"
recordedAt: "2026-01-31T12:00:00.000Z"
test: test/a.test.ts > answers
place: 2
request:
  method: POST
  path: /v1/chat/completions
  query: a=1&b=2
  body:
    json:
      model: gpt-4o-mini

      temperature: 0.2

      messages:
        - role: system
          content: |
            Be brief.
            Be kind.
        - role: user
          content: What is the capital of France?

      tools:
        - function:
            name: find
            parameters:
              enum:
                - 1
                - "1"
                - null
              required:
                - a
                - "yes"
          type: function
response:
  status: 200
  headMs: 12.3
  headers:
    content-type: application/json
  body:
    json:
      id: c-1
      choices:
        - message:
            content: Paris.
            refusal: null
      usage: {}
  endMs: 45.6
`)
})

test('a recording of a stream has the assembled text on top and the chunks as they arrived', () => {
  const chunks = [
    { atMs: 417.26, bytes: contentEvent('Paris is the capital.\n') },
    { atMs: 430, bytes: contentEvent('It lies on the Seine.').subarray(0, 20) },
    { atMs: 431, bytes: contentEvent('It lies on the Seine.').subarray(20) },
    { atMs: 431, bytes: Buffer.from(': ping\r\n\r\n') },
    { atMs: 440.04, bytes: done },
  ]
  const text = written(streamed(chunks, asking({ ...question, stream: true })))
  expect(text).toContain(`\
# POST /v1/chat/completions: "What is the capital of France?"
#
# Paris is the capital.
# It lies on the Seine.
recordedAt:`)
  expect(text.slice(text.indexOf('  chunks:'))).toBe(`\
  chunks:
    - atMs: 417.3
      text: |+
        data: {"choices":[{"delta":{"content":"Paris is the capital.\\n"}}]}

    - atMs: 430
      text: "data: {\\"choices\\":[{\\""
    - atMs: 431
      text: |+
        delta":{"content":"It lies on the Seine."}}]}

    - atMs: 431
      text: ": ping\\r\\n\\
        \\r\\n"
    - atMs: 440
      text: |+
        data: [DONE]

  endMs: 45.6
`)
})

test('a recording is read back in full', () => {
  const chunks = [contentEvent('a'), done].map((bytes, i) => ({ atMs: i * 10.5, bytes }))
  const headers = [
    ['content-type', 'text/event-stream'],
    ['x-request-id', '12'],
    ['link', '<a>; rel="next"'],
    ['link', '<b>; rel="last"'],
  ] as const
  const whole = recorded({ status: 429, headers, chunks, headMs: 0.1, endMs: 0, complete: false })
  expect(again(whole)).toEqual(whole)
  const empty = recorded({ status: 204, headers: [] }, asking('', { method: 'DELETE', path: '/v1/files/a' }))
  expect(again(empty)).toEqual(empty)
})

test('only incomplete recordings are marked', () => {
  expect(written(streamed([], asking(question)))).not.toContain('complete')
  expect(written(recorded({ complete: false }))).toContain('complete: false\n')
})

test('any text is read back byte for byte', () => {
  fc.assert(
    fc.property(oddText, text => {
      const original = Buffer.from(text)
      expect(bodyAgain(answered(original))).toBe(original.toString())
    }),
    { numRuns: runs(1000) },
  )
})

test('any bytes are read back unchanged', () => {
  fc.assert(
    fc.property(oddBytes, bytes => {
      expect(recordedBody(again(answered(bytes)).response).equals(bytes)).toBe(true)
    }),
    { numRuns: runs(1000) },
  )
  const every = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256))
  expect(recordedBody(again(answered(every)).response).equals(every)).toBe(true)
})

test('any JSON is read back byte for byte, however it was formatted', () => {
  fc.assert(
    fc.property(
      oddJson,
      fc.constantFrom(...knownFormats, ...otherFormats),
      fc.constantFrom('', '\n'),
      (value, format, end) => {
        const body = `${format({ value })}${end}`
        expect(bodyAgain(answered(body))).toBe(Buffer.from(body).toString())
      },
    ),
    { numRuns: runs(2000) },
  )
})

test('JSON in a known format is stored as YAML', () => {
  const value = { a: [1, { b: 'é' }], c: {}, d: [] }
  const bodies = knownFormats.flatMap(format => [format(value), `${format(value).trimEnd()}\n`])
  const styles = bodies.map(body => /^ {4}written: .*/m.exec(written(answered(body)))?.[0].trim() ?? 'left out')
  expect(new Set(styles).size).toBe(11)
  expect(styles[0]).toBe('left out')
  for (const body of bodies) expect(written(answered(body))).toContain('    json:\n      a:\n')
})

test("the format of Python's json.dumps is known", () => {
  // json.dumps({"content": "Où 🦊 \x7f", "list": [1.5, {}], "none": None})
  const body = String.raw`{"content": "O\u00f9 \ud83e\udd8a \u007f", "list": [1.5, {}], "none": null}`
  expect(written(answered(body))).toContain('written: spaced, ascii\n')
  expect(bodyAgain(answered(body))).toBe(body)
})

test('deep, wide and long JSON is read back, and quickly', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])))
  const long = JSON.stringify({
    data: Array.from({ length: 20_000 }, (_, i) => ({ id: `model-${i}`, object: 'model' })),
  })
  for (const body of [deep, wide, long]) expect(bodyAgain(answered(body)) === body).toBe(true)
})

test('chunks are read back unchanged, wherever the network cut them', () => {
  fc.assert(
    fc.property(oddBytes, fc.array(fc.nat()), (whole, places) => {
      const ends = [...places.map(place => place % (whole.length + 1)).toSorted((a, b) => a - b), whole.length]
      const chunks = ends.map((end, i) => ({ atMs: i / 10, bytes: whole.subarray(ends[i - 1] ?? 0, end) }))
      const found = again(streamed(chunks)).response.chunks
      expect(found.map(({ atMs, bytes }) => [atMs, bytes.toString('hex')])).toEqual(
        chunks.map(({ atMs, bytes }) => [atMs, bytes.toString('hex')]),
      )
    }),
    { numRuns: runs(1000) },
  )
})

test('any request is read back with its key, on its own or with the whole file', () => {
  const ignore = ignoreFrom([])
  const chatBody = oddText.map(content =>
    Buffer.from(JSON.stringify({ model: content, messages: [{ role: 'user', content }] })),
  )
  const body = fc.oneof(
    oddJson.map(value => Buffer.from(JSON.stringify(value))),
    oddBytes,
    chatBody,
  )
  fc.assert(
    fc.property(body, fc.webQueryParameters(), (body, query) => {
      const request = asking(body, { query })
      const text = written(recorded({}, request))
      const [whole, head] = [recordingIn(text, 'a.yaml').request, questionIn(text, 'a.yaml').request]
      expect(stringifyExact(whole)).toBe(stringifyExact(request))
      expect(stringifyExact(head)).toBe(stringifyExact(request))
      expect(requestKey(whole, ignore)).toBe(requestKey(request, ignore))
    }),
    { numRuns: runs(1000) },
  )
})

test('a number that overflows in JSON is still a number', () => {
  const request = asking('{"seed":1e400,"top":-1e400}')
  expect(questionIn(written(recorded({}, request)), 'a.yaml').request).toEqual(request)
})

test('git and editors may convert the line breaks of the file', () => {
  fc.assert(
    fc.property(oddText, oddJson, (text, value) => {
      const recording = streamed([{ atMs: 1, bytes: Buffer.from(text) }], asking({ value }))
      const converted = recordingIn(written(recording).replaceAll('\n', '\r\n'), 'a.yaml')
      expect(recordedBody(converted.response).equals(Buffer.from(text))).toBe(true)
      expect(stringifyExact(converted.request)).toBe(stringifyExact(recording.request))
    }),
    { numRuns: runs(1000) },
  )
})

test('editors may strip trailing whitespace and blank lines at the end', () => {
  fc.assert(
    fc.property(oddText, text => {
      const recording = streamed([{ atMs: 1, bytes: Buffer.from(text) }])
      const trimmed = `${written(recording)
        .replace(/[ \t]+$/gm, '')
        .trimEnd()}\n`
      expect(recordedBody(recordingIn(trimmed, 'a.yaml').response).equals(Buffer.from(text))).toBe(true)
    }),
    { numRuns: runs(1000) },
  )
})

test('the comment on top stays a comment of limited size, whatever the content', () => {
  fc.assert(
    fc.property(oddText, oddText, (asked, said) => {
      const request = asking({ model: asked, messages: [{ role: 'user', content: asked }] })
      const text = written(streamed([{ atMs: 0, bytes: contentEvent(said.repeat(300)) }], request))
      const comment = text.slice(0, text.indexOf('recordedAt:')).split('\n').slice(0, -1)
      expect(comment.every(line => /^#( |$)/.test(line) && !/[\p{C}\u2028\u2029]/u.test(line))).toBe(true)
      expect(comment.slice(1).every(line => line.length <= 120)).toBe(true)
      expect(comment.length).toBeLessThanOrEqual(43)
    }),
  )
})

test('no line is folded, and YAML aliases are not used', () => {
  const same = { role: 'user', content: 'word '.repeat(500).trim() }
  const text = written(recorded({}, asking({ model: 'm', messages: [same, same] })))
  expect(text.split(same.content)).toHaveLength(3)
  expect(text).not.toMatch(/[&*]\w/)
})

test('a message that ends with blank lines is restored, although a blank line separates it from the tools', () => {
  const messages = [{ role: 'user', content: 'Where is it?\n\n' }]
  const request = asking({
    ...question,
    messages,
    tools: [{ type: 'function', function: { name: 'find' } }],
    stop: 'x\n\n',
  })
  const recording = answered('{}', request)
  expect(recordingIn(recordingText(recording), 'file.yaml').request).toEqual(request)
})
