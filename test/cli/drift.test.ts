import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { selfSigned } from '../certificate.js'
import { run, runIn, start } from '../command.js'
import { forwardProxy } from '../forward-proxy.js'
import { flagWhole, KEY_UNKNOWN, notReached, takesNoMore } from '../sentences.js'
import {
  chatRequest,
  completion,
  getRequest,
  type LiveReply,
  type LiveRequest,
  liveThat,
  project,
  promptIn,
  recorded,
  streamOf,
} from './drifting.js'

const models = { object: 'list', data: [{ id: 'gpt-4o-mini', object: 'model' }] }
const withStream = (prompt: string) =>
  chatRequest(prompt, {
    body: { kind: 'json', value: { messages: [{ content: prompt, role: 'user' }], stream: true } },
  })

/** Answers by prompt, or by path if there is none. */
const answering =
  (answers: Readonly<Record<string, LiveReply>>) =>
  (asked: LiveRequest): LiveReply =>
    answers[promptIn(asked)] ?? answers[asked.url ?? ''] ?? { status: 404, body: { error: 'Not found.' } }

test('other text in the same structure is not drift', async () => {
  const live = await liveThat(
    answering({
      whole: { body: completion('Something else, and longer.') },
      stream: streamOf(['Other', ' words']),
      '/v1/models?limit=2': { body: { ...models, data: [...models.data, ...models.data] } },
      '/api/v1': { body: { name: 'Live', version: '2.0.0' } },
    }),
  )
  const files = project(live, [
    recorded(chatRequest('whole'), { body: completion('Hello!') }),
    recorded(withStream('stream'), streamOf(['Hel', 'lo', '!'])),
    recorded(getRequest('/v1/models', 'limit=2'), { body: models }),
    recorded(getRequest('/api/v1'), { body: { name: 'Recorded', version: '1.0.0' } }),
    recorded(getRequest('/v1/nowhere'), { status: 404, body: { error: 'There is nothing here.' } }),
  ])
  expect(await run(['drift'], { files })).toEqual({
    ...{ code: 0, signal: null, stderr: '' },
    stdout: '5 recordings: 5 unchanged\n',
  })
  const credentials = Object.fromEntries(live.asked.map(({ url, headers }) => [url, headers.authorization]))
  expect(credentials).toEqual({
    '/api/v1': 'Bearer live-anon-key-for-drift',
    '/v1/chat/completions': 'Bearer sk-live-for-drift-0123456789abcdef',
    '/v1/models?limit=2': 'Bearer sk-live-for-drift-0123456789abcdef',
    '/v1/nowhere': 'Bearer sk-live-for-drift-0123456789abcdef',
  })
  const chat = live.asked.find(asked => asked.method === 'POST' && promptIn(asked) === 'stream')
  expect(chat?.headers['content-type']).toBe('application/json')
  expect(JSON.parse(chat?.body ?? '')).toEqual({ messages: [{ role: 'user', content: 'stream' }], stream: true })
})

test('custom paths are requested with the API key if they accept one, and paths that only the live platform knows', async () => {
  const live = await liveThat(() => ({ body: { fine: true } }))
  const rules = `- on: GET /builder/projects
  reply: { json: [] }
- on: GET /about
  access: anyone
  reply: { json: {} }
`
  const paths = ['/builder/projects', '/builder/tasks', '/about', '/not/configured']
  const recordings = paths.map(path => recorded(getRequest(path), { body: { fine: true } }))
  const files = {
    ...project(live, recordings, 'resources: { /builder/tasks: {} }\n'),
    'fixtures/replies/own.yaml': rules,
  }
  expect(await run(['drift'], { files })).toMatchObject({ code: 0, stderr: '', stdout: '4 recordings: 4 unchanged\n' })
  expect(Object.fromEntries(live.asked.map(({ url, headers }) => [url, headers.authorization]))).toEqual({
    '/builder/projects': 'Bearer sk-live-for-drift-0123456789abcdef',
    '/builder/tasks': 'Bearer sk-live-for-drift-0123456789abcdef',
    '/about': undefined,
    '/not/configured': 'Bearer sk-live-for-drift-0123456789abcdef',
  })
})

