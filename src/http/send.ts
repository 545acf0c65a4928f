/** Sends answers: our own replies, errors, and what the live platform says. */
import type { ServerResponse } from 'node:http'
import { createIds, recordTime, uptimeMs } from '../core/clock.js'
import { internalError, PlatformError } from '../core/errors.js'
import type { Outcome } from '../core/exchange.js'
import { pacedText } from '../core/http.js'
import { outletOf } from '../core/outlet.js'
import {
  type Forward,
  isOpenBody,
  isWholeBody,
  MOST_WRITTEN_PIECES,
  type PacedBody,
  type Reply,
} from '../core/reply.js'
import { earlierBodyOf, isUnread, readBeginning } from './body.js'
import type { Pacer } from './pacer.js'
import type { LineContext, LineParts, LineServices } from './surface.js'

/** Sends a reply. Returns a promise if that takes until the response closes, as with a paced stream. */
export function sendReply(
  context: LineContext,
  reply: Reply,
  parts: LineParts,
  { pacer }: LineServices,
  error?: PlatformError,
): Promise<void> | undefined {
  const { request, response, exchange, surface, quota, live } = context
  const { status, statusText, body, contentType, headers = noHeaders, tokens } = reply
  // A recording has the request id of its live answer.
  const requestId = surface.hasRequestIds && !reply.isRecorded ? nextRequestId() : undefined
  const { origin } = request.headers
  const { cors: allowed } = live ?? surface
  const cors = origin === undefined ? allowed.forNoOrigin : allowed.headersFor(origin)
  if (quota && tokens) quota.settle(tokens)
  const shared = sharedHeaders(context, parts)
  const more = shared.length === 0 ? headers : [...shared, ...headers]
  const head = { statusText, contentType, cors, requestId, more }
  const piecesAtMs: number[] = []
  const isWhole = typeof body === 'string' || isWholeBody(body)
  // Set before the first byte is sent, so that the journal also has streams that are cut.
  const outcome: Outcome = {
    status,
    answeredBy: reply.answeredBy,
    error: error?.message,
    code: error?.code,
    hint: error?.more.hint,
    remark: reply.remark,
    requestId,
    answer: reply,
    upstream: reply.upstream,
    beganMs: uptimeMs(),
    piecesAtMs: isWhole ? undefined : piecesAtMs,
    complete: false,
  }
  exchange.outcome = outcome
  if (isWhole) {
    sendComplete(response, head, { status, body }, exchange.bodyCutFromBytes !== undefined)
    outcome.complete = true
    return undefined
  }
  return new Promise(resolve => {
    sendStream(response, head, { status, body: body as PacedBody }, { pacer, piecesAtMs }, (complete, sentBytes) => {
      outcome.complete = complete
      if (!complete) outcome.sentBytes = sentBytes
      resolve()
    })
  })
}

/** Asks the live platform. Resolves when its answer was sent, and rejects if nothing of one was. */
export async function forward(
  context: LineContext,
  { observer, recordedAs }: Forward,
  parts: LineParts,
  { report }: LineServices,
): Promise<void> {
  const { request, response, exchange, surface, hit, held } = context
  if (!surface.live) throw new Error(`There is no live platform behind ${exchange.path}.`)
  const proxy = await surface.live.proxy()
  await new Promise<void>((resolve, reject) =>
    proxy.forward({
      request,
      response,
      exchange,
      recordedAs,
      ownHeaders: () => sharedHeaders(context, parts),
      // A fault or a hold that splits the chunks needs an uncompressed body.
      isUncompressed: hit !== undefined || held !== undefined,
      observer,
      report,
      done: error => (error === undefined ? resolve() : reject(error)),
    }),
  )
}

/** Sends the error that has ended a request, in the format of its surface. Does not reject. */
export async function sendError(
  context: LineContext,
  cause: unknown,
  parts: LineParts,
  services: LineServices,
): Promise<void> {
  const { response, exchange, hit } = context
  const error = cause instanceof PlatformError ? cause : internalError()
  if (error !== cause) services.report(cause)
  if (error.more.tried) {
    exchange.caller = { kind: 'refused', tried: error.more.tried }
    if (parts.scopes.users.areAny()) parts.scopes.decide(exchange)
  }
  if (hit && response.destroyed) return
  // It is too late for an error body. The cut stream shows the client that something failed.
  if (response.headersSent) return void response.destroy()
  if (exchange.body === undefined) await keepBeginning(context)
  if (response.destroyed) return
  try {
    await sendReply(context, context.surface.errorReply(error, exchange), parts, services, error)
  } catch (failure) {
    services.report(failure)
    response.destroy()
  }
}

/** Keeps the beginning of the body of a refused request, for the journal. */
async function keepBeginning({ request, exchange }: LineContext): Promise<void> {
  const earlierBody = earlierBodyOf(request)
  if (Buffer.isBuffer(earlierBody)) exchange.body = earlierBody
  if (earlierBody || !isUnread(request)) return
  const { beginning, cutFromBytes } = await readBeginning(request)
  exchange.body = beginning
  if (cutFromBytes !== undefined) exchange.bodyCutFromBytes = cutFromBytes
}

