/** Holds requests from a test, and lets them go. */

import { closed, optional } from '../check/forms.js'
import { plainJson } from '../check/plain-json.js'
import { type HoldAction, type HoldState, type HoldWait, holdActionSchema, holdFromCode } from '../holds/index.js'
import type { Platform } from '../platform.js'
import type { RuleInput } from '../replies/index.js'
import type { Door, ScopeQuery } from './door.js'
import { inputCheck, milliseconds } from './input-check.js'
import { DEFAULT_TIMEOUT_MS } from './waiting.js'

type Conditions<R = RuleInput> = R extends RuleInput ? Pick<R, 'when' | Extract<keyof R, 'on'>> : never

/** Which requests are held, and where. */
export type HoldInput = Conditions & {
  /** How many pieces of a stream are sent before it waits: events with data, without `[DONE]`. 0, the default, is before the answer. */
  readonly after?: number | undefined
  /** How many requests are held. Default 1. */
  readonly times?: number | undefined
  /** Its name in messages. */
  readonly name?: string | undefined
}

interface HoldWaitOptions {
  /** How long to wait, in milliseconds. Default 3000. */
  readonly timeoutMs?: number | undefined
}

/** The error that a held request gets in place of its answer. */
type HoldFailure = Readonly<Omit<HoldAction, 'action'>>

/** A hold. With `times`, each method is about one request at a time: the first call about the first one, the next call about the next. */
export interface HeldRequests {
  readonly id: string
  /** Resolves when a request waits at the hold. */
  reached(options?: HoldWaitOptions): Promise<void>
  /** Resolves when the client of a request has left before the end of its answer, while it was held or afterwards. */
  aborted(options?: HoldWaitOptions): Promise<void>
  /** Lets the request go on that has waited longest. */
  release(): Promise<void>
  /** Closes its connection. */
  cut(): Promise<void>
  /** Ends its answer normally, as if it were complete. Before the answer: with an empty body. */
  end(): Promise<void>
  /** Answers it with an error. It must wait before its answer. */
  fail(error?: HoldFailure): Promise<void>
  /** Removes the hold and lets all its requests go. */
  remove(): Promise<void>
}

const waitOptions = inputCheck('reached', closed({ timeoutMs: optional(milliseconds, 'How long to wait.') }))
const actionFromCode = inputCheck('fail', holdActionSchema)

/** The longest that the control API waits at once. */
const MOST_WAIT_MS = 60_000

export const createHoldAbility =
  ({ control }: Pick<Door, 'control'>, scopeQuery: ScopeQuery) =>
  async (input: HoldInput = {}): Promise<HeldRequests> => {
    const call = plainJson({ ...scopeQuery, ...input }, { origin: 'hold', isRule: true })
    holdFromCode(call)
    const { id } = await control('POST /holds', { body: call as never })
    const waitFor = (what: HoldWait['wait'], sentence: (title: string) => string) => {
      let count = 0
      return async (options: HoldWaitOptions = {}): Promise<void> => {
        const { timeoutMs = DEFAULT_TIMEOUT_MS } = waitOptions(options)
        const wanted = ++count
        for (let leftMs = Math.ceil(timeoutMs); ; leftMs -= MOST_WAIT_MS) {
          const query = { wait: what, count: wanted, timeoutMs: Math.min(leftMs, MOST_WAIT_MS) }
          const state = await control('GET /holds/{id}', { id, query })
          if (state[what] >= wanted) return
          if (leftMs <= MOST_WAIT_MS)
            throw new Error(`${sentence(state.title)} within ${timeoutMs} ms.${hintOf(state)}`)
        }
      }
    }
    const act = async (action: HoldAction) => control('POST /holds/{id}', { id, body: actionFromCode(action) })
    return {
      id,
      reached: waitFor('reached', title => `No request reached ${title},`),
      aborted: waitFor('aborted', title => `No client left ${title},`),
      release: () => act({ action: 'release' }),
      cut: () => act({ action: 'cut' }),
      end: () => act({ action: 'end' }),
      fail: error => act({ action: 'fail', ...error }),
      remove: () =>
        control('DELETE /holds/{id}', { id }).catch(async error => {
          // A reset may have removed it already.
          const { data } = await control('GET /holds')
          if (data.some(hold => hold.id === id)) throw error
        }),
    }
  }

const hintOf = ({ hint }: HoldState) => (hint === null ? '' : ` ${hint}`)

/** A sentence for each hold that no request has reached. */
export const unreachedHolds = (holds: readonly HoldState[]): readonly string[] =>
  holds.filter(({ reached }) => reached === 0).map(state => `No request reached ${state.title}.${hintOf(state)}`)

/** The holds at which requests wait. */
export const waitingHolds = ({ holds }: Pick<Platform, 'holds'>): readonly string[] =>
  holds.list().flatMap(({ title, waiting }) => Array<string>(waiting).fill(title))
