import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import type { ResponseObserver } from '../../src/core/exchange.js'
import { guardObserver } from '../../src/http/line.js'
import { createProxy, type ProxyOptions } from '../../src/http/proxy.js'
import { exchangeWith } from '../exchanges.js'
import { listening, liveOnSocket, liveWith } from './live.js'

/** What an observer received, in order. */
function observing(more: Partial<ResponseObserver> = {}) {
  const events: (readonly [what: string, ...rest: unknown[]])[] = []
  let over = (_complete: boolean) => {}
  const ended = new Promise<boolean>(resolve => {
    over = resolve
  })
  const observer: ResponseObserver = {
    head: (status, headers) => void events.push(['head', status, headers]),
    bytes: bytes => void events.push(['bytes', bytes.toString('latin1')]),
    end(complete) {
      events.push(['end', complete])
      over(complete)
    },
    ...more,
  }
  return { observer, events, ended }
}

/** A server that only forwards requests to `baseUrl`, and shows answers to an observer. */
async function forwarding(baseUrl: string, observer: ResponseObserver, options: Partial<ProxyOptions> = {}) {
  const reported: unknown[] = []
  const errors: unknown[] = []
  const proxy = createProxy({
    baseUrl,
    credentials: () => ({ headers: {} }),
    timeoutMs: 60_000,
    errors: 'documented',
    corsFor: () => ['access-control-allow-origin', '*'],
    ...options,
  })
  const server = http.createServer((request, response) => {
    const { method = '', url: path = '', headers } = request
    const exchange = exchangeWith({ method, path, headers, startedMs: performance.now() })
    proxy.forward({
      ...{ request, response, exchange },
      observer: guardObserver(observer, response, error => void reported.push(error)),
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

test('an observer sees the status, the headers, every piece as it arrives, and the end', async () => {
  const { url, nextRequest } = await liveWith((_request, response) =>
    response.writeHead(200, { 'x-id': '1' }).write('one'),
  )
  const { observer, events, ended } = observing()
  const pending = ask((await forwarding(url, observer)).url)
  const [request, live] = await nextRequest()
  const reader = ((await pending).body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  live.write('two')
  await reader.read()
  live.end('three')
  while (!(await reader.read()).done);
  expect(await ended).toBe(true)
  const [head, ...rest] = events
  expect(head).toEqual(['head', 200, expect.arrayContaining(['x-id', '1'])])
  expect(rest).toEqual([
    ['bytes', 'one'],
    ['bytes', 'two'],
    ['bytes', 'three'],
    ['end', true],
  ])
  // The live platform's own headers, none of ours and no hop-by-hop headers.
  const headers = (head?.at(-1) ?? []) as readonly string[]
  expect(headers.filter((_, i) => i % 2 === 0).map(name => name.toLowerCase())).toEqual(['x-id', 'date'])
  expect(request.headers['accept-encoding']).toBe('identity')
})

test('an answer that arrives in one piece reaches the observer once', async () => {
  const { url } = await liveWith((_request, response) => response.end('{"ok":true}'))
  const { observer, events, ended } = observing()
  expect(await (await ask((await forwarding(url, observer)).url)).text()).toBe('{"ok":true}')
  expect(await ended).toBe(true)
  expect(events.slice(1)).toEqual([
    ['bytes', '{"ok":true}'],
    ['end', true],
  ])
})

test('an answer that is compressed anyway reaches the client and the observer unchanged', async () => {
  const packed = gzipSync('{"ok":true}')
  const { url } = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
  )
  const { observer, events, ended } = observing()
  expect(await (await ask((await forwarding(url, observer)).url)).json()).toEqual({ ok: true })
  await ended
  expect(events).toContainEqual(['bytes', packed.toString('latin1')])
})

test('with an observer the live platform is asked for an uncompressed answer, whatever the client accepts', async () => {
  const { url, seen } = await liveWith((_request, response) => response.end('{}'))
  const proxied = await forwarding(url, observing().observer)
  await ask(proxied.url, { headers: { 'accept-encoding': 'br' } })
  expect(seen[0]?.request.headers['accept-encoding']).toBe('identity')
})

test('an observer learns that an answer never came', async () => {
  const gone = net.createServer()
  const nowhere = await listening(gone)
  gone.close()
  await once(gone, 'close')
  const silent = await liveOnSocket(() => {})
  const broken = await liveOnSocket(socket => socket.end('SSH-2.0\r\n'))
  for (const [url, options] of [
    [nowhere, {}],
    [silent, { timeoutMs: 50 }],
    [broken, {}],
  ] as const) {
    const { observer, events, ended } = observing()
    expect((await ask((await forwarding(url, observer, options)).url)).status).toBe(502)
    expect(await ended).toBe(false)
    expect(events).toEqual([['end', false]])
  }
})

test('an observer learns that the live platform died in the middle of its answer', async () => {
  const { url, nextRequest } = await liveWith((_request, response) => response.writeHead(200).write('begun'))
  const { observer, events, ended } = observing()
  const pending = ask((await forwarding(url, observer)).url)
  const [, live] = await nextRequest()
  const response = await pending
  live.destroy()
  await expect(response.text()).rejects.toThrow('terminated')
  expect(await ended).toBe(false)
  expect(events.slice(1)).toEqual([
    ['bytes', 'begun'],
    ['end', false],
  ])
})

test.each([
  ['before the answer', false],
  ['in the middle of it', true],
])('an observer learns that the client disconnected %s', async (_when, begins) => {
  const { url, nextRequest } = await liveWith((_request, response) => void (begins && response.write('begun')))
  const { observer, events, ended } = observing()
  const left = new AbortController()
  const pending = ask((await forwarding(url, observer)).url, { signal: left.signal })
  pending.catch(() => {})
  const [, live] = await nextRequest()
  const hungUp = once(live, 'close')
  if (begins) await pending
  left.abort()
  expect(await ended).toBe(false)
  await hungUp
  expect(events.filter(([what]) => what === 'end')).toHaveLength(1)
})

test('when the client disconnects while a credential is being fetched, no request reaches the live platform', async () => {
  const { url, seen } = await liveWith((_request, response) => response.end('{}'))
  const { observer, events, ended } = observing()
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
  const pending = ask((await forwarding(url, observer, { credentials })).url, { signal: left.signal })
  pending.catch(() => {})
  await begun
  left.abort()
  expect(await ended).toBe(false)
  fetched({ headers: {} })
  // A forwarded request would have arrived before this one.
  await ask(url)
  expect(events).toEqual([['end', false]])
  expect(seen).toHaveLength(1)
})

test('an error in fetching a credential is passed on', async () => {
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

test('an observer sees the original error of the live platform, not the one that the client gets', async () => {
  const { url } = await liveWith((_request, response) => response.writeHead(404, { 'x-id': '1' }).end('<h1>404</h1>'))
  const { observer, events, ended } = observing()
  const text = await (await ask((await forwarding(url, observer)).url)).text()
  expect(await ended).toBe(true)
  expect(text).toBe('{"error":"404","path":"/v1/models"}')
  expect(events).toEqual([
    ['head', 404, expect.arrayContaining(['x-id', '1'])],
    ['bytes', '<h1>404</h1>'],
    ['end', true],
  ])
})

test.each(['head', 'bytes', 'end'] as const)('an observer that throws in %s does not affect the answer', async at => {
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
  // An answer that it has not seen to the end is not complete.
  expect(ends).toEqual(at === 'end' ? [] : [false])
})

test('an observer also learns that no live answer was passed on', async () => {
  for (const isGone of [false, true]) {
    const { observer, events, ended } = observing()
    const server = http.createServer((_request, response) => {
      if (isGone) response.destroy()
      guardObserver(observer, response, () => expect.unreachable())
      response.end('made here')
    })
    await ask(await listening(server)).catch(() => {})
    expect(await ended).toBe(false)
    expect(events).toEqual([['end', false]])
  }
})

test('a client that reads slowly slows down the live platform, and the observer with it', async () => {
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
