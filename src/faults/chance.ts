/** Draws by chance, the same for the same seed and requests in whatever order those come. */
import { createHash, hash } from 'node:crypto'
import type { Exchange } from '../core/exchange.js'

export interface Chances {
  /**
   * A number from 0 up to, but not including 1. It depends on `seed`, on what is drawn for (`entry`), on the request and on how often
   * that request has come: a retry draws again.
   */
  draw(exchange: Exchange, seed: number, entry: string): number
  /** From now on the requests of a scope count from the beginning; those of all if none is given. */
  forget(scope?: string): void
}

/** Counts the last `remembered` different requests; one that comes again after that many others counts from the beginning. */
export function createChances(remembered = 10_000): Chances {
  const timesOf = new Map<string, number>()
  const nameOf = new WeakMap<Exchange, string>()

  /** The request and which time it is; whatever is drawn for one exchange, it counts once. */
  function named(exchange: Exchange): string {
    const known = nameOf.get(exchange)
    if (known !== undefined) return known
    const request = digestOf(exchange)
    // Each scope draws what it would draw alone.
    const key = `${request} ${exchange.scope}`
    const times = timesOf.get(key) ?? 0
    // Inserted again, so that the one that has not come for longest stands first. By hand: this is loaded at every start, and lru-cache is not.
    timesOf.delete(key)
    timesOf.set(key, times + 1)
    if (timesOf.size > remembered) timesOf.delete(timesOf.keys().next().value ?? '')
    const name = `${request} ${times}`
    nameOf.set(exchange, name)
    return name
  }

  return {
    draw: (exchange, seed, entry) => fractionOf(hash('sha256', `${seed} ${entry} ${named(exchange)}`, 'hex')),
    forget(scope) {
      for (const key of timesOf.keys())
        if (scope === undefined || key.slice(key.indexOf(' ') + 1) === scope) timesOf.delete(key)
    },
  }
}

function digestOf({ method, path, query, body }: Exchange): string {
  const digest = createHash('sha256').update(`${method} ${path}?${query}\n`)
  if (body) digest.update(body)
  return digest.digest('base64')
}

/** 48 bits are enough, and a number holds them exactly. */
const fractionOf = (hex: string) => Number.parseInt(hex.slice(0, 12), 16) / 2 ** 48
