/** Errors for callers that speak JSON-RPC. A file of its own, so that it is loaded with the first of them. */
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { jsonOf } from '../core/json.js'
import { failureFrame, idOf } from '../rpc/frames.js'

/** One of the codes that JSON-RPC leaves to servers. The Model Context Protocol gives others near it a meaning. */
const NO_ANSWER = -32004

/** The same error as the answer to a call, where the request is one. Its status is 200: clients take any other for a broken connection. */
export function forCaller(error: PlatformError, { body }: Pick<Exchange, 'body'>): PlatformError {
  const asked = body && jsonOf(body)
  if (!isCall(asked)) return error
  const { status, code, message, headers, more } = error
  const frame = failureFrame(idOf(asked) ?? null, { code: NO_ANSWER, message, data: { code } })
  return new PlatformError(status, code, message, headers, { ...more, frame })
}

const isCall = (value: unknown) =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