/** The headers that our own answers and live ones have: what is left of the limits, and the contract check's result. */
function sharedHeaders({ exchange: { mode }, quota }: LineContext, { contractHeaders }: LineParts): readonly string[] {
  const contract = mode === undefined || mode === 'emulate' ? noHeaders : contractHeaders()
  return quota ? [...quota.headers(), ...contract] : contract
}

const noHeaders: readonly string[] = []
const nextRequestId = createIds('req_', 16)

/** What a paced stream needs besides its body. */
interface StreamOptions {
  readonly pacer: Pacer
  /** Receives the time of each piece in milliseconds after the head. */
  readonly piecesAtMs: number[]
}

/** The headers of an answer, except those that depend on how its body is sent. */
interface Head {
  readonly statusText: string | undefined
  readonly contentType: string
  /** As node's flat array, like `more`. */
  readonly cors: readonly string[]
  readonly requestId: string | undefined
  readonly more: readonly string[]
}

/** Writes a reply whose body is complete. `isEarly` says that the request may still be arriving. */
function sendComplete(
  response: ServerResponse,
  head: Head,
  { status, body }: Pick<Reply, 'status' | 'body'>,
  isEarly: boolean,
): void {
  const outlet = outletOf(response)
  const headers = flatHeaders(head)
  // Bytes are a stream of which all events are known. As with any other stream, no length is sent.
  if (typeof body !== 'string') {
    outlet.writeHead(status, head.statusText, headers)
    if (Buffer.isBuffer(body)) return void outlet.end(body)
    const text = pacedText(body)
    return void outlet.end(text, body.isLatin1 ? 'latin1' : encodingOf(text))
  }
  const size = Buffer.byteLength(body)
  // RFC 9110 §8.6: a 204 has no Content-Length, not even 0. The response to HEAD has that of the missing body, if it is
  // known.
  if (status !== 204 && (size > 0 || (status !== 304 && response.req.method !== 'HEAD')))
    headers.push('content-length', String(size))
  outlet.writeHead(status, head.statusText, headers)
  const encoding = encodingOf(body, size)
  if (isEarly) endAfterRequest(response, body, encoding)
  else outlet.end(body, encoding)
}

/** Node joins head and text. As latin1, the text is copied as it is. */
const encodingOf = (text: string, bytes = Buffer.byteLength(text)) => (bytes === text.length ? 'latin1' : 'utf8')

/** How long the rest of a refused request's body is read. */
const MOST_REST_MS = 2000

/**
 * Sends the last part of an answer that has a length, but ends the response only when the request has arrived. Otherwise
 * node would close a connection that is not kept, and a client that still sends would lose the answer (RFC 9112 §9.6).
 */
export function endAfterRequest(response: ServerResponse, body: string, encoding: BufferEncoding = 'utf8'): void {
  const { req: request } = response
  const outlet = outletOf(response)
  if (request.complete || request.destroyed) return void outlet.end(body, encoding)
  outlet.write(body, encoding)
  const timer = setTimeout(end, MOST_REST_MS)
  function end(): void {
    clearTimeout(timer)
    if (!response.destroyed) outlet.end()
  }
  request.resume().once('end', end)
  response.once('close', end)
}

/** The headers as node's flat array. */
function flatHeaders({ contentType, cors, requestId, more }: Head): string[] {
  const headers = contentType === '' ? [...cors] : ['content-type', contentType, ...cors]
  if (requestId !== undefined) headers.push('x-request-id', requestId)
  headers.push(...more)
  return headers
}

/** Longer than clients keep idle connections, so that no client reuses one that is being closed. */
export const KEEP_ALIVE_MS = 65_000

/**
 * Sends a reply whose body has a pace or is still being written. When the response closes, calls `done` with whether all
 * of the body was written, and for a paced body with the number of bytes that were.
 */
function sendStream(
  response: ServerResponse,
  head: Head,
  { status, body }: { readonly status: number; readonly body: PacedBody },
  { pacer, piecesAtMs }: StreamOptions,
  done: (complete: boolean, sentBytes?: number) => void,
): void {
  // Looked up for each piece, since a request under way can be held at any time.
  const outlet = () => outletOf(response)
  outlet().writeHead(status, head.statusText, flatHeaders(head))
  if (response.req.method === 'HEAD') {
    outlet().end()
    return done(true)
  }
  const encoding = body.isLatin1 ? 'latin1' : 'utf8'
  const open = isOpenBody(body) ? body : undefined
  const startMs = performance.now()
  let sentBytes = 0
  let isComplete = false
  function note(text: string): void {
    sentBytes += Buffer.byteLength(text, encoding)
    recordTime(piecesAtMs, startMs)
    if (open && open.pieces.length < MOST_WRITTEN_PIECES) open.pieces.push(text)
  }
  const sink = {
    write(text: string) {
      note(text)
      outlet().write(text, encoding)
    },
    end(text?: string) {
      if (text !== undefined) note(text)
      isComplete = true
      outlet().end(text, encoding)
    },
    isFull: () => outlet().writableNeedDrain,
  }
  const stop = open ? open.play(sink) : pacer.play(body, sink)
  // The client learns at once that its request was accepted.
  if (sentBytes === 0 && !isComplete) outlet().flushHeaders()
  response.once('close', () => {
    stop()
    if (open) done(isComplete || open.isEndless)
    else done(isComplete, sentBytes)
  })
}
