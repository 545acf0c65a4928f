/** Faults for the next requests, asked for by a call: they wait in line until they have befallen as many as they are meant for. */
import { check } from '../core/check.js'
import type { Exchange } from '../core/exchange.js'
import { type Fault, type FaultCall, type FaultCallInput, faultCallSchema } from '../core/fault.js'
import { glob } from '../core/glob.js'
import { ProblemsError } from '../core/problem.js'
import { isAuth } from '../core/reserved.js'

/** A call that still waits for requests. */
export interface WaitingFault extends Omit<FaultCall, 'times'> {
  readonly id: string
  /** How many requests it has still to befall. */
  readonly times: number
}

export interface FaultCalls {
  /** Puts a fault at the end of the line. */
  add(call: FaultCall): { readonly id: string }
  /** The first fault in line that is meant for this request; `comesAbout` decides by its chance, and only what does is counted. */
  take(exchange: Exchange, comesAbout: (fault: Fault, id: string) => boolean): Fault | undefined
  waiting(): readonly WaitingFault[]
  clear(): void
}

interface Waiting {
  readonly call: FaultCall
  readonly id: string
  readonly fits: (exchange: Exchange) => boolean
  left: number
}

export function createFaultCalls(): FaultCalls {
  let line: readonly Waiting[] = []
  let count = 0
  return {
    add(call) {
      // Counted, not made up: what is drawn for it is to be the same in every run.
      const id = `fault-${++count}`
      line = [...line, { call, id, fits: fitting(call), left: call.times }]
      return { id }
    },
    take(exchange, comesAbout) {
      // Most requests find nobody waiting.
      if (line.length === 0) return undefined
      const first = line.find(({ call, id, fits }) => fits(exchange) && comesAbout(call.fault, id))
      if (!first) return undefined
      first.left--
      if (first.left === 0) line = line.filter(waiting => waiting !== first)
      return first.call.fault
    },
    waiting: () => line.map(({ call, id, left }) => ({ id, ...call, times: left })),
    clear() {
      line = []
    },
  }
}

/** Without a path it is the platform's own endpoints that are meant. */
function fitting({ path, method }: FaultCall): (exchange: Exchange) => boolean {
  const pattern = path === undefined ? undefined : glob(path)
  return exchange =>
    (method === undefined || method === exchange.method) &&
    (pattern ? pattern.test(exchange.path) : !isAuth(exchange.path))
}

/** A call that was written in code. Throws a ProblemsError that names what is wrong with it. */
export function faultCallFromCode(call: FaultCallInput): FaultCall {
  const checked = check(faultCallSchema, call, { whole: 'the call' })
  if ('value' in checked) return checked.value
  throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'failNext', sentence })))
}
