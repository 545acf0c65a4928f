/** Sends requests with http-proxy-middleware: the only file that imports it, loaded with the first request that needs it. */
import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { createProxyMiddleware, proxyEventsPlugin } from 'http-proxy-middleware'
import type { LiveAddress } from './live-answer.js'
import type { ProxiedRequest } from './proxied-request.js'

interface EngineOptions extends LiveAddress {
  readonly agent: Agent
}

/** What happens to a proxied request on its way. */
interface Events {
  connected(proxied: ProxiedRequest, upstream: ClientRequest): void
  answerArrived(proxied: ProxiedRequest, answer: IncomingMessage): void
  failed(proxied: ProxiedRequest, error: NodeJS.ErrnoException): void
}

/** Returns a function that sends a proxied request. */
export function createEngine(
  { secure, agent, ...origin }: EngineOptions,
  { connected, answerArrived, failed }: Events,
) {
  const middleware = createProxyMiddleware({
    agent,
    secure,
    // Target and path come from here. Nothing is taken from the request.
    router: request => ({ ...origin, pathname: proxiedOf(request).target }),
    ignorePath: true,
    pathFilter: () => true,
    selfHandleResponse: true,
    // The default plugins only write a log, which costs more than everything else, or listen for the client, which
    // `ProxiedRequest` does itself.
    ejectPlugins: true,
    plugins: [proxyEventsPlugin],
    on: {
      proxyReq: (upstream, request) => connected(proxiedOf(request), upstream),
      proxyRes: (answer, request) => answerArrived(proxiedOf(request), answer),
      error: (error, request) => failed(proxiedOf(request), error),
    },
  })
  return (proxied: ProxiedRequest): void => {
    const { asRequest, asResponse } = seenByEngine(proxied)
    middleware(asRequest, asResponse, error => proxied.fail(error))
  }
}

// Converts a proxied request to and from the types that http-proxy-middleware expects, which are a full request and response.
const seenByEngine = (proxied: ProxiedRequest) => ({
  asRequest: proxied as unknown as IncomingMessage,
  asResponse: proxied as unknown as ServerResponse,
})
const proxiedOf = (request: IncomingMessage) => request as unknown as ProxiedRequest
