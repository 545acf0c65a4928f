/** Where requests arrive: the port, the handler, the request line, and behind it the dashboard and the control API. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PlatformError } from '../core/errors.js'
import { once } from '../core/work.js'
import { requestsWebSocket } from '../http/body.js'
import { type App, createEntrance, createTraffic, pathOfTarget, type Traffic } from '../http/entrance.js'
import { createLine, type LineOptions } from '../http/line.js'
import { type Listener, listen } from '../http/listen.js'
import { createMount, refuse } from '../http/mount.js'
import { createPacer } from '../http/pacer.js'
import type { LineParts } from '../http/surface.js'
import type { Journal } from '../journal/index.js'

export type Delivery = ReturnType<typeof createDelivery>

interface Dependencies {
  readonly line: () => LineParts
  readonly journal: Journal
  /** Creates the app for requests that are not on the line. */
  readonly loadApp: () => Promise<App>
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
  readonly runningTest?: LineOptions['runningTest']
}

/** Used if no port is opened. */
const noListener: Listener = { port: 0, stop: async () => {}, renew: () => {} }

export function createDelivery({ line: parts, journal, loadApp, warn, report, runningTest }: Dependencies) {
  const traffic = createTraffic()
  const { begin: onBegin, add } = journal
  const line = createLine(parts, { onBegin, add, onEnd: traffic.onEnd, pacer: createPacer(), report, runningTest })
  let listener = noListener
  const app = createLazyApp({ loadApp, report })
  const entrance = createEntrance({ line: line.accept, app }, traffic)
  const mount = createMount(entrance)
  function webSockets() {
    const forwards = line.webSockets()
    return (
      forwards &&
      ((request: IncomingMessage) => requestsWebSocket(request) && forwards(pathOfTarget(request.url ?? '/')))
    )
  }
  return {
    /** Opens the port. Rejects with a StartError if it is not available. */
    async listen(where: { readonly host: string; readonly port: number }) {
      listener = await listen(entrance, { ...where, warn, webSockets })
    },
    /** 0 if no port is open. */
    port: () => listener.port,
    handler: mount.handler,
    traffic,
    /** The requests that are under way, the oldest first. */
    underWay: () => line.open,
    /** Rebuilds the request line from what is currently switched on. */
    renew() {
      line.renew()
      listener.renew()
    },
    async close(graceMs: number) {
      traffic.close()
      await Promise.all([listener.stop(graceMs), mount.stop(graceMs)])
      await waitUntilIdle(traffic)
    },
  }
}

/** Answers requests that are not on the line, with an app that is loaded for the first of them. */
function createLazyApp({ loadApp, report }: Pick<Dependencies, 'loadApp' | 'report'>) {
  const app = once(loadApp)
  return (request: IncomingMessage, response: ServerResponse): void => {
    app()
      .then(answer => answer(request, response))
      .catch(error => {
        report(error)
        if (error instanceof PlatformError && !response.headersSent) refuse(request, response, error)
        else response.destroy()
      })
  }
}

/** The longest wait, so that a request that never ends does not keep the process alive. */
const MOST_WAIT_MS = 500

/** Waits for requests that were cut, which end slightly later than the server, so that the journal and the log have them. */
async function waitUntilIdle(traffic: Traffic): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>(resolve => {
    timer = setTimeout(resolve, MOST_WAIT_MS)
  })
  await Promise.race([traffic.idle(), timeout])
  clearTimeout(timer)
}
