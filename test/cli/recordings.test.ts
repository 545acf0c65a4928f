import { expect, test } from 'vitest'
import { summaryIn } from '../../src/recordings/overview.js'
import { run } from '../command.js'
import { didYouMean, notACommand, takesNoMore } from '../sentences.js'
import { DIR, filesOf, keyOfRecording, nameOf, recorded, streamed } from './recorded.js'

test('recordings list groups recordings by endpoint and ends with totals', async () => {
  const models = recorded()
  const index = {
    ...models,
    request: { method: 'GET', path: '/v1/models', query: '', body: { kind: 'none' } },
  } as const
  const files = {
    'platform.config.yaml': 'recordings: { maxAge: 30d }\n',
    ...filesOf(recorded(), streamed({ ageDays: 40, complete: false }), index),
  }
  const { code, stdout, stderr } = await run(['recordings', 'list'], { files })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.split('\n')
  expect(lines[0]).toBe('chat-completions (2)')
  const row = (name: string) => lines.find(line => line.includes(name))
  expect(row(nameOf(recorded()).split('/')[1] ?? '')).toMatch(
    /POST \/v1\/chat\/completions {2}gpt-4o {2}200 {2}whole +\d+ B +1s$/,
  )
  expect(row(nameOf(streamed()).split('/')[1] ?? '')).toMatch(/stream +\d+ B +40d {2}incomplete, stale$/)
  expect(lines).toContain('models (1)')
  expect(lines.at(-2)).toMatch(/^3 recordings, 1\.\d kB, 1 incomplete, 1 stale\.$/)
})

test('recordings that git has checked out with CRLF are listed as before', async () => {
  const asCrlf = ([file, text]: readonly [string, unknown]) => [file, String(text).replaceAll('\n', '\r\n')]
  const files = Object.fromEntries(Object.entries(filesOf(streamed())).map(asCrlf))
  const { stdout } = await run(['recordings', 'list', '--json'], { files })
  expect(JSON.parse(stdout)).toMatchObject({ recordings: [{ model: 'gpt-4o', form: 'stream' }] })
  const [text] = Object.values(files)
  expect(summaryIn(String(text), 'hello.yaml')).toMatchObject({ model: 'gpt-4o', said: 'hello' })
})

test('recordings list --json prints one document', async () => {
  const { stdout } = await run(['recordings', 'list', '--json'], { files: filesOf(streamed()) })
  expect(JSON.parse(stdout)).toMatchObject({
    recordings: [{ file: nameOf(streamed()), nth: 1, model: 'gpt-4o', form: 'stream', complete: true, stale: false }],
    broken: [],
  })
})

test('a file that is not a recording is reported with its place, and the others are still listed', async () => {
  const broken = nameOf(recorded({ prompt: 'broken' }))
  const files = { ...filesOf(recorded()), [`${DIR}/${broken}`]: 'recordedAt: soon\nrequest: {}\n' }
  const { code, stdout, stderr } = await run(['recordings', 'list'], { files })
  expect(code).toBe(1)
  expect(stdout).toContain(nameOf(recorded()).split('/')[1])
  expect(stdout).toMatch(/2 recordings, \d+ B, 1 broken\.\n$/)
  expect(stderr).toMatch(new RegExp(`^${DIR}/${broken}:1:1: recordedAt must be a time`))
})

test('without any recordings, recordings list says where it looked', async () => {
  const { code, stdout } = await run(['recordings', 'list'])
  expect(code).toBe(0)
  expect(stdout).toBe('There are no recordings in fixtures/recordings.\n')
})

