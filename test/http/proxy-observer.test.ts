import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import type { ResponseObserver } from '../../src/core/exchange.js'
import { watched } from '../../src/http/line.js'
import { createProxy, type ProxyOptions } from '../../src/http/proxy.js'
import { exchangeWith } from '../exchanges.js'
import { listening, liveOnSocket, liveWith } from './live.js'

/** What an observer received, in order. */
function observing(more: Partial<ResponseObserver> = {}) {
  const heard: (readonly [what: string, ...rest: unknown[]])[] = []
  let over = (_complete: boolean) => {}
  const ended = new Promise<boolean>(resolve => {
    over = resolve
  })
  const observer: ResponseObserver = {
    head: (status, headers) => void heard.push(['head', status, headers]),
    bytes: bytes => void heard.push(['bytes', bytes.toString('latin1')]),
    end(complete) {
      heard.push(['end', complete])
      over(complete)
    },
    ...more,
  }
  return { observer, heard, ended }
}

/** A server that only forwards requests to `baseUrl`, and shows answers to an observer. */
async function forwarding(baseUrl: string, observer: ResponseObserver, options: Partial<ProxyOptions> = {}) {
  const reported: unknown[] = []
  const errors: unknown[] = []
  const proxy = createProxy({
    baseUrl,
    credentials: () => ({ headers: {} }),
    firstByteTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    errors: 'documented',
    insecure: false,
    corsFor: () => ['access-control-allow-origin', '*'],
    ...options,
  })
  const server = http.createServer((request, response) => {
    const { method = '', url: path = '', headers } = request
    const exchange = exchangeWith({ method, path, headers, startedMs: performance.now() })
    proxy.forward({
      ...{ request, response, exchange },
      observer: watched(observer, response, error => void reported.push(error)),
      done(error) {
        if (error === undefined) return
        errors.push(error)
        response.writeHead(502).end('{}')
      },
    })
  })
  return { url: await listening(server), reported, errors }
}

const ask = (url: string, init?: RequestInit) => fetch(`${url}/v1/models`, init)

test('an observer sees status, headers and every piece as it comes, and that it was all', async () => {
  const { url, nextRequest } = await liveWith((_request, response) =>
    response.writeHead(200, { 'x-id': '1' }).write('one'),
  )
  const { observer, heard, ended } = observing()
  const asking = ask((await forwarding(url, observer)).url)
  const [request, live] = await nextRequest()
  const reader = ((await asking).body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  live.write('two')
  await reader.read()
  live.end('three')
  while (!(await reader.read()).done);
  expect(await ended).toBe(true)
  const [head, ...rest] = heard
  expect(head).toEqual(['head', 200, expect.arrayContaining(['x-id', '1'])])
  expect(rest).toEqual([
    ['bytes', 'one'],
    ['bytes', 'two'],
    ['bytes', 'three'],
    ['end', true],
  ])
  // The live platform's own headers, none of ours and none between neighbours.
  const headers = (head?.at(-1) ?? []) as readonly string[]
  expect(headers.filter((_, i) => i % 2 === 0).map(name => name.toLowerCase())).toEqual(['x-id', 'date'])
  expect(request.headers['accept-encoding']).toBe('identity')
})

test('an answer that comes at once reaches the observer once', async () => {
  const { url } = await liveWith((_request, response) => response.end('{"ok":true}'))
  const { observer, heard, ended } = observing()
  expect(await (await ask((await forwarding(url, observer)).url)).text()).toBe('{"ok":true}')
  expect(await ended).toBe(true)
  expect(heard.slice(1)).toEqual([
    ['bytes', '{"ok":true}'],
    ['end', true],
  ])
})

test('an answer that comes compressed all the same goes to client and observer as it is', async () => {
  const packed = gzipSync('{"ok":true}')
  const { url } = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
  )
  const { observer, heard, ended } = observing()
  expect(await (await ask((await forwarding(url, observer)).url)).json()).toEqual({ ok: true })
  await ended
  expect(heard).toContainEqual(['bytes', packed.toString('latin1')])
})

test('for an observer the live platform is asked for plain text, whatever the client takes', async () => {
  const { url, seen } = await liveWith((_request, response) => response.end('{}'))
  const proxied = await forwarding(url, observing().observer)
  await ask(proxied.url, { headers: { 'accept-encoding': 'br' } })
  expect(seen[0]?.request.headers['accept-encoding']).toBe('identity')
})

test('an observer of an answer that never comes learns that', async () => {
  const gone = net.createServer()
  const nowhere = await listening(gone)
  gone.close()
  await once(gone, 'close')
  const silent = await liveOnSocket(() => {})
  const broken = await liveOnSocket(socket => socket.end('SSH-2.0\r\n'))
  for (const [url, options] of [
    [nowhere, {}],
    [silent, { firstByteTimeoutMs: 50 }],
    [broken, {}],
  ] as const) {
    const { observer, heard, ended } = observing()
    expect((await ask((await forwarding(url, observer, options)).url)).status).toBe(502)
    expect(await ended).toBe(false)
    expect(heard).toEqual([['end', false]])
  }
})

