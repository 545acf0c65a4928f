/** Opens connections to another server with undici: directly, or through the proxy that the environment names. */
import type { Socket } from 'node:net'
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici'
import { PlatformError } from '../core/errors.js'
import { noBytes } from '../core/http.js'
import { type ForwardProxy, proxyFor, proxyRefused, proxyUnreachable } from './forward-proxy.js'

interface Connections {
  /** How long the server may be silent: while connecting, and before its answer. */
  readonly timeoutMs?: number
  /** Whether a connection serves further requests. */
  readonly keepsConnections?: boolean
  /** Whether no proxy is used, whatever the environment says. */
  readonly isDirect?: boolean
}

/** Returns undici's dispatcher for one server. The environment is read once, since it does not change. */
export function createDispatcher(
  address: string,
  { timeoutMs, keepsConnections = true, isDirect = false }: Connections = {},
): Dispatcher {
  const { origin } = new URL(address)
  const connecting = timeoutMs === undefined ? {} : { timeout: timeoutMs }
  const options: Pool.Options = {
    ...(timeoutMs !== undefined && { headersTimeout: timeoutMs }),
    // With 0, undici keeps no connection.
    pipelining: keepsConnections ? 1 : 0,
  }
  const proxy = isDirect ? undefined : proxyFor(origin)
  if (!proxy) return new Pool(origin, { ...options, connect: watched(buildConnector(connecting)) })
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    proxyTls: connecting,
    requestTls: connecting,
    clientFactory: (url, given) =>
      new Pool(
        url,
        withConnector(given, connect => toProxy(connect, proxy)),
      ),
    factory: (url, given) =>
      new Pool(
        url,
        withConnector(given, connect => watched(throughProxy(connect, proxy))),
      ),
  })
}

type Connector = buildConnector.connector

/** Undici gives a function here, which connects to the proxy or through it. */
const withConnector = (given: object, wrap: (connect: Connector) => Connector): Pool.Options => ({
  ...given,
  connect: wrap((given as { readonly connect: Connector }).connect),
})

/** Opens connections to the proxy. Their errors name it. */
const toProxy = (connect: Connector, proxy: ForwardProxy) =>
  withErrors(connect, error => proxyUnreachable(proxy, (error as NodeJS.ErrnoException).code ?? error.message))

/** Opens connections through the proxy. An error is the proxy's if it refuses to open one. */
const throughProxy = (connect: Connector, proxy: ForwardProxy) =>
  withErrors(connect, error => {
    const status = /^Proxy response \((\d+)\)/.exec(error.message)?.[1]
    return status === undefined ? error : proxyRefused(proxy, Number(status))
  })

const withErrors =
  (connect: Connector, errorFor: (error: Error) => Error): Connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) callback(error instanceof PlatformError ? error : errorFor(error), null)
      else callback(null, socket)
    })

const watched =
  (connect: Connector): Connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      watch(socket)
      callback(null, socket)
    })

/** The errors of connections that had answered earlier requests, and then closed without a byte of a further answer. */
const closedWhenKept = new WeakSet<Error>()

/** Whether a connection was lost that had been kept: the server may have closed it before it got the request. */
export const wasKept = (error: Error) => closedWhenKept.has(error)

/**
 * Keeps `100 Continue` away from undici's parser, for which it is an error, although nobody has to ask for it (RFC 9110
 * §15.2), and notes how a connection is lost. Undici writes one request at a time, as a whole, so the first bytes after
 * that are the beginning of its answer.
 */
function watch(socket: Socket): void {
  let answers = 0
  /** What had been written when the last answer began. */
  let writtenBytes = 0
  let held: Buffer = noBytes
  let isBegun = false

  socket.on('readable', () => {
    if (socket.bytesWritten === writtenBytes) return
    const bytes: Buffer | null = socket.read()
    if (bytes === null) return
    isBegun = true
    const { passed, rest, isFinal } = withoutContinue(held.length === 0 ? bytes : Buffer.concat([held, bytes]))
    held = rest
    if (isFinal) {
      answers++
      writtenBytes = socket.bytesWritten
      isBegun = false
    }
    if (passed.length > 0) socket.unshift(passed)
  })
  socket.once('error', error => {
    const isAwaiting = socket.bytesWritten !== writtenBytes && !isBegun
    if (isAwaiting && answers > 0) closedWhenKept.add(error)
  })
}

/** An informational head. After a 101, the bytes are of another protocol. */
const informationalHead = /^HTTP\/1\.1 (1(?!01)\d\d)[ \r].*?\r\n\r\n/s
const MOST_HEAD_BYTES = 16_384

/**
 * Removes `100 Continue` from the beginning of an answer. `rest` may become one with the next bytes; `isFinal` says whether
 * the actual answer has begun.
 */
function withoutContinue(bytes: Buffer): { readonly passed: Buffer; readonly rest: Buffer; readonly isFinal: boolean } {
  const isInformational = String.fromCharCode(bytes[FIRST_DIGIT] ?? 0) === '1'
  if (bytes.length > FIRST_DIGIT && !isInformational) return { passed: bytes, rest: noBytes, isFinal: true }
  let text = bytes.toString('latin1')
  let passed = ''
  for (;;) {
    const [head, status] = informationalHead.exec(text) ?? []
    if (head === undefined) break
    if (status !== '100') passed += head
    text = text.slice(head.length)
  }
  const isFinal = text !== '' && !mayBecomeInformational(text)
  return {
    passed: Buffer.from(isFinal ? passed + text : passed, 'latin1'),
    rest: Buffer.from(isFinal ? '' : text, 'latin1'),
    isFinal,
  }
}

/** Where a status begins. */
const FIRST_DIGIT = 'HTTP/1.1 '.length

const mayBecomeInformational = (text: string) =>
  text.length <= FIRST_DIGIT
    ? 'HTTP/1.1 '.startsWith(text)
    : /^HTTP\/1\.1 1(?!01)/.test(text) && text.length < MOST_HEAD_BYTES
