/** Faults for the next requests, which wait in a queue until they have hit the given number of requests, and random draws. */
import { createHash, hash } from 'node:crypto'
import { check } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import { tooManyFaults } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { type Fault, type FaultCall, type FaultCallInput, faultCallSchema, type SessionFault } from '../core/fault.js'
import { unverifiedFields } from '../core/json.js'
import { AUTH, glob, isAuth } from '../core/paths.js'
import { createByScope } from '../core/scope.js'
import { goesOnWithLoop, LOOP_TURNS } from './hostile.js'
import { createLostAnswers } from './lost-answers.js'

/** A fault that is waiting for requests. */
export interface WaitingFault extends Omit<FaultCall, 'times'> {
  readonly id: string
  /** How many more requests it will hit. */
  readonly times: number
}

type Matches = (exchange: Exchange) => boolean

interface Waiting {
  readonly call: FaultCall
  readonly id: string
  /** Its name for the random draw: its number among the calls of its scope. */
  readonly entry: string
  matches: Matches
  timesLeft: number
  /** Whether it goes on with the conversation that it has hit. */
  isLooping?: true
  /** Whether it stays when everything is reset. */
  readonly isLasting: boolean
}

/** The queue is limited, because each request searches it. */
const MOST_WAITING = 10_000

export class FaultCalls {
  readonly lost = createLostAnswers()
  #queue: readonly Waiting[] = []
  #count = 0
  readonly #counts = createByScope(() => ({ calls: 0 }))

  /** `onSwitched` is called when the queue gets its first fault, and when it becomes empty. */
  constructor(
    private readonly onSwitched: () => void = () => {},
    private readonly most = MOST_WAITING,
  ) {}

  /**
   * Adds a fault to the end of the queue; throws a 409 if the queue is full. Applies only to requests that match
   * `conditions`, the compiled form of `when`. A lasting one stays when everything is reset.
   */
  add(call: FaultCall, conditions?: Matches, isLasting = false): { readonly id: string } {
    if (this.#queue.length >= this.most) throw tooManyFaults(this.most)
    const id = `fault-${++this.#count}`
    // A count instead of a random id, so that draws are the same in every run, whatever other scopes do.
    const entry = `fault-${++this.#counts.get(call.scope ?? '').calls}`
    const matches = matcherOf(call, conditions)
    this.#set([...this.#queue, { call, id, entry, matches, timesLeft: call.times, isLasting }])
    return { id }
  }

  /**
   * Returns the first waiting fault that applies to this request. `occurs` draws by its chance, and only a fault that
   * happens counts as a hit.
   */
  take(exchange: Exchange, occurs: (fault: Fault, entry: string) => boolean): Fault | undefined {
    const first = this.#queue.find(({ call, entry, matches }) => matches(exchange) && occurs(call.fault, entry))
    if (!first) return undefined
    first.timesLeft--
    if (first.call.fault.model === 'loop' && first.timesLeft === 0) loop(first)
    if (first.timesLeft === 0) this.#set(this.#queue.filter(waiting => waiting !== first))
    return first.call.fault
  }

  areWaiting(): boolean {
    return this.#queue.length > 0
  }

  /** The waiting faults in order: of a scope, or all. */
  waiting(scope?: string): readonly WaitingFault[] {
    const inScope = this.#queue.filter(isInScope(scope))
    return inScope.map(({ call, id, timesLeft }) => ({ id, ...call, times: timesLeft }))
  }

  /** Removes the faults of a scope, or all. */
  clear(scope?: string): void {
    this.#counts.forget(scope)
    this.lost.clear(scope)
    this.#set(this.#queue.filter(waiting => waiting.isLasting || !isInScope(scope)(waiting)))
  }

  /** Removes the fault with this id. Returns whether it existed. */
  remove(id: string): boolean {
    const before = this.#queue.length
    this.#set(this.#queue.filter(waiting => waiting.id !== id))
    return this.#queue.length < before
  }

  #set(next: readonly Waiting[]): void {
    const isSwitched = next.length > 0 !== this.#queue.length > 0
    this.#queue = next
    if (isSwitched) this.onSwitched()
  }
}

