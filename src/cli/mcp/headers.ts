/** The HTTP headers that mirror fields of an MCP message. A separate file, because it only depends on messages. */
import { parameterHeaders } from '../../mcp/param-headers.js'
import { isRequest, type RpcFrame, targetOf } from '../../rpc/frames.js'
import { metaKeys, metaOf } from '../../rpc/meta.js'

/** The protocol version that a message names itself; `undefined` for a message in a session. */
export function versionIn(frame: RpcFrame): string | undefined {
  const version = 'params' in frame ? metaOf(frame.params)[metaKeys.version] : undefined
  return typeof version === 'string' ? version : undefined
}

/** Headers of a message without a session: its version, its method, the name that it calls, and arguments by `schema`. */
export function statelessHeaders(frame: RpcFrame, schema?: unknown): Readonly<Record<string, string>> {
  const version = versionIn(frame)
  if (version === undefined || !('method' in frame)) return {}
  const { method, params = {} } = frame
  const name = isRequest(frame) ? targetOf(method, params) : undefined
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': headerText(name) }),
    ...Object.fromEntries(argumentHeaders(schema, params.arguments)),
  }
}

/** The arguments that the schema of the tool marks (specification 2026-07-28, "Custom Headers from Tool Parameters"). */
const argumentHeaders = (schema: unknown, args: unknown) =>
  [...parameterHeaders(schema, args)].flatMap(({ header, value }) =>
    value === undefined || typeof value === 'object'
      ? []
      : [[`mcp-param-${header}`, headerText(String(value))] as const],
  )

/** Encodes text that is not valid in a header as `=?base64?…?=`. */
const headerText = (text: string) =>
  /^[!-~](?:[\t -~]*[!-~])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
