/** Holds: requests wait at a piece of their answer until a test lets them go. The only entry point of this part. */
import { quotedStart, refusal } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { type HoldAction, type HoldCall, type HoldState, titleOf } from './call.js'

export { type HoldAction, type HoldCall, type HoldState, holdActionSchema, holdFromCode } from './call.js'

// Saved before a test can install fake timers, so that these do not affect waiting.
const { setTimeout, clearTimeout } = globalThis

/** Why a request does not match, each without a full stop; empty if it does, `undefined` if it is of another kind. */
type Differences = (exchange: Exchange) => Promise<readonly string[] | undefined>

/** What a caller waits for: that a request has reached the hold, or that its client has left, for the `count`th time. */
export interface HoldWait {
  readonly wait: 'reached' | 'aborted'
  readonly count: number
  readonly timeoutMs: number
}

interface Hold {
  readonly id: string
  readonly call: HoldCall
  readonly differences: Differences
  /** The requests that it has taken and that have not ended, in the order in which they came. */
  readonly taken: Set<Holding>
  readonly watchers: Set<() => void>
  timesLeft: number
  reached: number
  aborted: number
  isRemoved: boolean
  /** What came of the request that was nearest to it. */
  nearest: { readonly sentence: string; readonly differences: number } | undefined
}

/** One request that a hold has taken. */
export class Holding {
  private letGoWith: ((action: HoldAction) => void) | undefined
  private wasReached = false
  /** An error can only replace an answer that is not being made yet. */
  mayFail = false

  constructor(private readonly hold: Hold) {
    hold.taken.add(this)
  }

  get id(): string {
    return this.hold.id
  }

  get after(): number {
    return this.hold.call.after
  }

  get isWaiting(): boolean {
    return this.letGoWith !== undefined
  }

  /** The request waits from now on. Calls `act` once with what happens to it, unless the client leaves before. */
  wait(act: (action: HoldAction) => void, { isBeforeAnswer = false } = {}): void {
    if (this.hold.isRemoved) return act({ action: 'release' })
    this.letGoWith = act
    this.mayFail = isBeforeAnswer
    this.wasReached = true
    this.hold.reached++
    notify(this.hold)
  }

  letGo(action: HoldAction): void {
    const { letGoWith } = this
    this.letGoWith = undefined
    letGoWith?.(action)
  }

  /** Called when the exchange has ended. */
  close(isAborted: boolean): void {
    const { hold, wasReached } = this
    this.letGoWith = undefined
    hold.taken.delete(this)
    if (isAborted) hold.aborted++
    else if (!wasReached) hold.nearest = { sentence: ENDED_BEFORE, differences: 0 }
    notify(hold)
  }
}

const ENDED_BEFORE = 'A request matched, but its answer ended before that: a whole answer has no pieces.'

const notify = ({ watchers }: Hold): void => {
  for (const look of watchers) look()
}

interface HoldsOptions {
  /** Compiles the conditions of a hold. Throws a ProblemsError that names the mistakes. */
  readonly compile: (call: Pick<HoldCall, 'on' | 'when'>) => Differences
  /** Called when the first hold waits for requests, and when none does any more. */
  readonly onSwitched: () => void
}

/** Limited, because each request searches them. */
const MOST_HOLDS = 10_000

/** The holds of a platform. They survive a reload. */
export class Holds {
  private readonly all = new Map<string, Hold>()
  /** Those that wait for requests. */
  private waiting: readonly Hold[] = []
  private count = 0

  constructor(private readonly options: HoldsOptions) {}

  /** Holds the next requests that match. Throws a ProblemsError for unknown conditions, and a 409 if there are too many holds. */
  add(call: HoldCall): { readonly id: string } {
    const hold = this.create(call, this.options.compile(call))
    this.setWaiting([...this.waiting, hold])
    return { id: hold.id }
  }

  /** Holds one request that is under way. */
  addFor({ scope }: Exchange): Holding {
    return this.claim(this.create({ after: 0, times: 1, scope }, async () => undefined))
  }

  areWaiting(): boolean {
    return this.waiting.length > 0
  }

  /** The first hold for a request, which then counts as taken. */
  async take(exchange: Exchange): Promise<Holding | undefined> {
    for (const hold of this.waiting) {
      if (hold.call.scope !== undefined && hold.call.scope !== exchange.scope) continue
      const differences = await hold.differences(exchange)
      if (differences === undefined || hold.timesLeft === 0) continue
      if (differences.length === 0) return this.claim(hold)
      if (differences.length <= (hold.nearest?.differences ?? Number.POSITIVE_INFINITY))
        hold.nearest = { sentence: nearMiss(exchange, differences), differences: differences.length }
    }
    return undefined
  }

  /** The holds of a scope, or all, with what came of them. */
  list(scope?: string): readonly HoldState[] {
    return [...this.all.values()].filter(isInScope(scope)).map(stateOf)
  }

