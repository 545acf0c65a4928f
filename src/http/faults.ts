/** Applies a fault to one response: delays it, withholds it, replaces it, or damages its body while it is sent. */
import type { ServerResponse } from 'node:http'
import { faultError, type PlatformError } from '../core/errors.js'
import { appliedFaultInWords, type Exchange, type Outcome } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import type { ChosenFault } from '../faults/index.js'
import { reset, type SpoiledResponse, spoil } from './spoil.js'

interface FaultSteps {
  /** The error code for a fault with this status. */
  codeOf(status: number): string
  /** Sends the normal answer. The response itself then damages it. */
  goOn(): void
  /** Sends this error instead of the answer. */
  refuse(error: PlatformError): void
  /** Called when nothing more can be sent, whichever side ended the response. The exchange then says what was sent. */
  ended(): void
}

/** Applies the fault to a response that has sent nothing yet and has not been destroyed. */
export function applyFault(
  response: ServerResponse,
  exchange: Exchange,
  { fault, by }: ChosenFault,
  steps: FaultSteps,
): void {
  let spoilt: SpoiledResponse | undefined
  let complete = false
  response.once('finish', () => {
    complete = true
  })
  response.once('close', () => {
    const isSpoilt = spoilt?.happened() === true
    const happened = !isOnlyForBody(fault) || spoilt?.happened() !== false
    const sent = exchange.outcome ?? nothingSent
    exchange.outcome = {
      ...{ ...sent, fault: { fault, by, happened, isSpoilt }, complete },
      ...(!complete && { sentBytes: spoilt?.sentBytes() }),
    }
    steps.ended()
  })

  function begin(): void {
    if (fault.hang) return
    if (fault.reset === 'before') return reset(response)
    spoilt = spoil(response, exchange.method === 'HEAD' ? headOnly(fault) : fault)
    const { status } = fault
    if (status === undefined) return steps.goOn()
    const maker = appliedFaultInWords({ fault, by, happened: true, isSpoilt: false })
    steps.refuse(faultError({ ...fault, status }, steps.codeOf(status), `Made by the ${maker}.`))
  }

  if (fault.delayMs === undefined) return begin()
  const timer = setTimeout(begin, fault.delayMs)
  response.once('close', () => clearTimeout(timer))
}

const nothingSent: Outcome = { status: 0, error: undefined, answeredBy: undefined, complete: false }

const isOnlyForBody = ({ status, delayMs }: Fault) => status === undefined && delayMs === undefined

/** The response to HEAD has no body to damage. */
const headOnly = ({ contentType }: Fault): Fault => ({ contentType })
