/** Sends requests with http-proxy-middleware: the only file that imports it, loaded with the first request that needs it. */
import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { createProxyMiddleware, proxyEventsPlugin } from 'http-proxy-middleware'
import type { LiveAddress } from './live-answer.js'
import type { ProxiedRequest } from './proxied-request.js'

interface MiddlewareClientOptions extends LiveAddress {
  readonly agent: Agent
}

/** What happens to a proxied request on its way. */
interface Events {
  onConnected(proxied: ProxiedRequest, upstream: ClientRequest): void
  onResponse(proxied: ProxiedRequest, answer: IncomingMessage): void
  onError(proxied: ProxiedRequest, error: NodeJS.ErrnoException): void
}

/** Returns a function that sends a proxied request with http-proxy-middleware. */
export function createMiddlewareClient(
  { agent, ...origin }: MiddlewareClientOptions,
  { onConnected, onResponse, onError }: Events,
) {
  const middleware = createProxyMiddleware({
    agent,
    // By default, it would ignore this variable, which node's own client honours.
    secure: process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0',
    // The target and path are decided here, and not taken from the request.
    router: request => ({ ...origin, pathname: proxiedOf(request).target }),
    ignorePath: true,
    pathFilter: () => true,
    selfHandleResponse: true,
    // The default plugins only write a log, which costs more than everything else, or listen for the client, which
    // `ProxiedRequest` does itself.
    ejectPlugins: true,
    plugins: [proxyEventsPlugin],
    on: {
      proxyReq: (upstream, request) => onConnected(proxiedOf(request), upstream),
      proxyRes: (answer, request) => onResponse(proxiedOf(request), answer),
      error: (error, request) => onError(proxiedOf(request), error),
    },
  })
  return (proxied: ProxiedRequest): void => {
    const { asRequest, asResponse } = asNodeTypes(proxied)
    middleware(asRequest, asResponse, error => proxied.fail(error))
  }
}

// http-proxy-middleware expects node's request and response. A proxied request stands in for both.
const asNodeTypes = (proxied: ProxiedRequest) => ({
  asRequest: proxied as unknown as IncomingMessage,
  asResponse: proxied as unknown as ServerResponse,
})
const proxiedOf = (request: IncomingMessage) => request as unknown as ProxiedRequest
