/** Sends an answer of the live platform to the client as it arrives, and errors in the documented form. */
import { createEventSplitter, dataOf } from '../../chat/events.js'
import { recordTime, uptimeMs } from '../../core/clock.js'
import { upstreamTimeout, upstreamUnreadable } from '../../core/errors.js'
import { headerIn, noBytes, withOwnAddresses } from '../../core/http.js'
import { outletOf } from '../../core/outlet.js'
import type { UpstreamResponse } from '../../core/reply.js'
import {
  documentedError,
  errorMessageIn,
  isStatus,
  MOST_ERROR_BYTES,
  MOST_KEPT_BYTES,
  upstreamResponse,
} from '../documented-error.js'
import { replaceHeaders, withoutHopByHop } from './headers.js'
import type { ProxiedRequest } from './proxied-request.js'

/** The head of an answer, as it arrived. */
export interface AnswerHead {
  readonly status: number
  readonly statusText: string | undefined
  /** Node's flat array. */
  readonly headers: readonly string[]
}

/** Holds up the live platform while the client reads slowly. */
interface Flow {
  pause(): unknown
  resume(): unknown
}

/** Takes the body of an answer. */
export interface BodySink {
  add(bytes: Buffer): void
  end(): void
}

/** Sends an answer whose head has arrived. Returns what takes its body; `undefined` if the body is not wanted. */
export function sendAnswer(proxied: ProxiedRequest, head: AnswerHead, flow: Flow): BodySink | undefined {
  if (proxied.isOver) return proxied.isReadOn ? readOn(proxied, head) : undefined
  const coding = headerIn(head.headers, 'transfer-encoding') ?? 'chunked'
  try {
    if (!isStatus(head.status)) throw new Error(`status ${head.status}`)
    // No other transfer coding is decoded, and we did not ask for any.
    if (!/^(chunked|identity)$/i.test(coding)) throw new Error(`transfer-encoding ${coding}`)
    const isReplaced = head.status >= 400 && proxied.settings.errors === 'documented' && !proxied.isMcp
    const headers = withOwnAddresses(withoutHopByHop(head.headers), proxied.settings.baseUrl)
    const sent = { ...head, headers }
    return isReplaced ? sendError(proxied, sent) : sendBody(proxied, sent, flow)
  } catch (error) {
    failUnreadable(proxied, error)
    return undefined
  }
}

/** An answer whose client has left: only the observer gets it. */
function readOn(proxied: ProxiedRequest, { status, headers, statusText }: AnswerHead): BodySink {
  proxied.observeHead(status, withOwnAddresses(withoutHopByHop(headers), proxied.settings.baseUrl), statusText)
  return restOf(proxied)
}

const restOf = (proxied: ProxiedRequest): BodySink => ({
  add: bytes => void (proxied.isReadOn && proxied.observer?.bytes(bytes)),
  end: () => void (proxied.isReadOn && proxied.completeAnswer()),
})

/** Parsers accept some headers that node does not write. */
function failUnreadable(proxied: ProxiedRequest, error: unknown): void {
  const { code, message } = error as NodeJS.ErrnoException
  proxied.fail(upstreamUnreadable(code ?? message))
}

/** What is sent to the client instead of the live platform's own head. */
interface SentHead {
  readonly headers: readonly string[]
  /** The live platform's answer, if it was replaced. */
  readonly upstream?: UpstreamResponse | undefined
  readonly remark?: (() => string | undefined) | undefined
  /** The list to which the arrival times of a stream's pieces are added. */
  readonly piecesAtMs?: number[] | undefined
}

/** Sends the head. `headers` are the live ones, or ones made to fit the document. */
function sendHead(
  proxied: ProxiedRequest,
  { status, statusText = '', headers: live }: AnswerHead,
  { headers, upstream, remark, piecesAtMs }: SentHead,
): void {
  const { response, ownHeaders } = proxied.context
  const sentHeaders = replaceHeaders(headers, ownHeaders?.() ?? [])
  if (headerIn(live, 'access-control-allow-origin') === undefined) {
    sentHeaders.push(...proxied.settings.corsFor(proxied.context.exchange.headers.origin))
  }
  response.sendDate = headerIn(live, 'date') === undefined
  outletOf(response).writeHead(status, statusText.replace(/[^\t\x20-\x7e\x80-\xff]/g, ''), sentHeaders)
  setOutcome(proxied, { status, headers, upstream, remark, piecesAtMs })
}

/** Notes for the journal what the client gets. */
export function setOutcome(
  proxied: ProxiedRequest,
  { status, headers, upstream, remark, piecesAtMs }: SentHead & Pick<AnswerHead, 'status'>,
): void {
  const { recordedAs, exchange } = proxied.context
  const { baseUrl } = proxied.settings
  proxied.outcome = {
    status,
    answeredBy: { kind: 'live', baseUrl, ...(recordedAs !== undefined && { recordedAs }) },
    error: undefined,
    remark,
    answer: upstreamResponse(headers, noBytes),
    upstream,
    beganMs: uptimeMs(),
    piecesAtMs,
    complete: false,
  }
  exchange.outcome = proxied.outcome
}

