/** Errors for callers that use JSON-RPC. A separate file, so that it is only loaded for the first of them. */
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { jsonOf } from '../core/json.js'
import { failureFrame, idOf } from '../rpc/frames.js'

/** One of the codes that JSON-RPC reserves for servers. MCP already defines others in this range. */
const NO_ANSWER = -32004

/** Turns the error into the answer to a call, if the request is one. Its status is 200, because clients treat any other as a broken connection. */
export function forCaller(error: PlatformError, { body }: Pick<Exchange, 'body'>): PlatformError {
  const call = body && jsonOf(body)
  if (!isCall(call)) return error
  const { status, code, message, headers, more } = error
  const frame = failureFrame(idOf(call) ?? null, { code: NO_ANSWER, message, data: { code } })
  return new PlatformError(status, code, message, headers, { ...more, frame })
}

const isCall = (value: unknown) =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
