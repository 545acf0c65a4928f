import { expect, test } from 'vitest'
import { type Files, run, runIn } from '../command.js'
import { fromChrome, harWith, LIVE } from '../recordings/hars.js'
import { AN_OBJECT, cannotBeRead, mustBe, notValid } from '../sentences.js'
import { filesOf, folderIn, nameOf, namesIn, recorded } from './recorded.js'

const prompt = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] })
const chat = (text: string) => fromChrome({ body: prompt, text })
const har = (...entries: readonly object[]) => ({ 'app.har': JSON.stringify(harWith(...entries)) })

async function command(args: readonly string[], files: Files) {
  const started = runIn(args, { files })
  const end = await started.ended
  return { ...end, dir: started.dir, names: await namesIn(started.dir) }
}

test('import writes recordings where record mode would have put them, and says what it skipped', async () => {
  const elsewhere = fromChrome({ method: 'OPTIONS' })
  const { code, stdout, names, dir } = await command(
    ['import', 'app.har', '--base', LIVE],
    har(chat('{"n":1}'), elsewhere),
  )
  expect({ code, names }).toEqual({ code: 0, names: [nameOf(recorded())] })
  expect(stdout).toBe(`${nameOf(recorded())}\n1 exchange imported.\nSkipped:\n  1 preflight\n`)
  const text = await folderIn(dir).text(nameOf(recorded()))
  expect(text).toContain('content: hello')
  expect(text).not.toContain('sk-live')
})

test('import takes exchanges with the configured live platform, and without one says that it takes all', async () => {
  const files = har(chat('{"n":1}'))
  const config = (baseUrl: string) => ({ 'platform.config.yaml': `upstream: { baseUrl: '${baseUrl}' }\n` })
  const elsewhere = await command(['import', 'app.har'], { ...files, ...config('https://other.example.com') })
  expect(elsewhere.stdout).toBe('0 exchanges imported.\nSkipped:\n  1 request to other servers\n')
  expect((await command(['import', 'app.har'], { ...files, ...config(LIVE) })).names).toHaveLength(1)
  expect((await command(['import', 'app.har'], files)).stdout).toContain('Requests to any server count')
})

test('import keeps existing recordings unless --overwrite is given', async () => {
  const files = { ...filesOf(recorded(), recorded()), ...har(chat('{"new":true}')) }
  const kept = await command(['import', 'app.har'], files)
  expect(kept.stdout).toContain('1 request already recorded\nUse --overwrite')
  expect(kept.names).toHaveLength(2)
  expect(await folderIn(kept.dir).text(nameOf(recorded()))).not.toContain('new: true')
  const replaced = await command(['import', 'app.har', '--overwrite'], files)
  expect(replaced.names).toEqual([nameOf(recorded())])
  expect(await folderIn(replaced.dir).text(nameOf(recorded()))).toContain('new: true')
})

test('import numbers the answers to repeated requests', async () => {
  const { names } = await command(['import', 'app.har'], har(chat('{"n":1}'), chat('{"n":2}')))
  expect(names).toEqual([nameOf(recorded(), 2), nameOf(recorded())])
})

test('import --json prints one document', async () => {
  const { stdout } = await run(['import', 'app.har', '--json'], { files: har(chat('{}'), fromChrome({ status: 0 })) })
  expect(JSON.parse(stdout)).toEqual({
    imported: [nameOf(recorded())],
    passedOver: { 'without an answer': 1 },
    mended: 0,
    remarks: [],
  })
})

const broken = { ...chat('{}'), response: { ...chat('{}').response, status: '200' } }

test('import leaves out an invalid entry and names it', async () => {
  const { code, stdout, stderr, names } = await command(['import', 'app.har'], har(broken, chat('{}')))
  expect({ code, names }).toEqual({ code: 0, names: [nameOf(recorded())] })
  expect(stdout).toContain('1 exchange imported')
  expect(stderr).toBe(
    `${mustBe('app.har:1:734: log.entries[0].response.status', 'a number', '200')}\nEntries with mistakes were skipped.\n`,
  )
  const asJson = await run(['import', 'app.har', '--json'], { files: har(broken, chat('{}')) })
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    leftOut: [mustBe('log.entries[0].response.status', 'a number', '200')],
  })
})