  /** Says what happens to the request that has waited longest, of those that are meant. Throws a 404 or a 409. */
  act(id: string, action: HoldAction, isMeant: (holding: Holding) => boolean = () => true): void {
    const hold = this.get(id)
    if (hold.reached === 0) throw notReached(titleOf(hold))
    // Its client may have left just now, which no caller can know.
    const first = [...hold.taken].find(one => one.isWaiting && isMeant(one))
    if (action.action === 'fail' && first?.mayFail === false) throw answerHasBegun()
    first?.letGo(action)
  }

  /** The state of a hold, at once or when it is as wanted, but after `timeoutMs` at the latest. Rejects with a 404 if there is none. */
  async state(id: string, wanted?: HoldWait): Promise<HoldState> {
    const hold = this.get(id)
    if (!wanted) return stateOf(hold)
    const { wait, count, timeoutMs } = wanted
    await new Promise<void>(resolve => {
      const timer = setTimeout(finish, timeoutMs)
      const look = () => void ((hold[wait] >= count || hold.isRemoved) && finish())
      function finish(): void {
        clearTimeout(timer)
        hold.watchers.delete(look)
        resolve()
      }
      hold.watchers.add(look)
      look()
    })
    if (hold.isRemoved && hold[wait] < count) throw noSuchHold(id)
    return stateOf(hold)
  }

  /** Removes a hold and lets its requests go on. Returns whether it existed. */
  remove(id: string): boolean {
    const existed = this.all.has(id)
    this.forget(hold => hold.id === id)
    return existed
  }

  /** The same for the holds of a scope, or all. */
  reset({ scope }: { readonly scope?: string | undefined } = {}): void {
    this.forget(isInScope(scope))
  }

  /** Ends all requests that wait. */
  close(): void {
    this.forget(() => true, { action: 'cut' })
  }

  private create(call: HoldCall, differences: Differences): Hold {
    if (this.all.size >= MOST_HOLDS) this.forget(({ timesLeft, taken }) => timesLeft === 0 && taken.size === 0)
    if (this.all.size >= MOST_HOLDS) throw tooManyHolds()
    const id = `hold-${++this.count}`
    const counts = { timesLeft: call.times, reached: 0, aborted: 0, isRemoved: false, nearest: undefined }
    const hold = { id, call, differences, taken: new Set<Holding>(), watchers: new Set<() => void>(), ...counts }
    this.all.set(id, hold)
    return hold
  }

  private claim(hold: Hold): Holding {
    hold.timesLeft--
    if (hold.timesLeft === 0) this.setWaiting(this.waiting.filter(other => other !== hold))
    return new Holding(hold)
  }

  private forget(isOne: (hold: Hold) => boolean, action: HoldAction = { action: 'release' }): void {
    const removed = [...this.all.values()].filter(isOne)
    for (const hold of removed) {
      this.all.delete(hold.id)
      hold.isRemoved = true
      hold.timesLeft = 0
    }
    this.setWaiting(this.waiting.filter(({ isRemoved }) => !isRemoved))
    for (const hold of removed) {
      for (const holding of hold.taken) holding.letGo(action)
      notify(hold)
    }
  }

  private setWaiting(next: readonly Hold[]): void {
    const isSwitched = next.length > 0 !== this.areWaiting()
    this.waiting = next
    if (isSwitched) this.options.onSwitched()
  }

  private get(id: string): Hold {
    const hold = this.all.get(id)
    if (!hold) throw noSuchHold(id)
    return hold
  }
}

const isInScope =
  (scope: string | undefined) =>
  ({ call }: Hold) =>
    scope === undefined || call.scope === scope

const nearMiss = ({ method, path }: Exchange, differences: readonly string[]) =>
  `The nearest request was ${method} ${path}: ${differences.join('; ')}.`

function stateOf(hold: Hold): HoldState {
  const { id, call, timesLeft, reached, aborted, taken, nearest } = hold
  const waiting = [...taken].filter(({ isWaiting }) => isWaiting).length
  const hint = reached > 0 ? null : (nearest?.sentence ?? null)
  return { id, ...call, times: timesLeft, title: titleOf(hold), reached, aborted, waiting, hint }
}

export const noSuchHold = (id: string) =>
  refusal(404, 'no_such_hold', `There is no hold with the id ${quotedStart(id, 40)}. A reset removes all holds.`)

const notReached = (title: string) =>
  refusal(409, 'hold_not_reached', `No request waits yet at ${title}. Wait until it is reached.`)

const answerHasBegun = () =>
  refusal(409, 'answer_has_begun', 'Only a request that waits before its answer can fail. Use cut or end.')

const tooManyHolds = () =>
  refusal(409, 'too_many_holds', `There can be at most ${MOST_HOLDS} holds. Remove some: POST /__standin/reset.`)
