/** Live platforms that behave as a test wants, and a platform in mode proxy in front of them. */
import { EventEmitter, once } from 'node:events'
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { platformWith } from '../scene.js'

export const liveKey = 'sk-live-nobody-here-may-see-it'
export const liveAnonKey = 'live-anon-key'

/** A live platform that answers with this listener, and keeps the requests in `seen`. */
export async function liveWith(answer: RequestListener) {
  const seen: { readonly request: IncomingMessage; readonly body: Buffer }[] = []
  const arrivals = new EventEmitter()
  const server = http.createServer(async (request, response) => {
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk)
    seen.push({ request, body: Buffer.concat(body) })
    arrivals.emit('request', request, response)
    answer(request, response)
  })
  const url = await listening(server)
  onTestFinished(() => server.closeAllConnections())
  return {
    url,
    seen,
    /** The next request and its response, when it comes. */
    nextRequest: () => once(arrivals, 'request') as Promise<[IncomingMessage, ServerResponse]>,
  }
}

/** Listens on a free local port; returns the address. */
export async function listening(server: net.Server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A live platform that answers on the bare socket. */
export const liveOnSocket = (answer: (socket: net.Socket) => void) =>
  listening(net.createServer(socket => void socket.on('error', () => {}).once('data', () => answer(socket))))

/** A platform in mode proxy in front of `baseUrl`. */
export const proxyTo = (baseUrl: string, { upstream, ...options }: PlatformOptions = {}) =>
  platformWith({ mode: 'proxy', upstream: { baseUrl, apiKey: liveKey, anonKey: liveAnonKey, ...upstream }, ...options })

/** Sends a request exactly as given, through node's own client. */
export async function send(url: string, { body, ...options }: http.RequestOptions & { body?: string | Buffer } = {}) {
  const request = http.request(url, { agent: false, ...options })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const { statusCode: status, headers, rawHeaders } = response
  return { status, headers, rawHeaders, body: Buffer.concat(chunks) }
}