/** A model that asks for the same tool for ever does so in one conversation, each time that it gets the result. */
function loop(waiting: Waiting): void {
  if (waiting.isLooping) return
  const { scope = '' } = waiting.call
  waiting.isLooping = true
  waiting.timesLeft = LOOP_TURNS - 1
  waiting.matches = exchange => (scope === '' || scope === exchange.scope) && goesOnWithLoop(exchange)
}

/** Whether a call was made for a scope. A call for all requests has the empty scope. */
const isInScope =
  (scope: string | undefined) =>
  ({ call }: Waiting) =>
    scope === undefined || (call.scope ?? '') === scope

/** Without a path, the fault applies to the platform's own endpoints; one of a session, to any request that it concerns. */
function matcherOf({ path, method, scope = '', fault }: FaultCall, conditions: Matches = () => true): Matches {
  const pattern = path === undefined ? undefined : glob(path)
  return exchange =>
    (scope === '' || scope === exchange.scope) &&
    (method === undefined || method === exchange.method) &&
    (pattern?.test(exchange.path) ?? (fault.session !== undefined || !isAuth(exchange.path))) &&
    (fault.session === undefined || isOfSession(exchange, fault.session)) &&
    conditions(exchange)
}

/** Whether a fault of a session can be played at this request. */
function isOfSession({ path, query, authorization = '' }: Exchange, what: SessionFault): boolean {
  if (what === 'link-used') return path === `${AUTH}/verify`
  if (what === 'refresh-used') return path === `${AUTH}/token` && query.includes('grant_type=refresh_token')
  return unverifiedFields(authorization.split('.')[1]).session_id !== undefined
}

/** Validates a call made from code. Throws a ProblemsError that names the mistakes. */
export function faultCallFromCode(call: FaultCallInput): FaultCall {
  const checked = check(faultCallSchema, call, { whole: 'the call' })
  if ('value' in checked) return checked.value
  throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'failNext', sentence })))
}

export type Chances = ReturnType<typeof createChances>

/**
 * Draws random numbers that are the same for the same seed and requests, in whatever order requests arrive. Counts the
 * last `maxRequests` different requests. One that is repeated only after that many others starts again from zero.
 */
export function createChances(maxRequests = 10_000) {
  const timesOf = new Map<string, number>()
  const names = new WeakMap<Exchange, string>()

  /** Identifies the request and its repetition. Each exchange counts once, however many numbers are drawn for it. */
  function named(exchange: Exchange): string {
    const known = names.get(exchange)
    if (known !== undefined) return known
    const request = digestOf(exchange)
    // A scope draws the same numbers as it would alone.
    const key = `${request} ${exchange.scope}`
    const times = timesOf.get(key) ?? 0
    // Inserted again, so that the least recently used one comes first. Written by hand, because this is loaded at every
    // start, and lru-cache is not.
    timesOf.delete(key)
    timesOf.set(key, times + 1)
    if (timesOf.size > maxRequests) timesOf.delete(timesOf.keys().next().value ?? '')
    const name = `${request} ${times}`
    names.set(exchange, name)
    return name
  }

  return {
    /**
     * Returns a number from 0 up to, but not including, 1. It depends on `seed`, on the purpose (`entry`), on the
     * request, and on how often the request was repeated: a retry draws again.
     */
    draw: (exchange: Exchange, seed: number, entry: string) =>
      fractionOf(hash('sha256', `${seed} ${entry} ${named(exchange)}`, 'hex')),
    /** Restarts counting for the requests of a scope, or of all scopes if none is given. */
    forget(scope?: string): void {
      for (const key of timesOf.keys())
        if (scope === undefined || key.slice(key.indexOf(' ') + 1) === scope) timesOf.delete(key)
    },
  }
}

function digestOf({ method, path, query, body }: Exchange): string {
  const digest = createHash('sha256').update(`${method} ${path}?${query}\n`)
  if (body) digest.update(body)
  return digest.digest('base64')
}

/** 48 bits are enough, and a number represents them exactly. */
const fractionOf = (hex: string) => Number.parseInt(hex.slice(0, 12), 16) / 2 ** 48
