/** Applies a fault to one response: delays it, withholds it, replaces it, or damages its body while it is sent. */
import type { ServerResponse } from 'node:http'
import { faultError, type PlatformError } from '../core/errors.js'
import type { Exchange, Outcome } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import { appliedFaultInWords } from '../core/reply.js'
import type { ChosenFault } from '../faults/index.js'
import { type DamagedWriter, damageResponse, reset } from './damage-response.js'

interface FaultSteps {
  /** Returns the error code for a fault with this status. */
  codeOf(status: number): string
  /** Sends the normal answer, which is then damaged. */
  sendAnswer(): void
  /** Sends this error instead of the answer. */
  refuse(error: PlatformError): void
  /** Called when the response has closed, and the exchange's outcome says what was sent. */
  ended(): void
}

/** Applies the fault to a response that has sent nothing yet and has not been destroyed. */
export function applyFault(
  response: ServerResponse,
  exchange: Exchange,
  { fault, by }: ChosenFault,
  steps: FaultSteps,
): void {
  let damaged: DamagedWriter | undefined
  let complete = false
  response.once('finish', () => {
    complete = true
  })
  response.once('close', () => {
    const isSpoilt = damaged?.happened === true
    const happened = !isOnlyForBody(fault) || damaged?.happened !== false
    const outcome = exchange.outcome ?? noOutcome
    exchange.outcome = {
      ...{ ...outcome, fault: { fault, by, happened, isSpoilt }, complete },
      ...(!complete && { sentBytes: damaged?.sentBytes }),
    }
    steps.ended()
  })

  function begin(): void {
    if (fault.hang) return
    if (fault.reset === 'before') return reset(response)
    damaged = damageResponse(response, exchange.method === 'HEAD' ? headOnly(fault) : fault)
    const { status } = fault
    if (status === undefined) return steps.sendAnswer()
    const cause = appliedFaultInWords({ fault, by, happened: true, isSpoilt: false })
    steps.refuse(faultError({ ...fault, status }, steps.codeOf(status), `Made by the ${cause}.`))
  }

  if (fault.delayMs === undefined) return begin()
  const timer = setTimeout(begin, fault.delayMs)
  response.once('close', () => clearTimeout(timer))
}

const noOutcome: Outcome = { status: 0, error: undefined, answeredBy: undefined, complete: false }

const isOnlyForBody = ({ status, delayMs }: Fault) => status === undefined && delayMs === undefined

/** The response to HEAD has no body to damage. */
const headOnly = ({ contentType }: Fault): Fault => ({ contentType })
