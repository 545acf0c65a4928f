/** Where every request comes in: onto the line, or to express behind it. */
import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http'
import { isReserved } from '../core/paths.js'
import type { Line } from './handle.js'
import type { Prototypes } from './prototypes.js'

export interface Doors {
  readonly line: Line
  /** Answers what is not on the line. */
  readonly rest: (request: IncomingMessage, response: ServerResponse, prototypes: Prototypes) => void
}

export interface Entrance {
  /** What a server of our own makes its requests and responses from. */
  readonly classes: Pick<
    ServerOptions<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>>,
    'IncomingMessage' | 'ServerResponse'
  >
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void
}

export function createEntrance({ line, rest }: Doors): Entrance {
  // Classes of this entrance's own: express is going to put its methods behind their prototypes.
  class Request extends IncomingMessage {}
  class Response<R extends IncomingMessage> extends ServerResponse<R> {}
  const prototypes = { request: Request.prototype, response: Response.prototype }
  return {
    classes: { IncomingMessage: Request, ServerResponse: Response },
    answer(request, response) {
      const path = pathOf(request.url ?? '/')
      if (isReserved(path)) rest(request, response, prototypes)
      else line(request, response, path)
    },
  }
}

/** The path of a request target, as it was sent. A client may also send the whole address (RFC 9112 §3.2.2). */
export function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  const query = local.indexOf('?')
  return (query < 0 ? local : local.slice(0, query)) || '/'
}
