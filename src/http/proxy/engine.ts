/** Sends requests with http-proxy-middleware: the only file that imports it, loaded with the first request that needs it. */
import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { createProxyMiddleware, proxyEventsPlugin } from 'http-proxy-middleware'
import type { Passage } from './passage.js'

/** The live platform's address, whether its certificate must be trusted, and the connections to it. */
interface EngineOptions {
  readonly protocol: string
  readonly host: string
  readonly hostname: string
  readonly port: string
  readonly secure: boolean
  readonly agent: Agent
}

/** What happens to a passage on its way. */
interface Events {
  opens(passage: Passage, upstream: ClientRequest): void
  answers(passage: Passage, answer: IncomingMessage): void
  failed(passage: Passage, error: NodeJS.ErrnoException): void
}

/** Returns a function that sends the request of a passage. */
export function createEngine({ secure, agent, ...origin }: EngineOptions, { opens, answers, failed }: Events) {
  const middleware = createProxyMiddleware({
    agent,
    secure,
    // Target and path come from here. Nothing is taken from the request.
    router: request => ({ ...origin, pathname: passageOf(request).target }),
    ignorePath: true,
    pathFilter: () => true,
    selfHandleResponse: true,
    // The default plugins only write a log, which costs more than everything else, or listen for the client, which a
    // passage does itself.
    ejectPlugins: true,
    plugins: [proxyEventsPlugin],
    on: {
      proxyReq: (upstream, request) => opens(passageOf(request), upstream),
      proxyRes: (answer, request) => answers(passageOf(request), answer),
      error: (error, request) => failed(passageOf(request), error),
    },
  })
  return (passage: Passage): void => {
    const { asRequest, asResponse } = seenByEngine(passage)
    middleware(asRequest, asResponse, error => passage.fail(error))
  }
}

// Converts a passage to and from the types that http-proxy-middleware expects, which are a full request and response.
const seenByEngine = (passage: Passage) => ({
  asRequest: passage as unknown as IncomingMessage,
  asResponse: passage as unknown as ServerResponse,
})
const passageOf = (request: IncomingMessage) => request as unknown as Passage
