import { createServer, type OutgoingMessage, request } from 'node:http'
import { createServer as createConnections } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endWith } from '../../src/http/proxy/end-with.js'
import { runs } from '../runs.js'
import { onTheWire, wireTo } from '../wire.js'
import { listening } from './live.js'

// A message with a complete body leaves in one write, past node's methods. Its bytes, and what becomes of the connection, must be those of node's methods.

type End = (message: OutgoingMessage, body: Buffer) => void
const nodes: End = (message, body) => void message.end(body)

const bodies = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 20_000, maxLength: 20_100 }))

/** A server that answers with the body that was sent to it. */
const echoing = (end: End, head: Record<string, string>) =>
  listening(
    createServer(async (asked, response) => {
      const body: Buffer[] = []
      for await (const chunk of asked) body.push(chunk)
      response.sendDate = false
      response.writeHead(200, head)
      end(response, Buffer.concat(body))
    }),
  )

test.each([
  ['a length', true],
  ['chunks', false],
])('A response with %s is as node writes it', async (_what, hasLength) => {
  const requests = fc.record({
    method: fc.constantFrom('POST', 'GET', 'HEAD'),
    version: fc.constantFrom('1.1', '1.0'),
    body: bodies.map(bytes => Buffer.from(bytes)),
    isPipelined: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, version, body, isPipelined }) => {
      const head = hasLength ? { 'content-length': String(body.length) } : { 'x-more': 'ü' }
      const first = onTheWire(`${method} /`, [], body.toString('latin1')).replace('HTTP/1.1', `HTTP/${version}`)
      const last = onTheWire(`${method} /`, ['Connection: close'], body.toString('latin1'))
      const said = async (end: End) => {
        const wire = await wireTo(await echoing(end, head))
        await wire.say(isPipelined ? first + last : last)
        return wire.rest()
      }
      expect(await said(endWith)).toBe(await said(nodes))
    }),
    { numRuns: runs(100) },
  )
})

test('A request is as node writes it', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, async bytes => {
      const body = Buffer.from(bytes)
      const said = (end: End) =>
        new Promise<string>((resolve, reject) => {
          let heard = ''
          const hears = createConnections(socket => {
            socket.setEncoding('latin1').on('data', text => {
              heard += text
              if (heard.endsWith(`\r\n\r\n${body.toString('latin1')}`)) socket.end('HTTP/1.1 204 No Content\r\n\r\n')
            })
          })
          listening(hears).then(url => {
            const headers = { host: 'live', 'content-length': String(body.length) }
            const asked = request(url, { method: 'POST', headers, agent: false })
            asked.on('response', answer => answer.resume().once('end', () => resolve(heard))).on('error', reject)
            asked.once('socket', () => end(asked, body))
          }, reject)
        })
      expect(await said(endWith)).toBe(await said(nodes))
    }),
    { numRuns: runs(50) },
  )
})
