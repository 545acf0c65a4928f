/** What a hold does to a request: it waits before its answer is made, or between the pieces of its answer. */
import type { ServerResponse } from 'node:http'
import { dataOf, wholeEvents } from '../chat/events.js'
import { quotedStart, refusal } from '../core/errors.js'
import type { Outcome, RequestContext } from '../core/exchange.js'
import { madeError } from '../core/fault.js'
import { headerIn } from '../core/http.js'
import { type Ending, type Transform, TransformedOutlet } from '../core/outlet.js'
import type { HoldAction, Holding, Holds } from './index.js'
import type { UnderWay } from './operations.js'

/**
 * Holds a request that a hold is for, before its answer is made if the hold says so. Resolves to whether an answer is still
 * wanted. Throws the error that a test lets it fail with; `codeOf` gives the code of its status.
 */
export async function holdBeforeAnswer(
  context: RequestContext<HeldRequest>,
  holds: Holds,
  codeOf: (status: number) => string,
): Promise<boolean> {
  const { response, exchange } = context
  const holding = await holds.take(exchange)
  if (!holding) return true
  // `close` has already fired.
  if (response.destroyed) {
    holding.close(true)
    return false
  }
  const held = new HeldRequest(response, holding)
  context.held = held
  if (holding.after > 0) return true
  const { action, status = 500, ...more } = await held.beforeAnswer()
  if (action === 'fail') throw madeError({ ...more, status }, codeOf(status), `Made by ${held.id}.`)
  return action !== 'cut' && !response.destroyed
}

/** A request that a hold has taken. As a transform, it lets pieces pass until it has to wait. */
export class HeldRequest implements Transform {
  private outlet: TransformedOutlet | undefined
  private isStream = false
  /** Whether the body ends with its head. */
  private endsAtHead = false
  private isShort = false
  /** Those that were put on the request while it was under way. */
  private readonly later: Holding[] = []
  private goOn: (() => void) | undefined
  private waits: Promise<void> | undefined

  constructor(
    private readonly response: ServerResponse,
    private readonly holding: Holding,
  ) {
    response.once('close', () => this.close())
  }

  /** The id of the hold. */
  get id(): string {
    return (this.later.find(({ isWaiting }) => isWaiting) ?? this.holding).id
  }

  isHeldBy(holding: Holding): boolean {
    return holding === this.holding || this.later.includes(holding)
  }

  get isWaiting(): boolean {
    return [this.holding, ...this.later].some(({ isWaiting }) => isWaiting)
  }

  /** While it waits, the writer of the answer waits as well. */
  get isStopped(): boolean {
    return this.waits !== undefined
  }

  /** Waits until somebody says what happens, or the client leaves. */
  beforeAnswer(): Promise<HoldAction> {
    return new Promise(resolve => {
      this.response.once('close', () => resolve({ action: 'cut' }))
      this.holding.wait(
        wish => {
          if (wish.action === 'cut' || wish.action === 'end') this.act(wish)
          resolve(wish)
        },
        { isBeforeAnswer: true },
      )
    })
  }

  /** Called before the answer is written. */
  attach(isNeeded = this.holding.after > 0 || this.endsAtHead): void {
    if (this.outlet || !isNeeded || this.response.req.method === 'HEAD') return
    this.outlet = new TransformedOutlet(this.response, this)
  }

  /** Holds everything from now on. */
  holdNow(holding: Holding): void {
    if (holding !== this.holding) this.later.push(holding)
    this.attach(true)
    this.waitAt(holding)
  }

  head(headers: readonly string[]): string[] {
    this.isStream = isPlainStream(headers)
    // The body may end before the length that its head has. A whole answer is held before its head, so its length is right.
    return this.endsAtHead || this.isStream ? withoutLength(headers) : [...headers]
  }

  async *pieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer | Ending, void> {
    if (this.endsAtHead) return yield 'end'
    let chunks = 0
    for await (const piece of this.isStream ? wholeEvents(pieces) : pieces) {
      await this.waits
      yield piece
      if (!this.isStream || !isChunk(piece) || ++chunks !== this.holding.after) continue
      this.waitAt(this.holding)
      await this.waits
    }
    await this.waits
  }

  /** Corrects the outcome of an answer of which not everything was sent. */
  correct(outcome: Outcome | undefined): void {
    const { outlet } = this
    if (!outcome || !outlet || (this.response.writableFinished && !this.isShort)) return
    outcome.complete = false
    if (outcome.sentBytes === undefined) outcome.sentBytes = outlet.sentBytes
    else outcome.sentBytes -= outlet.givenBytes - outlet.sentBytes
  }

  private waitAt(holding: Holding): void {
    this.waits = new Promise(resolve => {
      this.goOn = resolve
    })
    holding.wait(wish => this.act(wish))
  }

  private act({ action }: HoldAction): void {
    if (action === 'release') {
      this.waits = undefined
      return this.goOn?.()
    }
    this.isShort = true
    if (this.response.headersSent) this.outlet?.finish(action === 'cut' ? 'cut' : 'end')
    else if (action === 'cut') this.response.destroy()
    else this.endsAtHead = true
  }

  private close(): void {
    const isAborted = !this.response.writableFinished && !this.isShort
    for (const one of [this.holding, ...this.later]) one.close(isAborted)
  }
}

/** A compressed stream cannot be split into events. */
const isPlainStream = (headers: readonly string[]) =>
  /^text\/event-stream\b/i.test(headerIn(headers, 'content-type') ?? '') &&
  (headerIn(headers, 'content-encoding') ?? 'identity') === 'identity'

/** Whether an event counts: comments have no data, and `[DONE]` is none of the model's. */
function isChunk(event: Buffer): boolean {
  const data = dataOf(event)
  return data !== undefined && data.trim() !== '[DONE]'
}

const withoutLength = (headers: readonly string[]): string[] =>
  headers.filter((_text, i) => headers[i - (i % 2)]?.toLowerCase() !== 'content-length')

/** The requests that are under way, for the control API. */
export function requestsUnderWay(open: () => Iterable<RequestContext<HeldRequest>>, holds: Holds): UnderWay {
  const find = (id: string) => {
    const context = [...open()].find(({ number }) => String(number) === id)
    if (!context || context.response.writableEnded || context.exchange.isWebSocket) throw noSuchRequest(id)
    return context
  }
  return {
    list: () =>
      Array.from(open(), ({ number, held }) => ({ id: String(number), hold: held?.isWaiting ? held.id : null })),
    hold(id) {
      const context = find(id)
      const { held } = context
      if (held?.isWaiting) return { id: held.id }
      const holding = holds.addFor(context.exchange)
      context.held = held ?? new HeldRequest(context.response, holding)
      context.held.holdNow(holding)
      return { id: holding.id }
    },
    isHeldBy(id) {
      const { held } = find(id)
      return holding => held?.isHeldBy(holding) ?? false
    },
  }
}

const noSuchRequest = (id: string) =>
  refusal(404, 'no_such_request', `There is no request ${quotedStart(id, 40)} under way that can be held.`)