test('drift is reported by finding, the worst first, with the recordings that have it', async () => {
  const { refusal: _gone, ...message } = completion('x').choices[0]?.message ?? {}
  const live = await liveThat(
    answering({
      refusal: { body: completion('Hi.', { message, logprobs: null }) },
      type: { body: { ...completion('Hi.'), id: 17, object: 'completion' } },
      stream: streamOf(['Hel', 'lo'], ''),
      whole: { body: completion('Hello') },
      error: { status: 500, body: { error: 'Out of order.' } },
    }),
  )
  const recordings = {
    error: recorded(chatRequest('error'), { body: completion('Fine.') }),
    refusal: recorded(chatRequest('refusal'), { body: completion('Hi!') }),
    same: recorded(getRequest('/v1/nowhere'), { status: 404, body: { error: 'No.' } }),
    stream: recorded(withStream('stream'), streamOf(['Hello'])),
    type: recorded(chatRequest('type'), { body: completion('Hi!') }),
    whole: recorded(withStream('whole'), streamOf(['Hello'])),
  }
  const { code, stdout, stderr } = await run(['drift'], { files: project(live, Object.values(recordings)) })
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toBe(`critical  status: recorded 200, live 500: 1 recording
  ${recordings.error.name}
critical  [DONE]: recorded at the end of the stream, live missing: 1 recording
  ${recordings.stream.name}
critical  id: recorded string, live number: 1 recording
  ${recordings.type.name}
critical  object: recorded chat.completion, live completion: 1 recording
  ${recordings.type.name}
critical  content-type: recorded text/event-stream, live application/json: 1 recording
  ${recordings.whole.name}
critical  body: recorded a stream, live JSON as a whole: 1 recording
  ${recordings.whole.name}
warning   choices[].logprobs is new (null): 1 recording
  ${recordings.refusal.name}
warning   choices[].message.refusal is gone (it was null): 1 recording
  ${recordings.refusal.name}
→ Take the live answers into the recordings: standin drift --update
6 recordings: 1 unchanged, 5 drifted (6 critical, 2 warnings)
`)
})

test('what is gone from many answers is one finding, with the first few names', async () => {
  const live = await liveThat(() => ({ body: completion('Hi.') }))
  const recordings = ['a', 'b', 'c', 'd', 'e'].map(prompt =>
    recorded(chatRequest(prompt), { body: { ...completion('Hi!'), usage: { total_tokens: 3 } } }),
  )
  const [first, second, third] = recordings.map(({ name }) => name)
  expect(
    (await run(['drift'], { files: project(live, recordings) })).stdout,
  ).toBe(`critical  usage is gone: 5 recordings
  ${first}
  ${second}
  ${third}
  … and 2 more
→ Take the live answers into the recordings: standin drift --update
5 recordings: 0 unchanged, 5 drifted (1 critical)
`)
})

test('the recordings of one request share one live answer', async () => {
  const live = await liveThat(() => ({ body: completion('Hi.') }))
  const first = recorded(chatRequest('hello'), { status: 429, body: { error: 'Slow.' } })
  const second = { ...recorded(chatRequest('hello'), { body: completion('Hi!') }), path: again(first.path, 2) }
  const third = { ...recorded(chatRequest('hello'), { body: { ...completion('Hi!'), usage: {} } }) }
  const files = project(live, [first, second, { ...third, path: again(first.path, 3) }])
  expect(await run(['drift'], { files })).toMatchObject({
    code: 1,
    stdout: `critical  usage is gone: 1 recording
  ${again(first.name, 3)}
warning   status: recorded 429, live 200: 1 recording
  ${first.name}
→ Take the live answers into the recordings: standin drift --update
3 recordings: 1 unchanged, 2 drifted (1 critical, 1 warning)
`,
  })
  expect(live.asked).toHaveLength(1)
})

/** The name of a further recording of the same request. */
const again = (name: string, nth: number) => name.replace('.yaml', `-${nth}.yaml`)

