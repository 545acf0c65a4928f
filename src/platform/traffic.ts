/** Requests on their way: how many there are, and a gate that keeps new ones waiting while something is being made ready for them. */
import type { Line } from '../server/handle.js'

export interface Traffic {
  /** How many have come and have not been answered yet. */
  underWay(): number
  /** How many have come at all. */
  begun(): number
  /** Resolves when none is under way, at once where none is. */
  quiet(): Promise<void>
  /** Requests that come from now on wait until `work` is over, however it ends. Gives back what `work` gives. */
  hold<T>(work: () => Promise<T>): Promise<T>
}

export interface TrafficControl extends Traffic {
  /** The same line, with whatever goes down it counted. */
  watch(line: Line): Line
  /** One has come to its end. */
  left(): void
}

export function createTraffic(): TrafficControl {
  let underWay = 0
  let begun = 0
  let holds: readonly Promise<unknown>[] = []
  let waiting: (() => void)[] = []

  async function gateOpen(): Promise<void> {
    while (holds.length > 0) await Promise.all(holds)
  }

  return {
    underWay: () => underWay,
    begun: () => begun,
    quiet: () =>
      new Promise(resolve => {
        if (underWay === 0) resolve()
        else waiting.push(resolve)
      }),
    hold(work) {
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
    left() {
      underWay--
      if (underWay > 0 || waiting.length === 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    },
  }
}