test.each([
  ['its key', () => keyOfRecording(streamed())],
  ['its file', () => `${DIR}/${nameOf(streamed())}`],
  ['a part of its name', () => keyOfRecording(streamed()).slice(2, 9)],
])('recordings show finds a recording by %s', async (_how, word) => {
  const { code, stdout } = await run(['recordings', 'show', word()], { files: filesOf(recorded(), streamed()) })
  expect(code).toBe(0)
  expect(stdout).toContain(nameOf(streamed()))
  expect(stdout).toContain('"content": "hello"')
  expect(stdout).toContain('200, a stream')
  expect(stdout).toContain('headers after 320ms, first byte after 420ms, 2 chunks, end after 1.8s')
  expect(stdout).toMatch(/Text\n {2}Good day\n$/)
})

test('recordings show --json prints the recording with the text of its chunks', async () => {
  const { stdout } = await run(['recordings', 'show', keyOfRecording(streamed()), '--json'], {
    files: filesOf(streamed()),
  })
  expect(JSON.parse(stdout)).toMatchObject({
    file: nameOf(streamed()),
    request: { path: '/v1/chat/completions', body: { kind: 'json', value: { model: 'gpt-4o', stream: true } } },
    response: { status: 200, headMs: 320, chunks: [{ atMs: 100 }, { atMs: 200, text: 'data: [DONE]\n\n' }] },
  })
})

test.each([
  ['recordings show', ['recordings', 'show', 'hello']],
  ['recordings show --json', ['recordings', 'show', 'hello', '--json']],
  ['export', ['export', '-']],
])('%s keeps all digits of a long number', async (_, args) => {
  const { request, ...recording } = recorded()
  const value = { messages: [{ content: 'hello', role: 'user' }], seed: 12345678901234567890n }
  const long = { ...recording, request: { ...request, body: { kind: 'json', value } } } as const
  const { code, stdout } = await run(args, { files: filesOf(long) })
  expect(code).toBe(0)
  expect(stdout).toMatch(/seed\\?": ?12345678901234567890\b/)
})

test('control characters in an answer are escaped, so they cannot steer the terminal', async () => {
  const evil = recorded({ answer: 'a\u001b[2Jb' })
  const { stdout } = await run(['recordings', 'show', 'hello'], { files: filesOf(evil) })
  expect(stdout).toContain('a\\x1b[2Jb')
})

test('recordings show lists the recordings that an ambiguous name fits', async () => {
  const files = filesOf(recorded(), recorded(), recorded({ prompt: 'hello world' }))
  const { code, stdout, stderr } = await run(['recordings', 'show', 'hello'], { files })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('"hello" matches 3 recordings:')
  for (const name of [nameOf(recorded()), nameOf(recorded(), 2), nameOf(recorded({ prompt: 'hello world' }))])
    expect(stderr).toContain(`\n  ${name}\n`)
})

test.each([
  [['recordings'], 'standin recordings needs one of: list, show, prune, rename, scan.'],
  [['recordings', 'lst'], didYouMean('list')],
  [['recordings', 'toString'], notACommand('standin recordings toString')],
  [['recordings', 'show'], 'Usage: standin recordings show NAME.'],
  [['recordings', 'show', 'nowhere'], 'has "nowhere" in its name.'],
  [['recordings', 'list', 'more'], takesNoMore('recordings list', 'more')],
  [['recordings', 'rename', 'only-one'], 'Usage: standin recordings rename [OLD NEW].'],
  [['recordings', 'rename', 'hello', 'No/Slug'], 'A name must consist of lower-case letters'],
  [['recordings', 'prune', '--older-than', 'soon'], '--older-than must be a number followed by m, h or d, not "soon".'],
  [['recordings', 'list', '--broken'], 'The flag --broken belongs to standin recordings prune.'],
  [['import'], 'Usage: standin import FILE.har.'],
  [['import', 'a.har', 'b.har'], 'Usage: standin import FILE.har.'],
  [['import', 'a.har', '--base', 'example.com'], '--base must be an http or https address'],
  [['export'], 'Usage: standin export FILE.har.'],
])('%j is refused with an explanation', async (args, sentence) => {
  const { code, stdout, stderr } = await run(args, { files: filesOf(recorded()) })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(sentence)
})
