/** The `requestState` of a call without a session, which the client sends back with its next attempt. It is signed, and bound to caller and call. */
import { createHmac, hash, randomBytes } from 'node:crypto'
import { stringifyExact } from '../core/json.js'
import { isSameSecret } from '../core/secrets.js'
import { RpcError, rpcCodes } from '../rpc/frames.js'

/** The state of a call that has asked the client. */
export interface CallProgress {
  /** The place of the rule, and how often it has answered. */
  readonly place: string
  readonly count: number
  readonly answers: Readonly<Record<string, unknown>>
}

/** What a state is bound to. */
export interface Binding {
  readonly holder: string
  readonly call: string
}

export type RequestStates = ReturnType<typeof createRequestStates>

/** Long enough for a person to fill in a form. */
const VALID_MS = 600_000

const digestOf = ({ holder, call }: Binding) => hash('sha256', stringifyExact([holder, call]), 'base64url')

export function createRequestStates(now: () => number) {
  const key = randomBytes(32)
  const sign = (payload: string) => createHmac('sha256', key).update(payload).digest('base64url')
  return {
    seal(progress: CallProgress, binding: Binding): string {
      const json = stringifyExact({ ...progress, bound: digestOf(binding), untilMs: now() + VALID_MS })
      const payload = Buffer.from(json).toString('base64url')
      return `${payload}.${sign(payload)}`
    },
    /** Throws an RpcError for a state that was changed, has expired, or belongs to another caller or call. */
    open(state: unknown, binding: Binding): CallProgress {
      const [payload = '', signature = '', ...more] = typeof state === 'string' ? state.split('.') : []
      if (more.length > 0 || !isSameSecret(sign(payload), signature))
        throw invalidState('it was changed, or was not created by this server')
      const opened = JSON.parse(Buffer.from(payload, 'base64url').toString()) as CallProgress & {
        readonly bound: string
        readonly untilMs: number
      }
      if (opened.bound !== digestOf(binding)) throw invalidState('it belongs to another caller or another call')
      if (now() >= opened.untilMs) throw invalidState('it has expired')
      return opened
    },
  }
}

const invalidState = (why: string) => new RpcError(rpcCodes.invalidParams, `Invalid requestState: ${why}.`)