test('--max-calls limits the requests that are sent', async () => {
  const live = await liveThat(() => ({ body: {} }))
  const recordings = ['a', 'b', 'c', 'd'].map(prompt => recorded(chatRequest(prompt), { body: {} }))
  const twice = { ...recordings[0], path: again(recordings[0]?.path ?? '', 2) } as ReturnType<typeof recorded>
  const end = await run(['drift', '--max-calls', '2', '--concurrency', '1'], {
    files: project(live, [...recordings, twice]),
  })
  expect(end).toMatchObject({ code: 0, stdout: '5 recordings: 3 unchanged, 2 not reached\n' })
  expect(live.asked).toHaveLength(2)
})

test('--update writes only answers that mean something else, into the same files', async () => {
  const live = await liveThat(
    answering({
      same: { body: { ...completion('Hi.'), id: 'chatcmpl-other' } },
      other: { body: completion('Hello, world.') },
    }),
  )
  const [same, other] = ['same', 'other'].map(prompt => recorded(chatRequest(prompt), { body: completion('Hi.') }))
  if (!same || !other) throw new Error('There are two.')
  const command = runIn(['drift', '--update'], { files: project(live, [same, other]) })
  expect(await command.ended).toMatchObject({
    code: 0,
    stdout: `new content: 1 recording
  ${other.name} (updated)
2 recordings: 2 unchanged, 1 updated
`,
  })
  expect(readFileSync(path.join(command.dir, same.path), 'utf8')).toBe(same.text)
  expect(readFileSync(path.join(command.dir, other.path), 'utf8')).toContain('Hello, world.')
})

const warned = async () => {
  const live = await liveThat(() => ({ body: completion('Hi.', { logprobs: null }) }))
  return project(live, [recorded(chatRequest('hello'), { body: completion('Hi!') })])
}

test('--json prints one document and nothing else', async () => {
  const { code, stdout, stderr } = await run(['drift', '--json'], { files: await warned() })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({
    ...{ recordings: 1, same: 0, drifted: 1, critical: 0, warning: 1, info: 0 },
    ...{ updated: 0, skipped: 0, notAsked: 0, refused: 0, unreadable: 0, notReached: 0 },
    groups: [
      {
        ...{ severity: 'warning', path: 'choices[].logprobs', sentence: 'is new (null)' },
        files: [expect.stringMatching(/hello-/)],
      },
    ],
    findings: [
      {
        kind: 'compared',
        file: expect.stringMatching(/^chat-completions\/hello-[0-9a-f]{8}\.yaml$/),
        drifts: [{ severity: 'warning', path: 'choices[].logprobs', sentence: 'is new (null)' }],
        updated: false,
      },
    ],
  })
})

test('a request that might change something, or whose secret was redacted, is not sent again', async () => {
  const live = await liveThat(() => ({ body: {} }))
  const skipped: readonly (readonly [ReturnType<typeof recorded>, string])[] = [
    [
      recorded(chatRequest('Delete', { method: 'DELETE', path: '/v1/files/1' }), { body: {} }),
      'DELETE /v1/files/1 may change something on the live platform.',
    ],
    [
      recorded(chatRequest('Tune', { path: '/v1/fine_tuning/jobs' }), { body: {} }),
      'POST /v1/fine_tuning/jobs may change something on the live platform.',
    ],
    [recorded(chatRequest('I am [jwt-1]'), { body: {} }), '[jwt-1] stands for a secret, which was not recorded.'],
    [
      recorded(chatRequest('I pay [upstream-api-key]'), { body: {} }),
      '[upstream-api-key] stands for a secret, which was not recorded.',
    ],
    [
      recorded(getRequest('/v1/models', 'token=[token]'), { body: {} }),
      '[token] stands for a secret, which was not recorded.',
    ],
    [recorded(chatRequest('half'), { body: '{"id"', cut: true }), 'The recorded answer broke off.'],
    [
      recorded(chatRequest('bytes', { body: { kind: 'bytes', bytes: Buffer.from([255, 0]) } }), { body: {} }),
      'Its body is not text, and its content type was not recorded.',
    ],
  ]
  const files = project(live, [...skipped.map(([file]) => file), recorded(chatRequest('[see-1]'), { body: {} })])
  const { code, stdout } = await run(['drift'], { files })
  expect(code).toBe(0)
  for (const [{ name }, reason] of skipped) expect(stdout).toContain(`${name} skipped: ${reason}\n`)
  expect(stdout).toMatch(/^8 recordings: 1 unchanged, 7 skipped$/m)
  expect(live.asked.map(promptIn)).toEqual(['[see-1]'])
})

