/** What a fault does to the request that it hits: it delays, replaces or damages the answer. */
import type { ServerResponse } from 'node:http'
import type { Exchange, Outcome } from '../core/exchange.js'
import { type Fault, madeError } from '../core/fault.js'
import { reset, TransformedOutlet } from '../core/outlet.js'
import { appliedFaultInWords, type Reply } from '../core/reply.js'
import { type Damage, damageOf } from './damage.js'
import { hostileReply } from './hostile.js'
import type { ChosenFault } from './index.js'
import { swallowAnswer } from './lost-answers.js'

export class Hit {
  private damage: Damage | undefined
  private outlet: TransformedOutlet | undefined

  constructor(private readonly chosen: ChosenFault) {}

  /**
   * Begins. Resolves to whether an answer is still to be made. Rejects with the error that replaces it; `codeOf` gives the
   * code of its status.
   */
  async begin(response: ServerResponse, codeOf: (status: number) => string): Promise<boolean> {
    const { fault, by } = this.chosen
    if (fault.delayMs !== undefined) await delay(fault.delayMs, response)
    if (response.destroyed || (fault.hang && !fault.lostAnswer)) return false
    if (fault.reset === 'before') {
      reset(response)
      return false
    }
    if (fault.lostAnswer) {
      swallowAnswer(response, fault.hang === true)
      return true
    }
    // The response to HEAD has no body to damage.
    this.damage = damageOf(response.req.method === 'HEAD' ? { contentType: fault.contentType } : fault)
    this.outlet = new TransformedOutlet(response, this.damage)
    const { status } = fault
    if (status === undefined) return true
    const cause = appliedFaultInWords({ fault, by, happened: true, isSpoilt: false })
    throw madeError({ ...fault, status }, codeOf(status), `Made by the ${cause}.`)
  }

  /** The answer of a hostile model in place of any other; `undefined` if this is no such fault, or it cannot apply. */
  answer(exchange: Exchange): Reply | undefined {
    const { model } = this.chosen.fault
    const reply = model && hostileReply(exchange, model)
    if (reply && this.damage) this.damage.happened = true
    return reply
  }

  /** What happens to the session of the request, if that is the fault. */
  get session(): Fault['session'] {
    return this.chosen.fault.session
  }

  /** Says whether a fault took effect that is none of the answer. */
  note(happened: boolean): void {
    if (this.damage) this.damage.happened ||= happened
  }

  get losesAnswer(): boolean {
    return this.chosen.fault.lostAnswer === true
  }

  /** The outcome of the request when its response has closed. `sent` is what it would be without the fault. */
  outcome(sent: Outcome | undefined, complete: boolean): Outcome {
    const { fault, by } = this.chosen
    const isSpoilt = this.damage?.happened === true
    const happened = !isOnlyForBody(fault) || this.damage?.happened !== false
    const outcome = sent ?? noOutcome
    const sentBytes = complete ? outcome.sentBytes : this.outlet?.sentBytes
    return { ...outcome, fault: { fault, by, happened, isSpoilt }, complete, sentBytes }
  }
}

const noOutcome: Outcome = { status: 0, error: undefined, answeredBy: undefined, complete: false }

const isOnlyForBody = ({ status, delayMs }: Fault) => status === undefined && delayMs === undefined

/** Waits for this long, or until the client has left. */
const delay = (ms: number, response: ServerResponse) =>
  new Promise<void>(resolve => {
    const timer = setTimeout(resolve, ms)
    response.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
