/** Sends an answer of the live platform to the client: in one piece if it is complete, otherwise as it arrives. */
import { createEventSplitter, dataOf } from '../../completions/events.js'
import { uptimeMs } from '../../core/clock.js'
import { upstreamUnreadable } from '../../core/errors.js'
import type { UpstreamResponse } from '../../core/exchange.js'
import {
  documentedError,
  errorMessageIn,
  isStatus,
  MOST_ERROR_BYTES,
  MOST_KEPT_BYTES,
  upstreamResponse,
} from '../documented-error.js'
import { recordTime } from '../send.js'
import { writerOf } from '../writer.js'
import { replaceHeaders, withoutHopByHop } from './headers.js'
import type { LiveAnswer } from './live-answer.js'
import type { ProxiedRequest } from './proxied-request.js'

const noBytes = Buffer.alloc(0)

/** Sends an answer whose head has arrived, possibly with a part of its body or all of it. */
export function sendAnswer(proxied: ProxiedRequest): void {
  if (proxied.isOver) return
  const { answer } = proxied
  try {
    if (!answer) return
    requireForwardable(answer)
    if ((answer.statusCode ?? 0) >= 400 && documentsErrors(proxied)) sendError(proxied, answer)
    else if (isComplete(answer)) sendCompleteAnswer(proxied, answer)
    else sendStream(proxied, answer)
  } catch (error) {
    failUnreadable(proxied, error)
  }
}

/** Node's parser accepts some headers that its writer rejects. */
export function failUnreadable(proxied: ProxiedRequest, error: unknown): void {
  const { code, message } = error as NodeJS.ErrnoException
  proxied.fail(upstreamUnreadable(code ?? message))
}

/** Whether errors with an undocumented body are replaced. */
const documentsErrors = ({ settings, isMcp }: ProxiedRequest) => settings.errors === 'documented' && !isMcp

/** Whether the answer is complete, and was not sent in chunks that have to be preserved. */
const isComplete = ({ complete, readableLength, headers }: LiveAnswer) =>
  complete && (readableLength === 0 || headers['content-length'] !== undefined)

function requireForwardable({ statusCode: status = 0, headers }: LiveAnswer): void {
  if (!isStatus(status)) throw new Error(`status ${status}`)
  const coding = headers['transfer-encoding']
  // Node decodes no other transfer coding, and we did not ask for any.
  if (coding !== undefined && !/^(chunked|identity)$/i.test(coding)) throw new Error(`transfer-encoding ${coding}`)
}

/** The head that is sent to the client. */
interface Head {
  readonly headers: readonly string[]
  /** The live platform's answer, if it was replaced. */
  readonly upstream?: UpstreamResponse | undefined
  readonly remark?: (() => string | undefined) | undefined
  /** The list to which the arrival times of a stream's pieces are added. */
  readonly piecesAtMs?: number[]
}