test('recorded calls of MCP servers are skipped, and one line says so', async () => {
  const live = await liveThat(() => ({ body: completion('Hello.') }))
  const call = (id: number, method: string) =>
    recorded(chatRequest('', { path: '/mcp', body: { kind: 'json', value: { jsonrpc: '2.0', id, method } } }), {
      body: { jsonrpc: '2.0', id, result: {} },
    })
  const recordings = [
    call(1, 'initialize'),
    call(2, 'tools/list'),
    recorded(chatRequest('hi'), { body: completion('Hi.') }),
  ]
  const end = await run(['drift'], { files: project(live, recordings, 'mcp: { /mcp: {} }\n') })
  expect(end).toMatchObject({
    code: 0,
    stdout: `2 recordings skipped: Calls of MCP servers are not compared.
3 recordings: 1 unchanged, 2 skipped
`,
  })
  expect(live.asked).toHaveLength(1)
})

test('after a 429 all requests wait for as long as Retry-After says', async () => {
  let first: number | undefined
  const live = await liveThat(({ atMs }) => {
    first ??= atMs
    return atMs - first < 900
      ? { status: 429, headers: { 'retry-after': '1' }, body: { error: 'Slow.' } }
      : { body: {} }
  })
  const recordings = ['one', 'two', 'three'].map(prompt => recorded(chatRequest(prompt), { body: {} }))
  const end = await run(['drift', '--concurrency', '1'], { files: project(live, recordings) })
  expect(end).toMatchObject({ code: 0, stdout: '3 recordings: 3 unchanged\n' })
  expect(live.asked).toHaveLength(4)
})

test.each([
  [429, 'rate limiting'],
  [503, 'overloaded'],
])('a recording counts as not compared if a %d demands too long a wait', async (status, what) => {
  const live = await liveThat(asked =>
    promptIn(asked) === 'hello' ? { status, headers: { 'retry-after': '3600' }, body: {} } : { body: {} },
  )
  const limited = recorded(chatRequest('hello'), { body: {} })
  const recordings = [limited, recorded(chatRequest('other'), { body: {} })]
  const end = await run(['drift'], { files: project(live, recordings) })
  expect(end).toMatchObject({
    code: 0,
    stdout: `${limited.name} not compared: The live platform is ${what} (${status}).
2 recordings: 1 unchanged, 1 not compared
`,
  })
})

test('a recorded 429 is compared with a 429', async () => {
  const limited = { status: 429, headers: { 'retry-after': '3600' }, body: { error: 'Slow.' } }
  const live = await liveThat(() => limited)
  const files = project(live, [recorded(chatRequest('hello'), limited)])
  expect(await run(['drift'], { files })).toMatchObject({ code: 0, stdout: '1 recording: 1 unchanged\n' })
})

