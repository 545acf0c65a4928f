/** Which fault hits a request: the only entry point of this part. */
import { settingsIn } from '../check/check.js'
import { invalidRequest } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { type Fault, faultSchema, type RandomFault } from '../core/fault.js'
import { glob } from '../core/paths.js'
import type { AnsweredBy, AppliedFault } from '../core/reply.js'
import type { Chances, FaultCalls } from './calls.js'
import type { LostAnswers } from './lost-answers.js'

export {
  type Chances,
  createChances,
  FaultCalls,
  faultCallFromCode,
  type WaitingFault,
} from './calls.js'
export { LOOP_ID, LOOP_TURNS, onlyReads } from './hostile.js'
export { REPLAYED_HEADER } from './lost-answers.js'

/** A fault that hits a request. */
export interface ChosenFault {
  readonly fault: Fault
  /** Where it comes from, for the log; nothing if the log says so already. */
  readonly by?: AppliedFault['by']
}

/** From the strongest to the weakest: the request's own header, a call, the rule that gave the answer, chance. */
export interface Faults {
  /** Whether there are random faults. */
  readonly areRandom: boolean
  /** Whether a fault from a call or by chance may apply before there is an answer. */
  mayApply(): boolean
  /** The fault from the request's header or from a call, known before there is an answer. Throws a 400 for an invalid header. */
  requested(exchange: Exchange): ChosenFault | undefined
  /** The answers that faults have lost. */
  readonly lost: LostAnswers
  /** The fault of the rule that answered, or else a random one. Call it once per exchange, and only if no fault was `requested`. */
  ruledOrRandom(exchange: Exchange, answer?: Ruled): ChosenFault | undefined
}

/** The part of an answer that came from a rule. */
interface Ruled {
  readonly fault?: Fault | undefined
  readonly answeredBy?: AnsweredBy | undefined
}

interface Parts {
  readonly random: readonly RandomFault[]
  readonly seed: number
  readonly calls: FaultCalls
  readonly chances: Chances
}

/** The header with which a request asks for a fault. */
export const FAULT_HEADER = 'x-standin-fault'

export function createFaults({ random, seed, calls, chances }: Parts): Faults {
  const entries = random.map(({ path, ...fault }, i) => ({ fault, path: glob(path), by: `faults.random[${i}]` }))
  const occurs = (exchange: Exchange, { chance }: Fault, entry: string) =>
    chance === undefined || chances.draw(exchange, seed, entry) < chance

  return {
    areRandom: entries.length > 0,
    lost: calls.lost,
    mayApply: () => entries.length > 0 || calls.areWaiting(),
    requested(exchange) {
      const text = exchange.headers[FAULT_HEADER]
      if (text !== undefined) {
        const settings = settingsIn(String(text), faultSchema)
        if ('sentence' in settings) throw invalidRequest(`Header ${FAULT_HEADER}: ${settings.sentence}`)
        const fault = settings.value
        if (occurs(exchange, fault, FAULT_HEADER)) return { fault, by: FAULT_HEADER }
      }
      const called = calls.take(exchange, (fault, entry) => occurs(exchange, fault, entry))
      return called && { fault: called, by: 'one-shot' }
    },
    ruledOrRandom(exchange, { fault: ruled, answeredBy } = {}) {
      if (ruled && occurs(exchange, ruled, 'rule')) {
        // A fault that replaces the answer names the rule that it replaced. For one that damages it, the source is already shown.
        return ruled.status === undefined || !answeredBy ? { fault: ruled } : { fault: ruled, by: answeredBy }
      }
      return entries.find(({ fault, path, by }) => path.test(exchange.path) && occurs(exchange, fault, by))
    },
  }
}
