import { createServer, type OutgoingMessage, request } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endMessage } from '../../src/http/proxy/end-message.js'
import { runs } from '../runs.js'
import { onTheWire, wireTo } from '../wire.js'
import { listening } from './live.js'

// `endWith` sends a complete body in one write, bypassing node's methods. The bytes, and whether the connection stays open, must be the same as with them.

type End = (message: OutgoingMessage, body: Buffer) => void
const byNode: End = (message, body) => void message.end(body)

const bodies = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 20_000, maxLength: 20_100 }))

/** A server that answers with the body that was sent to it. */
const echoing = (end: End, head: Record<string, string>) =>
  listening(
    createServer(async (message, response) => {
      const body: Buffer[] = []
      for await (const chunk of message) body.push(chunk)
      response.sendDate = false
      response.writeHead(200, head)
      end(response, Buffer.concat(body))
    }),
  )

test.each([
  ['a content length', true],
  ['chunked encoding', false],
])("a response with %s has the same bytes as with node's methods", async (_what, hasLength) => {
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
      const bytesOf = async (end: End) => {
        const wire = await wireTo(await echoing(end, head))
        await wire.say(isPipelined ? first + last : last)
        return wire.rest()
      }
      expect(await bytesOf(endMessage)).toBe(await bytesOf(byNode))
    }),
    { numRuns: runs(100) },
  )
})

test("a request has the same bytes as with node's methods", async () => {
  await fc.assert(
    fc.asyncProperty(bodies, async bytes => {
      const body = Buffer.from(bytes)
      const bytesOf = (end: End) =>
        new Promise<string>((resolve, reject) => {
          let received = ''
          const server = createTcpServer(socket => {
            socket.setEncoding('latin1').on('data', text => {
              received += text
              if (received.endsWith(`\r\n\r\n${body.toString('latin1')}`)) socket.end('HTTP/1.1 204 No Content\r\n\r\n')
            })
          })
          listening(server).then(url => {
            const headers = { host: 'live', 'content-length': String(body.length) }
            const message = request(url, { method: 'POST', headers, agent: false })
            message.on('response', answer => answer.resume().once('end', () => resolve(received))).on('error', reject)
            message.once('socket', () => end(message, body))
          }, reject)
        })
      expect(await bytesOf(endMessage)).toBe(await bytesOf(byNode))
    }),
    { numRuns: runs(50) },
  )
})
