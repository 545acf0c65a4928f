/** Carries an answer of the live side to the client: whole where it is whole, and otherwise as it comes. */

import type { IncomingMessage } from 'node:http'
import { upstreamUnreadable } from '../../core/errors.js'
import type { Heard } from '../../core/exchange.js'
import { passedMs } from '../../core/stopwatch.js'
import { endWith } from './end-with.js'
import { replaced, withoutHops } from './headers.js'
import { fitting } from './not-found.js'
import type { Passage } from './passage.js'

const nothing = Buffer.alloc(0)

/** Takes an answer of which as much is read as has come with its head. */
export function carryBack(passage: Passage): void {
  if (passage.isOver) return
  const { answer, manners } = passage
  try {
    if (!answer) return
    requireReadable(answer)
    if (answer.statusCode === 404 && manners.errors === 'normalise') carryNotFound(passage, answer)
    else if (isWhole(answer))
      sendWhole(passage, answer, { headers: withoutHops(answer), body: answer.read() ?? nothing })
    else stream(passage, answer)
  } catch (error) {
    // Node's parser lets pass what node's writer throws at.
    passage.fail(upstreamUnreadable((error as NodeJS.ErrnoException).code ?? (error as Error).message))
  }
}

/** Whether all of it is there, and nobody can tell in which pieces it came. */
const isWhole = ({ complete, readableLength, headers }: IncomingMessage) =>
  complete && (readableLength === 0 || headers['content-length'] !== undefined)

function requireReadable({ statusCode: status = 0, headers }: IncomingMessage): void {
  if (status < 200) throw new Error(`status ${status}`)
  const coding = headers['transfer-encoding']
  // Node undoes no other one, and nobody has asked for any.
  if (coding !== undefined && !/^(chunked|identity)$/i.test(coding)) throw new Error(`transfer-encoding ${coding}`)
}

/** What leaves before the body. */
interface Head {
  readonly headers: readonly string[]
  /** Whether the body was made to fit the document. */
  readonly isMended?: true | undefined
  /** Where the times of a stream's pieces are noted. */
  readonly piecesAtMs?: number[]
}

/** The head, with `headers` as they came from the live side, or were made to fit the document. */
function sendHead(passage: Passage, answer: IncomingMessage, { headers, isMended, piecesAtMs }: Head): void {
  const { journey, manners, witness } = passage
  const { request, response, exchange, ours, source = 'live' } = journey
  const { statusCode: status = 0, statusMessage = '' } = answer
  const leaving = replaced(headers, ours?.() ?? [])
  if (answer.headers['access-control-allow-origin'] === undefined) {
    leaving.push(...manners.corsFor(request.headers.origin))
  }
  response.sendDate = answer.headers.date === undefined
  response.writeHead(status, statusMessage.replace(/[^\t\x20-\x7e\x80-\xff]/g, ''), leaving)
  passage.outcome = {
    status,
    source,
    error: undefined,
    said: heard(headers, isMended),
    beganMs: passedMs(),
    piecesAtMs,
    complete: false,
  }
  exchange.outcome = passage.outcome
  witness?.head(status, headers)
}

/** Head and body leave together, as they came. */
/** So much of a body is kept to be looked at. */
const KEPT_BYTES = 65_536

const heard = (headers: readonly string[], isMended?: true): Heard => ({
  ...{ kind: 'heard', headers, beginning: [], bytes: 0 },
  ...(isMended && { isMended }),
})

/** Keeps the beginning of a body for the journal. */
function keep({ outcome }: Passage, bytes: Buffer): void {
  const said = outcome?.said
  if (said?.kind !== 'heard') return
  // A copy: what the network delivers is a small part of a large buffer, which would be kept whole.
  if (said.bytes < KEPT_BYTES) said.beginning.push(Buffer.from(bytes.subarray(0, KEPT_BYTES - said.bytes)))
  said.bytes += bytes.length
}

interface Whole extends Omit<Head, 'piecesAtMs'> {
  readonly body: Buffer
}

/** Of a longer stream nobody looks at every piece. */
const MOST_TIMES = 1000

/** Notes when a piece of a stream came. */
function time({ outcome }: Passage): void {
  const { beganMs = 0, piecesAtMs } = outcome ?? {}
  if (piecesAtMs && piecesAtMs.length < MOST_TIMES) piecesAtMs.push(Math.round((passedMs() - beganMs) * 10) / 10)
}

function sendWhole(passage: Passage, answer: IncomingMessage, { headers, body, isMended }: Whole): void {
  const { journey, witness } = passage
  sendHead(passage, answer, { headers, isMended })
  endWith(journey.response, body)
  keep(passage, body)
  if (body.length > 0) witness?.bytes(body)
  passage.answered()
}

function stream(passage: Passage, answer: IncomingMessage): void {
  const { journey, witness } = passage
  const { response } = journey
  const take = (chunk: Buffer) => {
    passage.heard()
    if (!response.write(chunk)) answer.pause()
    keep(passage, chunk)
    time(passage)
    witness?.bytes(chunk)
  }
  sendHead(passage, answer, { headers: withoutHops(answer), piecesAtMs: [] })
  passage.listens()
  // Not with the first byte of the body, unless that is here: the first token of a stream may be seconds away.
  // Empty bytes rather than flushHeaders(), which would write the headers' letters as UTF-8 instead of as they came.
  if (answer.readableLength === 0) response.write(nothing)
  answer.on('data', take)
  response.on('drain', () => answer.resume())
  answer.on('end', () => {
    // What the client has not waited for is read to its end without anybody looking.
    if (passage.isOver) return
    passage.answered()
    response.end()
  })
}

function carryNotFound(passage: Passage, answer: IncomingMessage): void {
  passage.listens()
  fitting(answer, passage.journey.exchange, found => {
    if (!passage.isOver) sendWhole(passage, answer, found)
  })
}