/** Sends the head. `headers` are the live ones, or ones made to fit the document. */
export function sendHead(
  proxied: ProxiedRequest,
  answer: LiveAnswer,
  { headers, upstream, remark, piecesAtMs }: Head,
): void {
  const { context, settings } = proxied
  const { request, response, exchange, ownHeaders, recordedAs } = context
  const { statusCode: status = 0, statusMessage = '' } = answer
  const sentHeaders = replaceHeaders(headers, ownHeaders?.() ?? [])
  if (answer.headers['access-control-allow-origin'] === undefined) {
    sentHeaders.push(...settings.corsFor(request.headers.origin))
  }
  response.sendDate = answer.headers.date === undefined
  writerOf(response).writeHead(status, statusMessage.replace(/[^\t\x20-\x7e\x80-\xff]/g, ''), sentHeaders)
  proxied.outcome = {
    status,
    answeredBy: { kind: 'live', baseUrl: settings.baseUrl, ...(recordedAs !== undefined && { recordedAs }) },
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
function keepForJournal({ outcome }: ProxiedRequest, bytes: Buffer): void {
  const answer = outcome?.answer
  if (answer?.kind !== 'upstream') return
  // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
  if (answer.bytes < MOST_KEPT_BYTES)
    answer.beginning.push(Buffer.from(bytes.subarray(0, MOST_KEPT_BYTES - answer.bytes)))
  answer.bytes += bytes.length
}

interface CompleteAnswer extends Omit<Head, 'piecesAtMs'> {
  readonly body: Buffer
}

/** Sends head and body together. */
function sendHeadAndBody(proxied: ProxiedRequest, answer: LiveAnswer, { body, ...head }: CompleteAnswer): void {
  sendHead(proxied, answer, head)
  writerOf(proxied.context.response).end(body)
  keepForJournal(proxied, body)
}

function sendCompleteAnswer(proxied: ProxiedRequest, answer: LiveAnswer): void {
  const { observer } = proxied
  const [headers, body]: [string[], Buffer] = [withoutHopByHop(answer), answer.read() ?? noBytes]
  sendHeadAndBody(proxied, answer, { headers, body })
  observer?.head(answer.statusCode ?? 0, headers)
  if (body.length > 0) observer?.bytes(body)
  proxied.completeAnswer()
}

function sendStream(proxied: ProxiedRequest, answer: LiveAnswer): void {
  const { context, observer } = proxied
  const { response } = context
  const writer = writerOf(response)
  const piecesAtMs: number[] = []
  const forwardChunk = (chunk: Buffer) => {
    proxied.restartTimer()
    if (!writer.write(chunk)) answer.pause()
    keepForJournal(proxied, chunk)
    recordTime(piecesAtMs, proxied.outcome?.beganMs ?? 0)
    observer?.bytes(chunk)
  }
  const headers = withoutHopByHop(answer)
  sendHead(proxied, answer, { headers, piecesAtMs })
  observer?.head(answer.statusCode ?? 0, headers)
  proxied.startIdleTimer()
  // Sends the head now, since the first token of a stream may be seconds away. Uses an empty write, because
  // flushHeaders() would encode the header values as UTF-8 and so change them.
  if (answer.readableLength === 0) writer.write(noBytes)
  answer.on('data', forwardChunk)
  response.on('drain', () => answer.resume())
  answer.on('end', () => {
    // The client has disconnected. The rest is read and discarded.
    if (proxied.isOver) return
    proxied.completeAnswer()
    writer.end()
  })
}

/** The observer gets more of an error than the client, so that it sees all of a long page. */
const MOST_OBSERVED_BYTES = 8_388_608
/** How long to wait for the end of an event stream after its error, since it may stay open. */
const LAST_EVENT_MS = 250

/**
 * Collects an error until it is clear whether its body is as documented. The observer gets the original. The bytes do
 * not restart the timeout, so that a slow error does not keep the client waiting for longer than silence would.
 */
function sendError(proxied: ProxiedRequest, answer: LiveAnswer): void {
  const { observer, context } = proxied
  const { statusCode: status = 0 } = answer
  const headers = withoutHopByHop(answer)
  const events = /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '') ? createEventSplitter() : undefined
  const chunks: Buffer[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  proxied.startIdleTimer()
  observer?.head(status, headers)

  function deliver(isWhole: boolean): void {
    clearTimeout(timer)
    if (proxied.isOver || proxied.outcome) return
    const body = Buffer.concat(chunks)
    const isComplete = isWhole && body.length === bytes
    try {
      const replacement = documentedError({ status, headers, body, isComplete }, context.exchange)
      const sent = replacement
        ? { ...replacement, upstream: upstreamResponse(headers, body, bytes) }
        : { headers, body }
      const message = errorMessageIn(sent.body)
      sendHeadAndBody(proxied, answer, { ...sent, remark: () => message })
      proxied.completeAnswer(isWhole)
    } catch (error) {
      failUnreadable(proxied, error)
    }
    if (!isWhole) answer.destroy()
  }

  answer.on('data', (chunk: Buffer) => {
    const room = MOST_ERROR_BYTES - bytes
    bytes += chunk.length
    if (room > 0) chunks.push(chunk.subarray(0, room))
    observer?.bytes(chunk)
    if (bytes > (observer ? MOST_OBSERVED_BYTES : MOST_ERROR_BYTES)) deliver(false)
    else if (events?.push(chunk).some(event => dataOf(event) !== undefined)) {
      timer ??= setTimeout(deliver, LAST_EVENT_MS, false)
    }
  })
  answer.on('end', () => deliver(true))
}
