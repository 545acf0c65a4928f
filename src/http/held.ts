/** Holds requests: before their answer is made, or between the pieces of a stream while it is written to a response. */
import type { ServerResponse } from 'node:http'
import { uptimeMs } from '../core/clock.js'
import { quotedStart, refusal } from '../core/errors.js'
import type { Outcome } from '../core/exchange.js'
import { headerIn, noBytes } from '../core/http.js'
import type { HoldAction, Holding, Holds } from '../holds/index.js'
import type { UnderWay } from '../holds/operations.js'
import { DamagedWriter } from './damage.js'
import { faultError } from './optional-stages.js'
import { setWriter, writerOf } from './send.js'
import type { HeldRequest, RequestContext, Stage } from './stage.js'

/** Holds the requests that a hold is for. Only on the line while there are holds. */
export const holdRequests =
  (holds: Holds): Stage =>
  (next, { when, fail, end }) =>
  context => {
    const { response, exchange, surface } = context

    function begin(holding: Holding | undefined): void {
      if (!holding) return next(context)
      // `close` has already fired.
      if (response.destroyed) {
        holding.close(true)
        return end(context)
      }
      const held = new HeldWriter(response, holding)
      context.held = held
      let isAnswering = false
      response.once('close', () => void (isAnswering || end(context)))
      if (holding.after === 0) holding.wait(act, { isBeforeAnswer: true })
      else act({ action: 'release' })

      function act(wish: HoldAction): void {
        const { action, status = 500 } = wish
        if (action === 'cut') return held.act(wish)
        isAnswering = true
        if (action === 'end') held.act(wish)
        try {
          if (action !== 'fail') return next(context)
          throw faultError({ ...wish, status }, surface.faultCode(status), `Made by ${held.id}.`)
        } catch (error) {
          fail(context, error)
        }
      }
    }

    // A WebSocket has no answer that could be held.
    if (exchange.isWebSocket) next(context)
    else when(context, holds.take(exchange), begin)
  }

/** The requests that are under way, for the control API. */
export const requestsUnderWay = (open: () => Iterable<RequestContext>, holds: Holds): UnderWay => ({
  list: scope =>
    [...open()]
      .filter(({ exchange }) => scope === undefined || exchange.scope === scope)
      .map(({ number, exchange, held }) => ({
        id: String(number),
        method: exchange.method,
        path: exchange.path,
        scope: exchange.scope,
        forMs: Math.round(uptimeMs() - exchange.startedMs),
        hold: held?.isWaiting ? held.id : null,
      })),
  hold(id) {
    const context = [...open()].find(({ number }) => String(number) === id)
    if (!context || context.response.writableEnded || context.exchange.isWebSocket) throw noSuchRequest(id)
    const { held } = context
    if (held?.isWaiting) return { id: held.id }
    const holding = holds.addFor(context.exchange)
    context.held = held ?? new HeldWriter(context.response, holding)
    context.held.holdNow(holding)
    return { id: holding.id }
  },
})

const noSuchRequest = (id: string) =>
  refusal(404, 'no_such_request', `There is no request ${quotedStart(id, 40)} under way that can be held.`)

/** Sits in front of a response, or of what damages it. A hold is a stall that ends as a test or a person wants. */
class HeldWriter extends DamagedWriter implements HeldRequest {
  private isAttached = false
  /** Whether the body ends with its head. */
  private endsAtHead = false
  private isShort = false
  private givenBytes = 0
  /** Those that were put on the request while it was under way. */
  private readonly later: Holding[] = []

  constructor(
    response: ServerResponse,
    private readonly holding: Holding,
  ) {
    super(response, holding.after > 0 ? { stall: holding.after } : {})
    response.once('close', () => this.close())
  }

  get id(): string {
    return (this.later.find(({ isWaiting }) => isWaiting) ?? this.holding).id
  }

  get isWaiting(): boolean {
    return [this.holding, ...this.later].some(({ isWaiting }) => isWaiting)
  }

  attach(isNeeded = this.holding.after > 0 || this.endsAtHead): void {
    if (this.isAttached || !isNeeded || this.response.req.method === 'HEAD') return
    this.isAttached = true
    this.inner = writerOf(this.response)
    setWriter(this.response, this)
  }

  holdNow(holding: Holding): void {
    if (holding !== this.holding) this.later.push(holding)
    this.attach(true)
    this.isStalled = true
    holding.wait(wish => this.act(wish))
  }

  act({ action }: HoldAction): void {
    if (action === 'release') return this.endStall()
    this.isShort = true
    if (this.response.headersSent) this.stopWith(action === 'cut' ? 'cut' : 'end')
    else if (action === 'cut') this.response.destroy()
    else this.endsAtHead = true
  }

  override writeHead(status: number, reason: string | undefined, headers: readonly string[]): void {
    // The body may end before the length that its head has. A whole answer is held before its head, so its length is right.
    const mayBeShort = this.endsAtHead || /^text\/event-stream\b/i.test(headerIn(headers, 'content-type') ?? '')
    super.writeHead(status, reason, mayBeShort ? withoutLength(headers) : headers)
    if (this.endsAtHead) this.stopWith('end')
  }

  override write(chunk: string | Buffer, encoding?: BufferEncoding): boolean {
    this.givenBytes += Buffer.byteLength(chunk, encoding)
    return super.write(chunk, encoding)
  }

  override end(chunk: string | Buffer = noBytes, encoding?: BufferEncoding): void {
    this.givenBytes += Buffer.byteLength(chunk, encoding)
    super.end(chunk, encoding)
  }

  correct(outcome: Outcome | undefined): void {
    if (!outcome || !this.isAttached || (this.response.writableFinished && !this.isShort)) return
    outcome.complete = false
    if (outcome.sentBytes === undefined) outcome.sentBytes = this.sentBytes
    else outcome.sentBytes -= this.givenBytes - this.sentBytes
  }

  override close(): void {
    super.close()
    const isAborted = !this.response.writableFinished && !this.isShort
    for (const one of [this.holding, ...this.later]) one.close(isAborted)
  }

  protected override onStall(): void {
    this.holding.wait(wish => this.act(wish))
  }
}

const withoutLength = (headers: readonly string[]): string[] =>
  headers.filter((_text, i) => headers[i - (i % 2)]?.toLowerCase() !== 'content-length')
