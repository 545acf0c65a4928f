/** Reads a request's body, counting as it comes. */
import type { IncomingMessage } from 'node:http'
import { bodyTooLarge, encodedContent, notJsonContent, type PlatformError } from '../core/errors.js'
import { type Adopted, BODY } from './foreign.js'

/** Anything that says it is JSON; RFC 6839 gives "+json" to formats that are JSON underneath. */
const json = /^(application|text)\/([\w.-]+\+)?json[ \t]*(;|$)/i

/** Whether the body can be JSON by what its Content-Type says. A missing one is read as JSON. */
export const isJson = ({ headers: { 'content-type': type } }: IncomingMessage): boolean =>
  type === undefined || json.test(type)

/** Throws a 415 when the body cannot be JSON by what its headers say. */
export function requireJson(request: IncomingMessage): void {
  const { headers } = request
  const { 'content-type': type, 'content-encoding': encoding } = headers
  if (type !== undefined && type !== 'application/json' && !json.test(type)) throw notJsonContent(type)
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedContent(encoding)
}

/**
 * Reads the body and calls back once: with it, with a 413 as soon as it grows beyond the limit, or with `undefined` when
 * the client left before the end. What comes after a 413 is thrown away unread, so that the client gets to its answer.
 */
export function readBody(
  request: IncomingMessage,
  limitBytes: number,
  done: (body: Buffer | PlatformError | undefined) => void,
): void {
  const before = (request as Adopted)[BODY]
  if (before) return done(before instanceof Buffer && before.length > limitBytes ? bodyTooLarge(limitBytes) : before)
  const announced = Number(request.headers['content-length'])
  if (announced > limitBytes) return done(bodyTooLarge(limitBytes))
  if (announced === 0) return done(Buffer.alloc(0))

  let chunks: Buffer[] | undefined
  let size = 0
  let isOver = false
  request.on('data', (chunk: Buffer) => {
    if (isOver) return
    size += chunk.length
    // The last byte is there: node would say so only in a later turn.
    isOver = size > limitBytes || size === announced
    if (size > limitBytes) return done(bodyTooLarge(limitBytes))
    if (size === announced && !chunks) return done(chunk)
    chunks ??= []
    chunks.push(chunk)
    if (isOver) done(Buffer.concat(chunks))
  })
  // With an announced length the last byte is the end; a body that stops short of it is an error.
  if (Number.isNaN(announced)) {
    request.on('end', () => {
      if (!isOver) done(Buffer.concat(chunks ?? []))
      isOver = true
    })
  }
  request.on('error', () => {
    if (!isOver) done(undefined)
    isOver = true
  })
}

/** As much as the journal shows of a body. */
const BEGINNING_BYTES = 65_536
/** A client that sends its body slower than this gets its refusal first. */
const BEGINNING_MS = 1000

/** Whether a body may still be coming that has not been looked at: `readableFlowing` is null until then. */
export const isUnread = (request: IncomingMessage): boolean =>
  request.readableFlowing === null &&
  !request.destroyed &&
  (Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined)

/**
 * Reads the beginning of the body of a request that is refused, for the journal, and calls back once: when it is all there, when it is as much as
 * the journal shows, when it takes too long, or when the client left. `cutFromBytes` is the size of a body that is not all there.
 * What comes later is thrown away, so that the connection can be used again.
 */
export function readBeginning(
  request: IncomingMessage,
  done: (beginning: Buffer, cutFromBytes: number | undefined) => void,
): void {
  const announced = Number(request.headers['content-length'])
  let chunks: Buffer[] | undefined = []
  let size = 0
  const finish = (isWhole: boolean) => {
    if (!chunks) return
    const beginning = Buffer.concat(chunks, Math.min(size, BEGINNING_BYTES))
    chunks = undefined
    clearTimeout(timer)
    done(beginning, isWhole && size <= BEGINNING_BYTES ? undefined : announced || size)
  }
  // What the network has delivered by then is read first, however busy the process was.
  const timer = setTimeout(() => setImmediate(finish, false), BEGINNING_MS)
  request.on('data', (chunk: Buffer) => {
    if (!chunks) return
    chunks.push(chunk)
    size += chunk.length
    if (size >= announced || size > BEGINNING_BYTES) finish(size === announced)
  })
  request.on('end', () => finish(true))
  request.on('error', () => finish(false))
  request.on('close', () => finish(false))
}
