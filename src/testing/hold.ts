/** Holds requests from a test, and lets them go. */

import { closed, optional } from '../check/forms.js'
import { plainJson } from '../check/plain-json.js'
import { type HoldAction, type HoldState, type HoldWait, holdActionSchema, holdFromCode } from '../holds/index.js'
import type { Platform } from '../platform.js'
import type { RuleInput } from '../replies/index.js'
import { inputCheck, milliseconds } from './input-check.js'
import type { Awaitable } from './journal.js'
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
export interface SharedHeldRequests<R extends Awaitable<void> = Awaitable<void>> {
  readonly id: string
  /** Resolves when a request waits at the hold. */
  reached(options?: HoldWaitOptions): Promise<void>
  /** Resolves when the client of a request has left before the end of its answer, while it was held or afterwards. */
  aborted(options?: HoldWaitOptions): Promise<void>
  /** Lets the request go on that has waited longest. */
  release(): R
  /** Closes its connection. */
  cut(): R
  /** Ends its answer normally, as if it were complete. Before the answer: with an empty body. */
  end(): R
  /** Answers it with an error. It must wait before its answer. */
  fail(error?: HoldFailure): R
  /** Removes the hold and lets all its requests go. */
  remove(): R
}

/** The same for a platform in this process. */
export type HeldRequests = SharedHeldRequests<void>

/** Where a hold is: in this process, or in another one. */
interface HoldSource<R> {
  wait(query: HoldWait): Promise<HoldState>
  act(action: HoldAction): R
  remove(): R
}

const waitOptions = inputCheck('reached', closed({ timeoutMs: optional(milliseconds, 'How long to wait.') }))

/** The longest that the control API waits at once. */
const MOST_WAIT_MS = 60_000

export function heldBy<R extends Awaitable<void>>(
  id: string,
  { wait, act, remove }: HoldSource<R>,
): SharedHeldRequests<R> {
  const waitFor = (what: HoldWait['wait'], sentence: (title: string) => string) => {
    let count = 0
    return async (options: HoldWaitOptions = {}): Promise<void> => {
      const { timeoutMs = DEFAULT_TIMEOUT_MS } = waitOptions(options)
      const wanted = ++count
      for (let leftMs = timeoutMs; ; leftMs -= MOST_WAIT_MS) {
        const state = await wait({ wait: what, count: wanted, timeoutMs: Math.min(leftMs, MOST_WAIT_MS) })
        if (state[what] >= wanted) return
        if (leftMs <= MOST_WAIT_MS) throw new Error(`${sentence(state.title)} within ${timeoutMs} ms.${hintOf(state)}`)
      }
    }
  }
  return {
    id,
    reached: waitFor('reached', title => `No request reached ${title},`),
    aborted: waitFor('aborted', title => `No client left ${title},`),
    release: () => act({ action: 'release' }),
    cut: () => act({ action: 'cut' }),
    end: () => act({ action: 'end' }),
    fail: error => act({ action: 'fail', ...error }),
    remove,
  }
}

const actionFromCode = inputCheck('fail', holdActionSchema)

const hintOf = ({ hint }: HoldState) => (hint === null ? '' : ` ${hint}`)

export const createHoldAbility =
  ({ holds }: Pick<Platform, 'holds'>, scope?: string) =>
  (input: HoldInput = {}): HeldRequests => {
    const call = plainJson({ ...(scope !== undefined && { scope }), ...input }, { origin: 'hold', isRule: true })
    const { id } = holds.add(holdFromCode(call))
    return heldBy<void>(id, {
      wait: query => holds.state(id, query),
      act: action => holds.act(id, actionFromCode(action)),
      remove: () => void holds.remove(id),
    })
  }

/** Throws an Error that names the holds that no request has reached. */
export function requireReached(holds: readonly HoldState[]): void {
  const unreached = holds.filter(({ reached }) => reached === 0)
  if (unreached.length === 0) return
  const sentences = unreached.map(state => `No request reached ${state.title}.${hintOf(state)}`)
  throw new Error(sentences.join('\n'))
}

/** The holds at which requests wait. */
export const waitingHolds = ({ holds }: Pick<Platform, 'holds'>): readonly string[] =>
  holds.list().flatMap(({ title, waiting }) => Array<string>(waiting).fill(title))
