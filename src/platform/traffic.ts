/** Requests on their way: how many there are, and a gate that keeps new ones waiting while something is being made ready for them. */
import { passedMs } from '../core/clock.js'
import { hasStopped } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Line } from '../server/handle.js'

export interface Traffic {
  /** How many have come and have not been answered yet, but for those that nobody asks about any more. */
  underWay(): number
  /** How many have come at all. */
  begun(): number
  /** Resolves when none is under way, at once where none is. */
  quiet(): Promise<void>
  /** Nobody asks about those any more that are under way now: whoever has left them behind may never end them. */
  disown(): void
  /**
   * Requests that come from now on wait until `work` is over, however it ends. Gives back what `work` gives; rejects once the platform has
   * been stopped.
   */
  hold<T>(work: () => Promise<T>): Promise<T>
}

export interface TrafficControl extends Traffic {
  /** The same line, with whatever goes down it counted. */
  watch(line: Line): Line
  /** Nothing is made ready any more. */
  close(): void
  /** One has come to its end. */
  left(exchange: Pick<Exchange, 'startedMs'>): void
}

export function createTraffic(): TrafficControl {
  let isClosed = false
  let underWay = 0
  let disowned = 0
  let disownedAtMs = 0
  let begun = 0
  let holds: readonly Promise<unknown>[] = []
  let waiting: (() => void)[] = []

  async function gateOpen(): Promise<void> {
    while (holds.length > 0) await Promise.all(holds)
  }

  function tellQuiet(): void {
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    underWay: () => underWay,
    begun: () => begun,
    quiet: () =>
      new Promise(resolve => {
        if (underWay === 0) resolve()
        else waiting.push(resolve)
      }),
    disown() {
      disowned += underWay
      disownedAtMs = passedMs()
      underWay = 0
      tellQuiet()
    },
    close() {
      isClosed = true
    },
    hold(work) {
      if (isClosed) return Promise.reject(hasStopped())
      const done = work()
      const held = done.then(
        () => {},
        () => {},
      )
      holds = [...holds, held]
      void held.then(() => {
        holds = holds.filter(other => other !== held)
      })
      return done
    },
    watch: line => (request, response, path) => {
      underWay++
      begun++
      if (holds.length === 0) line(request, response, path)
      else void gateOpen().then(() => line(request, response, path))
    },
    left({ startedMs }) {
      // One that was held back while the others were disowned began after that.
      if (disowned > 0 && (startedMs < disownedAtMs || underWay === 0)) disowned--
      else underWay--
      if (underWay === 0) tellQuiet()
    },
  }
}
