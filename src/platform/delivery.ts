/** Where requests come in: the port, the handler, the request line, and behind it the pages and the control API. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PlatformError } from '../core/errors.js'
import { onceLoaded } from '../core/work.js'
import { type App, createEntrance, createTraffic, type Prototypes, type Traffic } from '../http/entrance.js'
import { createLine, type LineParts } from '../http/line.js'
import { type Listener, listen } from '../http/listen.js'
import { createMount, type Handler, refuse } from '../http/mount.js'
import { createPacer } from '../http/pacer.js'
import type { Journal } from '../journal/index.js'
import type { Part } from './part.js'

export interface Delivery extends Part {
  /** Opens the port. Rejects with a StartError when it cannot be had. */
  listen(where: { readonly host: string; readonly port: number }): Promise<void>
  /** 0 where no port is opened. */
  port(): number
  readonly handler: Handler
  readonly traffic: Traffic
  /** Puts the request line together again, from what is switched on now. */
  renew(): void
}

interface Dependencies {
  readonly line: () => LineParts
  readonly journal: Journal
  /** Makes what answers beside the line, with the first request for it. */
  readonly loadApp: (prototypes: Prototypes) => Promise<App>
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
}

/** Where no port is opened. */
const nowhere: Listener = { port: 0, stop: async () => {} }

export function createDelivery({ line: parts, journal, loadApp, warn, report }: Dependencies): Delivery {
  const traffic = createTraffic()
  const line = createLine(parts, {
    add: journal.add,
    left: traffic.left,
    pacer: createPacer(),
    report,
  })
  let app: (() => Promise<App>) | undefined
  let listener = nowhere

  function rest(request: IncomingMessage, response: ServerResponse, prototypes: Prototypes): void {
    app ??= onceLoaded(() => loadApp(prototypes))
    app()
      .then(answer => answer(request, response))
      .catch(error => {
        report(error)
        if (error instanceof PlatformError && !response.headersSent) refuse(request, response, error)
        else response.destroy()
      })
  }

  const entrance = createEntrance({ line: line.accept, carriesWebSocket: line.carriesWebSocket, rest }, traffic)
  const mount = createMount(entrance)
  return {
    async listen(where) {
      listener = await listen(entrance, { ...where, warn })
    },
    port: () => listener.port,
    handler: mount.handler,
    traffic,
    renew: line.renew,
    async close(graceMs) {
      traffic.close()
      await Promise.all([listener.stop(graceMs), mount.stop(graceMs)])
      await quietSoon(traffic)
    },
  }
}

/** A request that never ends does not keep the process. */
const LONGEST_END_MS = 500

/** Requests that were cut learn of it a little later than the server. Each is in the journal, and in the log, when it is over. */
async function quietSoon(traffic: Traffic): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<void>(resolve => {
    timer = setTimeout(resolve, LONGEST_END_MS)
  })
  await Promise.race([traffic.quiet(), tooLong])
  clearTimeout(timer)
}
