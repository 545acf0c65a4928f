/** Applies a fault to one response: delays it, withholds it, replaces it, or damages its body while it is sent. */
import type { ServerResponse } from 'node:http'
import { PlatformError } from '../core/errors.js'
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

/** The default message for each status. */
const faultMessages: Readonly<Record<number, string>> = {
  400: 'The request cannot be understood.',
  401: 'The credential is not accepted.',
  402: 'The account has no credit left.',
  403: 'This is not allowed.',
  404: 'Not found.',
  408: 'The request took too long to arrive.',
  409: 'The request conflicts with another one.',
  413: 'The request body is too large.',
  422: 'The request cannot be processed.',
  429: 'Too many requests. Slow down and try again.',
  500: 'Something went wrong on the server.',
  502: 'The server behind this one gave no valid answer.',
  503: 'The service is not available at the moment. Try again later.',
  504: 'The server behind this one did not answer in time.',
  529: 'The service is overloaded. Try again later.',
}

interface ErrorFault {
  readonly status: number
  readonly message?: string | undefined
  /** In seconds. */
  readonly retryAfter?: number | undefined
}

/** The error for a fault with a status. `code` is the auth backend's code. */
const faultError = ({ status, message, retryAfter }: ErrorFault, code: string, hint: string) =>
  new PlatformError(
    status,
    code,
    message ?? faultMessages[status] ?? `The answer is an error with status ${status}.`,
    [
      ...(status === 401 ? ['www-authenticate', 'Bearer'] : []),
      ...(retryAfter === undefined ? [] : ['retry-after', String(retryAfter)]),
    ],
    { hint },
  )