test('import - reads standard input', async () => {
  const { code, stdout } = await run(['import', '-'], { input: JSON.stringify(harWith(chat('{}'))) })
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('1 exchange imported') })
  expect(await run(['import', '-'], { input: '{"log": {' })).toMatchObject({
    code: 2,
    stderr: `standard input:1:10: ${notValid('JSON')}.\n`,
  })
})

test('with --quiet a successful import prints nothing', async () => {
  expect(await run(['import', 'app.har', '--quiet'], { files: har(chat('{}')) })).toMatchObject({ code: 0, stdout: '' })
})

test('a HAR file that is missing or has no valid entry is an error, and nothing is written', async () => {
  const { code, stderr, names } = await command(['import', 'app.har'], har(broken))
  expect({ code, names }).toEqual({ code: 2, names: [] })
  expect(stderr).toBe(`${mustBe('app.har:1:734: log.entries[0].response.status', 'a number', '200')}\n`)
  expect(await run(['import', 'none.har'])).toMatchObject({ code: 2, stderr: `none.har: ${cannotBeRead()}\n` })
})

test('the base URL of an OpenAI client is refused, because paths below it lack their /v1', async () => {
  const { code, stderr, names } = await command(['import', 'app.har', '--base', `${LIVE}/v1`], har(chat('{"n":1}')))
  expect({ code, names }).toEqual({ code: 2, names: [] })
  expect(stderr).toContain(`--base must be the address before /v1, not "${LIVE}/v1".`)
})

const mapping = { request: { method: 'GET', urlPath: '/x' }, response: { status: 200 } }
const postman = { info: { name: 'a', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/' }, item: [] }

test.each<[what: string, file: unknown]>([
  ['a cassette of VCR', '---\nhttp_interactions:\n- request:\n    method: get\n'],
  ['a cassette of vcrpy', 'interactions:\n- request:\n    body: null\nversion: 1\n'],
  ['a file of nock', [{ scope: 'https://live.example:443', method: 'GET', path: '/x', status: 200, response: {} }]],
  ['a file of WireMock', mapping],
  ['a file of WireMock', { mappings: [mapping], meta: { total: 1 } }],
  ['an environment of Mockoon', { uuid: 'a', lastMigration: 33, name: 'a', routes: [] }],
  ['a collection of Postman', postman],
  ['an export of Insomnia', { _type: 'export', __export_format: 4, resources: [] }],
  ['an export of Insomnia', 'type: collection.insomnia.rest/5.0\nname: a\n'],
  ['a file of aimock', { fixtures: [{ match: { userMessage: 'hi' }, response: { content: 'Hello' } }] }],
  ['a file of MockServer', [{ httpRequest: { path: '/x' }, httpResponse: { body: 'x' } }]],
  ['an OpenAPI document', 'openapi: 3.1.0\ninfo: { title: a }\n'],
  ['a database of json-server', { posts: [{ id: 1 }], comments: [] }],
])('import says that the file is %s, and what to do', async (what, file) => {
  const text = typeof file === 'string' ? file : JSON.stringify(file)
  const { code, stderr } = await run(['import', 'a.json'], { files: { 'a.json': text } })
  expect(code).toBe(2)
  expect(stderr).toMatch(`a.json: This is ${what}`)
  expect(stderr).toMatch(/[.;] See docs\/coming-from\.md\.\n$/)
  expect(stderr).toMatch(/exec --mode record|as rules in|openapi: FILE|resources:/)
})

test('import says of any other file which files it reads', async () => {
  const { stderr } = await run(['import', 'a.json'], { files: { 'a.json': '[1]' } })
  expect(stderr).toBe(
    `${mustBe('a.json:1:1: The file', AN_OBJECT, [1])} Import reads HAR files, as browsers, proxies and Polly save them.\n`,
  )
  expect((await run(['import', 'a.har.zip'])).stderr).toContain('a.har.zip is an archive. Unpack it')
})
