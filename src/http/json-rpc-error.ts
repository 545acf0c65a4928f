/** Errors for callers that use JSON-RPC. A separate file, so that it is loaded only when one is needed. */
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { jsonOf } from '../core/json.js'
import { failureFrame, idOf } from '../core/json-rpc.js'

/** One of the codes that JSON-RPC reserves for servers. It is none of those that MCP defines in this range. */
const NO_ANSWER_CODE = -32004

/**
 * Adds the answer in JSON-RPC's format to an error, if the request is a call. That answer is sent with a 200, because
 * clients treat any other status as a broken connection.
 */
export function jsonRpcError(error: PlatformError, { body }: Pick<Exchange, 'body'>): PlatformError {
  const call = body && jsonOf(body)
  if (!isCall(call)) return error
  const { status, code, message, headers, more } = error
  const frame = failureFrame(idOf(call) ?? null, { code: NO_ANSWER_CODE, message, data: { code } })
  return new PlatformError(status, code, message, headers, { ...more, frame })
}

const isCall = (value: unknown) =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
