/** `standin verify --openapi`, against platforms that match their document, and others. */
import { expect, test } from 'vitest'
import { run } from '../command.js'
import { builderWith } from '../openapi/builder.js'
import { liveWith } from '../recordings/live.js'
import { cannotBeRead, mustBe, oneOf } from '../sentences.js'

const project = { id: '0b5f8d0e-3c6f-4d53-9c4a-6c4c2d9b3f11', name: 'Blog', status: 'live' }

/** A live builder that answers these paths. */
const builderThat = (answers: Readonly<Record<string, unknown>>) =>
  liveWith(({ url = '' }, response) => {
    const answer = answers[url]
    const type = typeof answer === 'string' ? 'text/plain' : 'application/json'
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': type })
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? { error: 'Not found.' }))
  })

const right = { '/builder/projects': [project], '/builder/projects/mine': 'mine', '/builder/status': 'up' }

const verifiedWith = (paths: Readonly<Record<string, object>>, url: string, ...flags: readonly string[]) =>
  run(['verify', '--openapi', 'builder.yaml', '--target', url, '--api-key', 'sk-live-1', ...flags], {
    files: { 'builder.yaml': builderWith({ paths }) },
  })

const verified = (url: string, ...flags: readonly string[]) => verifiedWith({}, url, ...flags)

test('a platform that matches its document passes, and operations that could change something are skipped', async () => {
  const live = await builderThat(right)
  const { code, stdout } = await verified(live.url)
  expect(stdout).toContain('✓ GET /builder/projects')
  expect(stdout).toContain('- POST /builder/projects  skipped: POST may change something')
  expect(stdout).toContain('skipped: the path parameter id has no example and no default')
  expect(stdout).toMatch(/\n7 operations: 3 hold, 4 skipped \(3 calls, [\d.]+ s\)\n$/)
  expect(code).toBe(0)
  expect(live.seen.every(({ request }) => request.method === 'GET')).toBe(true)
  expect(live.seen[0]?.request.headers.authorization).toBe('Bearer sk-live-1')
})

test('answers that deviate are findings in every report format, without the values of the answer', async () => {
  const live = await builderThat({
    '/builder/projects': [{ ...project, status: 'Ada, secret-value' }, { id: 'x' }],
    '/builder/status': { up: true },
  })
  const { code, stdout } = await verified(live.url)
  expect(code).toBe(1)
  expect(stdout).toContain(mustBe('critical  [0].status', oneOf('"draft"', '"live"')))
  expect(stdout).toContain('critical  [1].name is missing.')
  expect(stdout).toContain('critical  status: The document does not describe the status 404.')
  expect(stdout).toContain('critical  content-type: It is application/json. The document describes text/plain.')
  expect(stdout).not.toContain('secret-value')
  const junit = await verified(live.url, '--reporter', 'junit')
  expect(junit.stdout).toMatch(/<testsuite[^>]* tests="7" failures="3"/)
  const json = JSON.parse((await verified(live.url, '--json')).stdout)
  expect(json).toMatchObject({ document: 'builder.yaml', count: { held: 0, broken: 3, skipped: 4 } })
})

test('a JSON answer is checked if the document allows any content type', async () => {
  const live = await builderThat({ '/builder/any': {} })
  const content = { '*/*': { schema: { type: 'object', required: ['version'] } } }
  const { stdout } = await verifiedWith(
    { '/any': { get: { responses: { 200: { description: 'OK', content } } } } },
    live.url,
  )
  expect(stdout).toContain('critical  version is missing.')
})

test('without a target a fresh stand-in answers, and an example that does not fit its schema is found', async () => {
  const { code, stdout } = await run(['verify', '--openapi', 'builder.yaml'], {
    files: { 'builder.yaml': builderWith() },
  })
  expect(stdout).toMatch(/^builder\.yaml, checked at a fresh stand-in\n/)
  expect(stdout).toMatch(/7 operations: 2 hold, 1 deviates, 4 skipped/)
  expect(code).toBe(1)
})

test('flags of the contract and a missing document are refused', async () => {
  expect((await verified('http://127.0.0.1:9', '--only', 'AUTH-*')).stderr).toContain(
    "--only applies to the platform's document: leave it out with --openapi.",
  )
  const { code, stderr } = await run(['verify', '--openapi', 'no.yaml'])
  expect([code, stderr]).toEqual([2, expect.stringContaining(`no.yaml: ${cannotBeRead()}`)])
})