/** Keeps the beginning of a body for the journal. */
export function keepForJournal({ outcome }: ProxiedRequest, bytes: Buffer): void {
  const answer = outcome?.answer
  if (answer?.kind !== 'upstream') return
  // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
  if (answer.bytes < MOST_KEPT_BYTES)
    answer.beginning.push(Buffer.from(bytes.subarray(0, MOST_KEPT_BYTES - answer.bytes)))
  answer.bytes += bytes.length
}

function sendBody(proxied: ProxiedRequest, head: AnswerHead, flow: Flow): BodySink {
  const { context, observer } = proxied
  const { response } = context
  const outlet = () => outletOf(response)
  const { headers } = head
  const rest = restOf(proxied)
  // Nothing drains any more once the client has left.
  response.once('close', () => flow.resume())
  // Only a stream has no length.
  const piecesAtMs = headerIn(headers, 'content-length') === undefined ? [] : undefined
  let isBegun = false
  const refusal = proxied.observeHead(head.status, headers, head.statusText)
  sendHead(proxied, head, { headers, piecesAtMs, ...(refusal && { remark: () => refusal }) })
  // Sends the head soon, since the first token of a stream may be seconds away. Uses an empty write, because
  // flushHeaders() would encode the header values as UTF-8 and so change them.
  process.nextTick(() => {
    if (!isBegun && !proxied.isOver) outlet().write(noBytes)
  })
  return {
    add(bytes) {
      if (proxied.isOver) return rest.add(bytes)
      isBegun = true
      if (!outlet().write(bytes)) {
        flow.pause()
        response.once('drain', () => flow.resume())
      }
      keepForJournal(proxied, bytes)
      if (piecesAtMs) recordTime(piecesAtMs, proxied.outcome?.beganMs ?? 0)
      observer?.bytes(bytes)
    },
    end() {
      if (proxied.isOver) return rest.end()
      isBegun = true
      proxied.completeAnswer()
      outlet().end()
    },
  }
}

/** The observer gets more of an error than the client, so that it sees all of a long page. */
const MOST_OBSERVED_BYTES = 8_388_608
/** How long to wait for the end of an event stream after its error, since it may stay open. */
const LAST_EVENT_MS = 250

/**
 * Collects an error until it is clear whether its body is as documented. The observer gets the original. The client
 * waits for it no longer than for the first byte of an answer.
 */
function sendError(proxied: ProxiedRequest, head: AnswerHead): BodySink {
  const { observer, context, settings } = proxied
  const { status, headers } = head
  const isStream = /^text\/event-stream\b/i.test(headerIn(headers, 'content-type') ?? '')
  const events = isStream ? createEventSplitter() : undefined
  const chunks: Buffer[] = []
  let bytes = 0
  let lastEventTimer: NodeJS.Timeout | undefined
  const timer = setTimeout(() => proxied.fail(upstreamTimeout(settings.timeoutMs)), settings.timeoutMs)
  context.response.once('close', stopTimers)
  const refusal = proxied.observeHead(status, headers, head.statusText)

  function stopTimers(): void {
    clearTimeout(timer)
    clearTimeout(lastEventTimer)
  }

  function deliver(isWhole: boolean): void {
    stopTimers()
    if (proxied.isOver || proxied.outcome) return
    const body = Buffer.concat(chunks)
    const isComplete = isWhole && body.length === bytes
    try {
      const replacement = documentedError({ status, headers, body, isComplete }, context.exchange)
      const sent = replacement
        ? { ...replacement, upstream: upstreamResponse(headers, body, bytes) }
        : { headers, body }
      const message = [refusal, errorMessageIn(sent.body)].filter(Boolean).join(' ') || undefined
      sendHead(proxied, head, { ...sent, remark: () => message })
      outletOf(context.response).end(sent.body)
      keepForJournal(proxied, sent.body)
      proxied.completeAnswer(isWhole)
      if (!isWhole) proxied.endConnection()
    } catch (error) {
      failUnreadable(proxied, error)
    }
  }

  return {
    add(chunk) {
      const room = MOST_ERROR_BYTES - bytes
      bytes += chunk.length
      if (room > 0) chunks.push(chunk.subarray(0, room))
      observer?.bytes(chunk)
      if (bytes > (observer ? MOST_OBSERVED_BYTES : MOST_ERROR_BYTES)) deliver(false)
      else if (events?.push(chunk).some(event => dataOf(event) !== undefined)) {
        lastEventTimer ??= setTimeout(deliver, LAST_EVENT_MS, false)
      }
    },
    end: () => deliver(true),
  }
}
