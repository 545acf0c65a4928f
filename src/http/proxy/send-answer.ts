/** Sends an answer of the live platform to the client: in one piece if it is complete, otherwise as it arrives. */
import { createEventSplitter, dataOf } from '../../completions/events.js'
import { uptimeMs } from '../../core/clock.js'
import { upstreamUnreadable } from '../../core/errors.js'
import type { UpstreamResponse } from '../../core/exchange.js'
import { asUpstream, fitted, isStatus, KEPT_BYTES, MOST_ERROR_BYTES, messageIn } from '../fit-error.js'
import { noteTime } from '../paced-writer.js'
import { endWith } from './end-with.js'
import { replaced, withoutHops } from './headers.js'
import type { LiveAnswer } from './live-answer.js'
import type { ProxiedRequest } from './proxied-request.js'

const nothing = Buffer.alloc(0)

/** Sends an answer of which only the part that arrived with its head has been read. */
export function sendAnswer(proxied: ProxiedRequest): void {
  if (proxied.isOver) return
  const { answer } = proxied
  try {
    if (!answer) return
    requireReadable(answer)
    if ((answer.statusCode ?? 0) >= 400 && isFitted(proxied)) sendError(proxied, answer)
    else if (isWhole(answer)) sendWholeAnswer(proxied, answer)
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

/** Whether errors are changed to the documented form. */
const isFitted = ({ settings, isMcp }: ProxiedRequest) => settings.errors === 'documented' && !isMcp

/** Whether the answer is complete, and its division into chunks does not matter. */
const isWhole = ({ complete, readableLength, headers }: LiveAnswer) =>
  complete && (readableLength === 0 || headers['content-length'] !== undefined)

function requireReadable({ statusCode: status = 0, headers }: LiveAnswer): void {
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
  const leaving = replaced(headers, ownHeaders?.() ?? [])
  if (answer.headers['access-control-allow-origin'] === undefined) {
    leaving.push(...settings.corsFor(request.headers.origin))
  }
  response.sendDate = answer.headers.date === undefined
  response.writeHead(status, statusMessage.replace(/[^\t\x20-\x7e\x80-\xff]/g, ''), leaving)
  proxied.outcome = {
    status,
    answeredBy: { kind: 'live', baseUrl: settings.baseUrl, ...(recordedAs !== undefined && { recordedAs }) },
    error: undefined,
    remark,
    answer: asUpstream(headers, nothing),
    upstream,
    beganMs: uptimeMs(),
    piecesAtMs,
    complete: false,
  }
  exchange.outcome = proxied.outcome
}

/** Keeps the beginning of a body for the journal. */
function keep({ outcome }: ProxiedRequest, bytes: Buffer): void {
  const answer = outcome?.answer
  if (answer?.kind !== 'upstream') return
  // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
  if (answer.bytes < KEPT_BYTES) answer.beginning.push(Buffer.from(bytes.subarray(0, KEPT_BYTES - answer.bytes)))
  answer.bytes += bytes.length
}

interface Whole extends Omit<Head, 'piecesAtMs'> {
  readonly body: Buffer
}

/** Sends head and body together. */
function sendWhole(proxied: ProxiedRequest, answer: LiveAnswer, { body, ...head }: Whole): void {
  sendHead(proxied, answer, head)
  endWith(proxied.context.response, body)
  keep(proxied, body)
}

function sendWholeAnswer(proxied: ProxiedRequest, answer: LiveAnswer): void {
  const { observer } = proxied
  const [headers, body]: [string[], Buffer] = [withoutHops(answer), answer.read() ?? nothing]
  sendWhole(proxied, answer, { headers, body })
  observer?.head(answer.statusCode ?? 0, headers)
  if (body.length > 0) observer?.bytes(body)
  proxied.answered()
}

function sendStream(proxied: ProxiedRequest, answer: LiveAnswer): void {
  const { context, observer } = proxied
  const { response } = context
  const piecesAtMs: number[] = []
  const take = (chunk: Buffer) => {
    proxied.restartTimer()
    if (!response.write(chunk)) answer.pause()
    keep(proxied, chunk)
    noteTime(piecesAtMs, proxied.outcome?.beganMs ?? 0)
    observer?.bytes(chunk)
  }
  const headers = withoutHops(answer)
  sendHead(proxied, answer, { headers, piecesAtMs })
  observer?.head(answer.statusCode ?? 0, headers)
  proxied.timeSilence()
  // Sends the head at once: the first token of a stream may be seconds away. An empty write instead of flushHeaders(),
  // which would encode the header values as UTF-8 and so change them.
  if (answer.readableLength === 0) response.write(nothing)
  answer.on('data', take)
  response.on('drain', () => answer.resume())
  answer.on('end', () => {
    // The client has disconnected. The rest is read and discarded.
    if (proxied.isOver) return
    proxied.answered()
    response.end()
  })
}

/** The observer gets more of an error than is held back, so that it sees all of a long page. */
const MOST_OBSERVED_BYTES = 8_388_608
/** How long to wait for the end of an event stream after its error, since it may stay open. */
const LAST_EVENT_MS = 250

/**
 * Holds an error back until it is clear whether its body is documented. The observer sees the original. The bytes do
 * not reset the timeout: a slow error must not keep the client waiting for longer than silence would.
 */
function sendError(proxied: ProxiedRequest, answer: LiveAnswer): void {
  const { observer, context } = proxied
  const { statusCode: status = 0 } = answer
  const headers = withoutHops(answer)
  const events = /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '') ? createEventSplitter() : undefined
  const held: Buffer[] = []
  let bytes = 0
  let waiting: NodeJS.Timeout | undefined
  proxied.timeSilence()
  observer?.head(status, headers)

  function deliver(isWhole: boolean): void {
    clearTimeout(waiting)
    if (proxied.isOver || proxied.outcome) return
    const body = Buffer.concat(held)
    const isHeld = isWhole && body.length === bytes
    try {
      const found = fitted({ status, headers, body, isWhole: isHeld }, context.exchange)
      const whole = found ? { ...found, upstream: asUpstream(headers, body, bytes) } : { headers, body }
      const message = messageIn(whole.body)
      sendWhole(proxied, answer, { ...whole, remark: () => message })
      proxied.answered(isWhole)
    } catch (error) {
      failUnreadable(proxied, error)
    }
    if (!isWhole) answer.destroy()
  }

  answer.on('data', (chunk: Buffer) => {
    const room = MOST_ERROR_BYTES - bytes
    bytes += chunk.length
    if (room > 0) held.push(chunk.subarray(0, room))
    observer?.bytes(chunk)
    if (bytes > (observer ? MOST_OBSERVED_BYTES : MOST_ERROR_BYTES)) deliver(false)
    else if (events?.push(chunk).some(event => dataOf(event) !== undefined)) {
      waiting ??= setTimeout(deliver, LAST_EVENT_MS, false)
    }
  })
  answer.on('end', () => deliver(true))
}
