/** Results of calls in the form of the client's protocol version. */
import { isObject, stringifyExact } from '../core/json.js'
import type { McpGeneration } from '../replies/index.js'
import type { RpcResult } from '../rpc/frames.js'
import { metaKeys } from '../rpc/meta.js'
import { type Context, isModern } from './context.js'
import { cachingOf, serverInfo } from './lists.js'

export type McpResult = RpcResult['result']
type Block = Readonly<Record<string, unknown>>

/** The target of a call, as configured. */
export interface Called {
  readonly method: string
  /** The name of the tool or prompt, or the URI. */
  readonly name: string
  readonly mimeType?: string | undefined
  readonly description?: string | undefined
}

/** The result of a call that a rule answers. */
export function resultOf(generation: McpGeneration, called: Called, context: Context): McpResult {
  const { _meta: meta } = generation.content
  return { ...ownResult(generation, called, context), ...(meta && { _meta: meta }) }
}

function ownResult({ content, file }: McpGeneration, called: Called, context: Context): McpResult {
  const { text, blob, contents, messages, description, values = [], total, hasMore } = content
  switch (called.method) {
    case 'tools/call':
      return toolResult(content, context)
    case 'resources/read': {
      const { mimeType = called.mimeType } = content
      return {
        contents: contents ?? [contentOf(called.name, mimeType, file ?? text ?? '', blob)],
        ...cachingOf(context),
      }
    }
    case 'prompts/get': {
      const about = description ?? called.description
      return { ...(about !== undefined && { description: about }), messages: messagesIn(messages, text, context) }
    }
    default:
      return completion(values, total, hasMore)
  }
}

/** The protocol allows at most 100. */
export const completion = (values: readonly string[], total = values.length, hasMore = total > 100): McpResult => ({
  completion: { values: values.slice(0, 100), total, hasMore },
})

function messagesIn(messages: readonly Block[] | undefined, text: string | undefined, { version }: Context) {
  if (!messages) return [userMessage(text ?? '')]
  return messages.map(one => (isObject(one.content) ? { ...one, content: inVersion(one.content, version) } : one))
}

export const userMessage = (text: string): Block => ({ role: 'user', content: textBlock(text) })
const textBlock = (text: string): Block => ({ type: 'text', text })

export function toolResult(
  { text, content, structuredContent, isError }: McpGeneration['content'],
  { version }: Context,
): McpResult {
  const blocks = content ?? (text === undefined ? asText(structuredContent) : [textBlock(text)])
  const mayBeStructured = version >= '2025-06-18' && (isObject(structuredContent) || isModern({ version }))
  return {
    content: blocks.map(block => inVersion(block, version)),
    ...(structuredContent !== undefined && mayBeStructured && { structuredContent }),
    ...(isError !== undefined && { isError }),
  }
}

/** Clients of older versions only read the text. */
const asText = (value: unknown): readonly Block[] => (value === undefined ? [] : [textBlock(stringifyExact(value))])

/** Content types that a version does not have become text. */
function inVersion(block: Block, version: string): Block {
  if (block.type === 'audio' && version < '2025-03-26') return textBlock(`(audio, ${block.mimeType})`)
  if (block.type === 'resource_link' && version < '2025-06-18') return textBlock(String(block.uri))
  return block
}

/** The content of a resource: text, or bytes in base64. */
export function contentOf(uri: string, mimeType: string | undefined, content: string | Buffer, blob?: string): Block {
  const head = { uri, ...(mimeType !== undefined && { mimeType }) }
  if (blob !== undefined) return { ...head, blob }
  return typeof content === 'string' ? { ...head, text: content } : { ...head, blob: content.toString('base64') }
}

/** The members that all results of a version have. */
export function completed(result: McpResult, context: Context): McpResult {
  if (!isModern(context)) return result
  const meta = { [metaKeys.serverInfo]: serverInfo(context.server.options), ...(result._meta as object | undefined) }
  return { resultType: 'complete', ...result, _meta: meta }
}
