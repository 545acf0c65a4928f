/** The form of the app behind the line, without express itself: whoever only hands it on need not know that. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** The prototypes of the server's requests and responses. */
export interface Prototypes {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export type App = (request: IncomingMessage, response: ServerResponse) => void