test('an observer learns that the live platform died in the middle', async () => {
  const { url, nextRequest } = await liveWith((_request, response) => response.writeHead(200).write('begun'))
  const { observer, heard, ended } = observing()
  const asking = ask((await forwarding(url, observer)).url)
  const [, live] = await nextRequest()
  const response = await asking
  live.destroy()
  await expect(response.text()).rejects.toThrow('terminated')
  expect(await ended).toBe(false)
  expect(heard.slice(1)).toEqual([
    ['bytes', 'begun'],
    ['end', false],
  ])
})

test.each([
  ['before the answer', false],
  ['in the middle of it', true],
])('an observer learns that the client left %s', async (_when, begins) => {
  const { url, nextRequest } = await liveWith((_request, response) => void (begins && response.write('begun')))
  const { observer, heard, ended } = observing()
  const left = new AbortController()
  const asking = ask((await forwarding(url, observer)).url, { signal: left.signal })
  asking.catch(() => {})
  const [, live] = await nextRequest()
  const hungUp = once(live, 'close')
  if (begins) await asking
  left.abort()
  expect(await ended).toBe(false)
  await hungUp
  expect(heard.filter(([what]) => what === 'end')).toHaveLength(1)
})

test('when the client leaves while a credential is being fetched, the live platform is not asked', async () => {
  const { url, seen } = await liveWith((_request, response) => response.end('{}'))
  const { observer, heard, ended } = observing()
  let fetched = (_shown: { headers: Record<string, string> }) => {}
  let begin = () => {}
  const begun = new Promise<void>(resolve => {
    begin = resolve
  })
  const credentials = () =>
    new Promise<{ headers: Record<string, string> }>(resolve => {
      fetched = resolve
      begin()
    })
  const left = new AbortController()
  const asking = ask((await forwarding(url, observer, { credentials })).url, { signal: left.signal })
  asking.catch(() => {})
  await begun
  left.abort()
  expect(await ended).toBe(false)
  fetched({ headers: {} })
  // Whatever would reach the live platform would do so before this.
  await ask(url)
  expect(heard).toEqual([['end', false]])
  expect(seen).toHaveLength(1)
})

test('a credential that cannot be fetched is the error that it is', async () => {
  const { url, seen } = await liveWith((_request, response) => response.end('{}'))
  const fault = new Error('signed out')
  for (const credentials of [() => Promise.reject(fault), () => expect.fail('signed out')]) {
    const { observer, ended } = observing()
    const { url: proxyUrl, errors } = await forwarding(url, observer, { credentials })
    await ask(proxyUrl)
    expect(await ended).toBe(false)
    expect(errors).toEqual([expect.objectContaining({ message: 'signed out' })])
  }
  expect(seen).toEqual([])
})

test('of an error an observer sees what the live platform said, not what was made of it', async () => {
  const { url } = await liveWith((_request, response) => response.writeHead(404, { 'x-id': '1' }).end('<h1>404</h1>'))
  const { observer, heard, ended } = observing()
  const text = await (await ask((await forwarding(url, observer)).url)).text()
  expect(await ended).toBe(true)
  expect(text).toBe('{"error":"404","path":"/v1/models"}')
  expect(heard).toEqual([
    ['head', 404, expect.arrayContaining(['x-id', '1'])],
    ['bytes', '<h1>404</h1>'],
    ['end', true],
  ])
})

test.each(['head', 'bytes', 'end'] as const)('an observer that throws at %s does the answer no harm', async at => {
  const { url } = await liveWith((_request, response) => {
    response.write('one ')
    setImmediate(() => response.end('two'))
  })
  const fault = new Error(`a faulty ${at}`)
  const ends: boolean[] = []
  const fails = () => {
    throw fault
  }
  const { observer } = observing({ end: complete => void ends.push(complete), [at]: fails })
  const proxied = await forwarding(url, observer)
  const response = await ask(proxied.url)
  expect(response.status).toBe(200)
  expect(await response.text()).toBe('one two')
  expect(proxied.reported).toEqual([fault])
  // What it has not seen to its end is not complete.
  expect(ends).toEqual(at === 'end' ? [] : [false])
})

test('an observer also learns that an answer is not passed on', async () => {
  for (const isGone of [false, true]) {
    const { observer, heard, ended } = observing()
    const server = http.createServer((_request, response) => {
      if (isGone) response.destroy()
      watched(observer, response, () => expect.unreachable())
      response.end('made here')
    })
    await ask(await listening(server)).catch(() => {})
    expect(await ended).toBe(false)
    expect(heard).toEqual([['end', false]])
  }
})

test('a client that reads slowly holds up the live platform, and the observer with it', async () => {
  const size = 32 * 1024 * 1024
  const { url } = await liveWith((_request, response) => response.end(Buffer.alloc(size)))
  let seen = 0
  const { observer, ended } = observing({
    bytes(bytes) {
      seen += bytes.length
    },
  })
  const request = http.get((await forwarding(url, observer)).url, { agent: false })
  onTestFinished(() => void request.destroy())
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  // Nothing is read until every buffer on the way is full.
  await expect
    .poll(async () => {
      const before = seen
      await new Promise(resolve => setTimeout(resolve, 50))
      return seen === before
    })
    .toBe(true)
  expect(seen).toBeLessThan(size)
  let read = 0
  for await (const chunk of response) read += (chunk as Buffer).length
  expect([read, await ended]).toEqual([size, true])
  expect(seen).toBe(size)
})
