/** Faults for the next requests and faults by chance, over all reloads. */
import type { FaultCall, FaultCallInput } from '../core/fault.js'
import { type Chances, createChances, createFaultCalls, type FaultCalls, faultCallFromCode } from '../faults/index.js'
import type { Part } from './part.js'
import { loadReplies, type RepliesPart } from './rules.js'

export interface FaultsPart extends Part {
  readonly calls: FaultCalls
  readonly chances: Chances
  /** Puts a fault in line for the next requests. Rejects with a ProblemsError for conditions that make no sense. */
  add(call: FaultCall): Promise<{ readonly id: string }>
  /** The same at once, for code. Throws a ProblemsError for a fault that makes no sense. */
  failNext(call: FaultCallInput): void
}

/** `renew` puts the request line together again. */
export function createFaultsPart(renew: () => void): FaultsPart {
  const calls = createFaultCalls(renew)
  const chances = createChances()
  let replies: RepliesPart | undefined

  function addWith({ conditionsOn }: RepliesPart, call: FaultCall) {
    if (call.when === undefined) return calls.add(call)
    const { when, fit } = conditionsOn(call.when)
    return calls.add({ ...call, when: { ...when } }, fit)
  }

  return {
    calls,
    chances,
    add: async call => addWith(await loadReplies(), call),
    failNext(call) {
      if (!replies) throw new Error('The platform is not open yet.')
      addWith(replies, faultCallFromCode(call))
    },
    async open() {
      replies = await loadReplies()
    },
    reset({ scope }) {
      calls.clear(scope)
      chances.forget(scope)
    },
  }
}