test('the command gives up on a live platform that never answers', async () => {
  const live = await liveThat(() => ({ body: '', cut: 'at once' }))
  const prompts = Array.from({ length: 30 }, (_, i) => `hello ${i}`)
  const recordings = prompts.map(prompt => recorded(chatRequest(prompt), { body: {} }))
  const { code, stdout, stderr } = await run(['drift'], { files: project(live, recordings) })
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Nothing could be compared. ${notReached('ECONNRESET')}\n`,
  })
  expect(stdout).toMatch(/^30 recordings: 0 unchanged, 30 not compared$/m)
  expect(live.asked.length).toBeLessThan(10)
})

test('a live key that is refused is reported once, and soon no longer sent', async () => {
  const live = await liveThat(({ url }) =>
    url?.startsWith('/v1/') ? { status: 401, body: { error: KEY_UNKNOWN } } : { body: { status: 'ok' } },
  )
  const prompts = Array.from({ length: 30 }, (_, i) => `hello ${i}`)
  const files = project(live, [
    ...prompts.map(prompt => recorded(chatRequest(prompt), { body: {} })),
    recorded(getRequest('/api/v1'), { body: { status: 'ok' } }),
  ])
  const command = runIn(['drift', '--concurrency', '1'], { files })
  expect(await command.ended).toEqual({
    ...{ code: 1, signal: null, stderr: '' },
    stdout: `The live platform refuses upstream.apiKey (401): 30 recordings were not compared. Check it.
31 recordings: 1 unchanged, 30 refused
`,
  })
  expect(live.asked.length).toBeLessThan(10)
})

test('--update keeps a recorded error if the live key is refused', async () => {
  const live = await liveThat(() => ({ status: 401, body: { error: KEY_UNKNOWN } }))
  const missing = recorded(chatRequest('gone'), { status: 404, body: { error: 'Not found.', path: '/v1/models/gone' } })
  const command = runIn(['drift', '--update'], { files: project(live, [missing]) })
  expect(await command.ended).toMatchObject({ stdout: expect.stringContaining('refuses upstream.apiKey (401)') })
  expect(readFileSync(path.join(command.dir, missing.path), 'utf8')).toBe(missing.text)
})

test('a 403 for a key that works for other requests is drift', async () => {
  const live = await liveThat(asked =>
    promptIn(asked) === 'closed' ? { status: 403, body: { error: 'No.' } } : { body: {} },
  )
  const closed = recorded(chatRequest('closed'), { body: {} })
  const files = project(live, [closed, recorded(chatRequest('open'), { body: {} })])
  expect(await run(['drift'], { files })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`critical  status: recorded 200, live 403: 1 recording\n  ${closed.name}\n`),
  })
})

test.each<[string, LiveReply | 'never', string]>([
  ['breaks off', { body: '{"id":', cut: true }, 'The live answer broke off.'],
  ['is too long', { body: `"${'x'.repeat(16_777_216)}"` }, 'The live answer is larger than 16777216 bytes.'],
  [
    'has an invalid status',
    { status: 999 },
    'The live platform answered with something that is not valid HTTP (status 999).',
  ],
  ['never comes', 'never', 'The live platform did not answer within 300 ms.'],
  [
    'has an unknown encoding',
    { headers: { 'content-encoding': 'zebra' }, body: '{}' },
    'The live answer cannot be read: its Content-Encoding "zebra" cannot be read here.',
  ],
])('an answer that %s is not compared', async (_what, answer, reason) => {
  const live = await liveThat(asked =>
    promptIn(asked) !== 'odd' ? { body: {} } : answer === 'never' ? new Promise(() => {}) : answer,
  )
  const timeoutMs = answer === 'never' ? 300 : 60_000
  const more = `  timeoutMs: ${timeoutMs}\n`
  const odd = recorded(chatRequest('odd'), { body: {} })
  const files = project(live, [odd, recorded(chatRequest('plain'), { body: {} })], more)
  expect(await run(['drift'], { files })).toMatchObject({
    code: 0,
    stdout: `${odd.name} not compared: ${reason}\n2 recordings: 1 unchanged, 1 not compared\n`,
  })
})

test('a redirect is compared and not followed, so live credentials go nowhere else', async () => {
  const elsewhere = await liveThat(() => ({ body: {} }))
  const live = await liveThat(() => ({ status: 307, headers: { location: elsewhere.url } }))
  const files = project(live, [recorded(chatRequest('hello'), { body: {} })])
  expect(await run(['drift'], { files })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('critical  status: recorded 200, live 307'),
  })
  expect(elsewhere.asked).toEqual([])
})

test('requests go below the path of upstream.baseUrl', async () => {
  const live = await liveThat(() => ({ body: {} }))
  const files = project({ url: `${live.url}/ai/` }, [recorded(chatRequest('hello'), { body: {} })])
  expect((await run(['drift'], { files })).code).toBe(0)
  expect(live.asked.map(({ url }) => url)).toEqual(['/ai/v1/chat/completions'])
})

test('an untrusted certificate is accepted only with NODE_EXTRA_CA_CERTS', async () => {
  const certificate = selfSigned()
  const live = await liveThat(() => ({ body: {} }), certificate)
  const recordings = [recorded(chatRequest('hello'), { body: {} })]
  expect(await run(['drift', '--quiet'], { files: project(live, recordings) })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('(DEPTH_ZERO_SELF_SIGNED_CERT)'),
  })
  expect(live.asked).toEqual([])
  const files = project({ url: live.url.replace('127.0.0.1', 'localhost') }, recordings)
  const trusting = { files: { ...files, 'ca.pem': certificate.cert }, env: { NODE_EXTRA_CA_CERTS: 'ca.pem' } }
  expect(await start(['drift'], trusting).ended).toMatchObject({ code: 0, stdout: '1 recording: 1 unchanged\n' })
})

test('with HTTP_PROXY, requests go through the proxy over a kept connection', async () => {
  const live = await liveThat(() => ({ body: {} }))
  const proxy = await forwardProxy()
  const files = project(live, [
    recorded(chatRequest('hello'), { body: {} }),
    recorded(getRequest('/v1/models'), { body: {} }),
  ])
  const env = { HTTP_PROXY: proxy.url }
  expect(await run(['drift', '--concurrency', '1'], { files, env })).toMatchObject({ code: 0, stderr: '' })
  expect(proxy.asked).toEqual([new URL(live.url).host])
  expect(live.asked).toHaveLength(2)
})

test('--concurrency limits the requests in flight', async () => {
  const live = await liveThat(() => new Promise(resolve => setTimeout(resolve, 50, { body: {} })))
  const recordings = [1, 2, 3, 4, 5].map(i => recorded(chatRequest(`hello ${i}`), { body: {} }))
  await run(['drift', '--concurrency', '3'], { files: project(live, recordings) })
  expect(live.mostAtOnce).toBe(3)
})

const secrets = [
  'sk-live-for-drift-0123456789abcdef',
  'sk-proj-Zx81Kq0Lm2Np4Rs6Tu8Vw0Yb1Cd3Ef5',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJlLW9mLXRoaXMtdG9rZW4',
]

test('secrets in live answers never reach reports or updated recordings', async () => {
  const [key, other, jwt] = secrets
  const live = await liveThat(() => ({
    headers: { 'set-cookie': `session=${other}` },
    body: { id: key, type: other, [String(other)]: { [String(jwt)]: jwt }, object: key },
  }))
  const file = recorded(chatRequest('hello'), { body: { id: 'a', type: 'b', object: 'c', gone: 1 } })
  const files = project(live, [file])
  const asJson = await run(['drift', '--json'], { files })
  expect(asJson.stdout).toContain('is gone')
  for (const secret of secrets) expect(asJson.stdout + asJson.stderr).not.toContain(secret)
  const command = runIn(['drift', '--update'], { files })
  const { stdout, stderr } = await command.ended
  expect(stdout).toContain('(updated)')
  const written = readFileSync(path.join(command.dir, file.path), 'utf8')
  for (const text of [stdout, stderr, written]) for (const secret of secrets) expect(text).not.toContain(secret)
})

test('--update stores the new answers, and the next run finds no drift', async () => {
  const live = await liveThat(
    answering({
      new: { body: completion('Hello, again.', { logprobs: null }) },
      stream: streamOf(
        ['Hello, ', 'again.'],
        'data: {"object":"chat.completion.chunk","choices":[],"usage":{}}\n\ndata: [DONE]\n\n',
      ),
      class: { status: 500, body: { error: 'Out of order.' } },
      cut: { body: '{', cut: true },
    }),
  )
  const recordings = {
    new: recorded(chatRequest('new'), { body: { ...completion('Hi.'), gone: true } }),
    stream: recorded(withStream('stream'), streamOf(['Hi', '.'])),
    class: recorded(chatRequest('class'), { body: completion('Fine.') }),
    cut: recorded(chatRequest('cut'), { body: completion('Fine.') }),
  }
  const files = project(live, Object.values(recordings))
  const command = runIn(['drift', '--update'], { files })
  expect(await command.ended).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^4 recordings: 0 unchanged, 3 drifted \(2 critical, 2 warnings\), 2 updated, 1 not compared$/m,
    ),
  })
  const now = ({ path: file }: { readonly path: string }) => readFileSync(path.join(command.dir, file), 'utf8')
  expect(now(recordings.new)).toContain('Hello, again.')
  expect(now(recordings.stream)).toContain('usage')
  expect(now(recordings.class)).toBe(recordings.class.text)
  expect(now(recordings.cut)).toBe(recordings.cut.text)
  const again = {
    ...files,
    [recordings.new.path]: now(recordings.new),
    [recordings.stream.path]: now(recordings.stream),
  }
  expect(await run(['drift', '--only', 'chat-completions/new-*'], { files: again })).toMatchObject({
    code: 0,
    stdout: '1 recording: 1 unchanged\n',
  })
  expect(await run(['drift', '--only', '*stream*'], { files: again })).toMatchObject({ code: 0 })
})

test('an updated stream keeps its chunks even if they arrived together', async () => {
  const { headers = {}, body } = streamOf(['Hello, ', 'again.'], 'data: {"gone":1}\n\ndata: [DONE]\n\n')
  const chunks = String(body).split(/(?<=\n\n)/)
  const live = await liveThat(() => ({ headers, chunks }))
  const file = recorded(withStream('stream'), streamOf(['Hi', '.']))
  const command = runIn(['drift', '--update'], { files: project(live, [file]) })
  expect((await command.ended).stdout).toContain('1 updated')
  const written = readFileSync(path.join(command.dir, file.path), 'utf8')
  expect(written.match(/atMs: /g)).toHaveLength(chunks.length)
})

test('drift that --update has stored does not fail the command', async () => {
  const live = await liveThat(() => ({ body: { id: 1 } }))
  const files = project(live, [recorded(chatRequest('hello'), { body: { id: 'one' } })])
  expect(await run(['drift', '--update'], { files })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 drifted (1 critical), 1 updated'),
  })
})

test('Ctrl-C ends the command with a report of what is known', async () => {
  let arrived = () => {}
  const second = new Promise<void>(resolve => {
    arrived = resolve
  })
  const live = await liveThat(() => {
    if (live.asked.length === 1) return { body: {} }
    arrived()
    return new Promise(() => {})
  })
  const recordings = ['a', 'b', 'c'].map(prompt => recorded(chatRequest(prompt), { body: {} }))
  const command = start(['drift', '--concurrency', '1'], { files: project(live, recordings) })
  await second
  command.send('SIGINT')
  expect(await command.ended).toEqual({
    ...{ code: 130, signal: null, stderr: '' },
    stdout: '3 recordings: 1 unchanged, 2 not reached\n',
  })
})

test('an unreadable recording is reported, and the others are compared', async () => {
  const live = await liveThat(() => ({ body: {} }))
  const broken = recorded(chatRequest('broken'), { body: {} })
  const files = { ...project(live, [recorded(chatRequest('good'), { body: {} })]), [broken.path]: 'response: [\n' }
  const { code, stdout } = await run(['drift'], { files })
  expect(code).toBe(2)
  expect(stdout).toMatch(/^\S+\/broken-[0-9a-f]{8}\.yaml:\d+:\d+: .+$/m)
  expect(stdout).toMatch(/^2 recordings: 1 unchanged, 1 unreadable$/m)
})

test('a run without recordings compares nothing and fails', async () => {
  const files = project({ url: 'http://127.0.0.1:1' }, [])
  const stderr = 'There are no recordings in fixtures/recordings, so nothing could be compared.\n'
  expect(await run(['drift'], { files })).toMatchObject({ code: 1, stdout: '', stderr })
})

test.each([
  [['drift', 'now'], `${takesNoMore('drift', 'now')} See standin drift --help.\n`],
  [['drift', '--concurrency', '0'], `${flagWhole('--concurrency', 1, 99, '0')} See standin drift --help.\n`],
  [['drift', '--only', 'x*'], 'No recording matches x*. See standin drift --help.\n'],
  [
    ['drift', '--upstream', ''],
    'standin drift needs upstream.baseUrl, the address of the live platform. See standin drift --help.\n',
  ],
  [['dev', '--update'], 'The flag --update belongs to standin drift. See standin dev --help.\n'],
])('%j is refused in a sentence', async (args, stderr) => {
  const files = project({ url: 'http://127.0.0.1:1' }, [recorded(chatRequest('hello'), { body: {} })])
  expect(await run(args, { files })).toEqual({ code: 2, signal: null, stdout: '', stderr })
})
