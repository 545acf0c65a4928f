/** HAR files as Polly and Playwright write them, from the import to the replayed answer. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { folderWith } from '../command.js'
import { harWith, LIVE } from '../recordings/hars.js'
import { liveWith, saying } from '../recordings/live.js'
import { runHere } from '../run-here.js'
import { platformWith } from '../scene.js'
import { DIR } from './recorded.js'

/** Imports a HAR file in this folder and replays what came of it. */
async function importedIn(dir: string, base = LIVE, file = 'a.har') {
  const { code, stdout, stderr } = await runHere(['import', file, '--base', base], { dir, env: {}, input: undefined })
  const { url, apiKey } = await platformWith({ mode: 'replay', recordings: { dir: path.join(dir, DIR) } })
  const ask = async (where: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${apiKey}`, ...init.headers }
    const answer = await fetch(url + where, { ...init, headers })
    return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()), headers: answer.headers }
  }
  return { code, said: stdout + stderr, ask }
}

/** An entry as Polly writes it. */
const ofPolly = (content: object, headers: readonly object[], more: object = {}) => ({
  _id: '41b7d6ef74440e3b785f1634743f9139',
  _order: 0,
  cache: {},
  request: {
    ...{ bodySize: 0, cookies: [], headers: [{ name: 'accept', value: ['*/*'] }], headersSize: 228, queryString: [] },
    ...{ httpVersion: 'HTTP/1.1', method: 'GET', postData: { mimeType: 'text/plain' }, url: `${LIVE}/builder/x` },
  },
  response: {
    ...{ bodySize: 0, content, cookies: [], headers, headersSize: 1, redirectURL: '', status: 200, statusText: 'OK' },
  },
  ...{ startedDateTime: '2019-01-10T21:41:12.512Z', time: 63, timings: { send: 0, wait: 63, receive: 0, ssl: -1 } },
  ...more,
})

const harOfPolly = (version: string, ...entries: readonly object[]) =>
  JSON.stringify({
    log: { ...harWith(...entries).log, creator: { comment: 'persister:fs', name: 'Polly.JS', version } },
  })

const inPieces = (body: string, digits: 'hex' | 'base64') => {
  const bytes = gzipSync(body)
  return JSON.stringify([bytes.subarray(0, 30), bytes.subarray(30)].map(piece => piece.toString(digits)))
}

const list = JSON.stringify({ data: Array.from({ length: 40 }, (_, id) => ({ id })) })
const picture = Buffer.from('89504e470d0a1a0aff00fe80', 'hex')
const json = { name: 'content-type', value: 'application/json; charset=utf-8' }
const gzip = { name: 'content-encoding', value: 'gzip' }
const png = { mimeType: 'application/octet-stream' }

test.each<[what: string, content: object, headers: readonly object[], body: string | Buffer]>([
  ['gzip in pieces of Base64', { encoding: 'base64', text: inPieces(list, 'base64'), size: 231 }, [json, gzip], list],
  ['gzip in pieces of hex', { _isBinary: true, text: inPieces(list, 'hex'), size: 462 }, [json, gzip], list],
  [
    'gzip in pieces without a word about it, and headers as lists',
    { mimeType: 'application/json', text: inPieces(list, 'hex'), size: 462 },
    [
      { name: 'content-type', value: ['application/json'] },
      { name: 'content-encoding', value: ['gzip'] },
    ],
    list,
  ],
  [
    'bytes in Base64, with the size of the text',
    { ...png, encoding: 'base64', text: picture.toString('base64'), size: 16 },
    [],
    picture,
  ],
  ['bytes in hex', { ...png, _isBinary: true, text: picture.toString('hex'), size: 24 }, [], picture],
  ['bytes in hex, without a word about it', { ...png, text: picture.toString('hex'), size: 24 }, [], picture],
  [
    'text that was short when compressed',
    { text: '{"a":1}', size: 27 },
    [json, gzip, { name: 'content-length', value: 27 }],
    '{"a":1}',
  ],
])('Polly: %s', async (_what, content, headers, body) => {
  const { code, ask } = await importedIn(folderWith({ 'a.har': harOfPolly('1.4.1', ofPolly(content, headers)) }))
  expect(code).toBe(0)
  expect(await ask('/builder/x')).toMatchObject({ status: 200, body: Buffer.from(body) })
})

test('Polly: pieces that do not decompress are refused with the reason', async () => {
  const content = { encoding: 'base64', text: '["AAAA"]', size: 8 }
  const { said } = await importedIn(folderWith({ 'a.har': harOfPolly('6.0.5', ofPolly(content, [json, gzip])) }))
  expect(said).toContain('1 request with a body that cannot be read')
  expect(said).toContain('log.entries[0] has a body in pieces that are not valid gzip.')
})

test('a POST that may have lost its body is refused or remarked on, and one that says that it had none is played', async () => {
  const ok = [{ mimeType: 'application/json', text: '{"ok":1}', size: 8 }, [json]] as const
  const post = (name: string, request: object) =>
    ofPolly(...ok, { request: { method: 'POST', url: `${LIVE}/builder/${name}`, headers: [], ...request } })
  const typed = [{ name: 'Content-Type', value: 'application/json' }]
  const { said, ask } = await importedIn(
    folderWith({
      'a.har': harOfPolly(
        '6.0.5',
        post('bytes', { bodySize: 0, postData: { mimeType: 'application/json', params: [] } }),
        post('minimal', { bodySize: -1, postData: { mimeType: 'application/json', params: [], text: '' } }),
        post('typed', { headers: typed }),
        post('empty', { headers: [...typed, { name: 'content-length', value: 0 }] }),
        post('unsized', {}),
      ),
    }),
  )
  expect(said).toContain('2 exchanges imported.\nSkipped:\n  3 requests without the body of the request\n')
  expect(said).toContain('log.entries[4] has no body, so it answers only a POST without one.')
  expect(said).not.toContain('log.entries[3]')
  expect((await ask('/builder/empty', { method: 'POST' })).body.toString()).toBe('{"ok":1}')
  expect((await ask('/builder/unsized', { method: 'POST' })).body.toString()).toBe('{"ok":1}')
})

test('entries without times are played in the order of the file', async () => {
  const { startedDateTime, time, timings, ...bare } = ofPolly({ text: '{"n":1}', size: 7 }, [json])
  const second = { ...bare, response: { ...bare.response, content: { text: '{"n":2}', size: 7 } } }
  const { ask } = await importedIn(folderWith({ 'a.har': JSON.stringify(harWith(bare, second)) }))
  const answers = [await ask('/builder/x'), await ask('/builder/x')].map(({ body }) => body.toString())
  expect(answers).toEqual(['{"n":1}', '{"n":2}'])
})

const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync) ?? ''

/** A HAR file that Playwright has recorded, with bodies in files beside it as is its default for `update`. */
async function recordedByPlaywright(content: 'attach' | 'omit') {
  const live = await liveWith(saying({ said: 'Grüße' }))
  const dir = folderWith()
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const context = await browser.newContext({ recordHar: { path: path.join(dir, 'a.har'), mode: 'minimal', content } })
  const page = await context.newPage()
  await page.goto(`${live.url}/builder/page`)
  await page.evaluate(async () => {
    const headers = { 'content-type': 'application/json' }
    await (await fetch('/builder/x', { method: 'POST', headers, body: '{"name":"Ada"}' })).text()
  })
  await context.close()
  await browser.close()
  return { dir, live: live.url }
}

const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Ada"}' }

test.skipIf(!executablePath)('Playwright: bodies in files beside the HAR file are read', async () => {
  const { dir, live } = await recordedByPlaywright('attach')
  expect(readFileSync(path.join(dir, 'a.har'), 'utf8')).toContain('_file')
  const { ask } = await importedIn(dir, live)
  expect((await ask('/builder/x', asked)).body.toString()).toBe('{"said":"Grüße"}')
})

test.skipIf(!executablePath)(
  'Playwright: bodies that were left out are refused with the setting that keeps them',
  async () => {
    const { dir, live } = await recordedByPlaywright('omit')
    const { said } = await importedIn(dir, live)
    expect(said).toMatch(/^0 exchanges imported\.$/m)
    expect(said).toContain("updateContent: 'embed'")
  },
)

test('a body in a file that is gone, or outside of the folder, is refused by its name', async () => {
  const attached = (_file: string) => ofPolly({ mimeType: 'application/json', size: -1, _file }, [json])
  const dir = folderWith({ 'in/a.har': JSON.stringify(harWith(attached('4f0c.json'), attached('../secret.json'))) })
  writeFileSync(path.join(dir, 'secret.json'), '{"secret":1}')
  const { said } = await importedIn(dir, LIVE, 'in/a.har')
  expect(said).toContain('log.entries[0] has a body in 4f0c.json, which cannot be read (ENOENT).')
  expect(said).toContain('log.entries[1] has a body in ../secret.json, outside of its folder.')
  const input = readFileSync(path.join(dir, 'in/a.har'), 'utf8')
  const piped = await runHere(['import', '-', '--base', LIVE], { dir, env: {}, input })
  expect(piped.stdout).toContain('log.entries[0] has a body in 4f0c.json, beside the HAR file. Import the file itself.')
})
