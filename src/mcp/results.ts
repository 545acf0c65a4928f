/** Builds the results of calls for the client's protocol version. */
import { isObject, stringifyExact } from '../core/json.js'
import type { McpGeneration } from '../replies/index.js'
import type { RpcResult } from '../rpc/frames.js'
import { metaKeys } from '../rpc/meta.js'
import { type Context, isModern } from './context.js'
import { cachingOf, serverInfo } from './lists.js'

export type McpResult = RpcResult['result']
type ContentBlock = Readonly<Record<string, unknown>>

/** The target of a call, as configured. */
export interface CallTarget {
  readonly method: string
  /** The name of the tool or prompt, or the URI. */
  readonly name: string
  readonly mimeType?: string | undefined
  readonly description?: string | undefined
}

/** The result of a call that a rule answers. */
export function resultOf(generation: McpGeneration, target: CallTarget, context: Context): McpResult {
  const { _meta: meta } = generation.content
  return { ...resultByMethod(generation, target, context), ...(meta && { _meta: meta }) }
}

function resultByMethod({ content, file }: McpGeneration, target: CallTarget, context: Context): McpResult {
  const { text, blob, contents, messages, description, values = [], total, hasMore } = content
  switch (target.method) {
    case 'tools/call':
      return toolResult(content, context)
    case 'resources/read': {
      const { mimeType = target.mimeType } = content
      return {
        contents: contents ?? [contentOf(target.name, mimeType, file ?? text ?? '', blob)],
        ...cachingOf(context),
      }
    }
    case 'prompts/get': {
      const promptDescription = description ?? target.description
      return {
        ...(promptDescription !== undefined && { description: promptDescription }),
        messages: messagesIn(messages, text, context),
      }
    }
    default:
      return completion(values, total, hasMore)
  }
}

/** The protocol allows at most 100 values. */
export const completion = (values: readonly string[], total = values.length, hasMore = total > 100): McpResult => ({
  completion: { values: values.slice(0, 100), total, hasMore },
})

function messagesIn(messages: readonly ContentBlock[] | undefined, text: string | undefined, { version }: Context) {
  if (!messages) return [userMessage(text ?? '')]
  return messages.map(one => (isObject(one.content) ? { ...one, content: blockInVersion(one.content, version) } : one))
}

export const userMessage = (text: string): ContentBlock => ({ role: 'user', content: textBlock(text) })
const textBlock = (text: string): ContentBlock => ({ type: 'text', text })

export function toolResult(
  { text, content, structuredContent, isError }: McpGeneration['content'],
  { version }: Context,
): McpResult {
  const blocks = content ?? (text === undefined ? textBlocksOf(structuredContent) : [textBlock(text)])
  const mayBeStructured = version >= '2025-06-18' && (isObject(structuredContent) || isModern({ version }))
  return {
    content: blocks.map(block => blockInVersion(block, version)),
    ...(structuredContent !== undefined && mayBeStructured && { structuredContent }),
    ...(isError !== undefined && { isError }),
  }
}

/** Clients of older versions only read the text. */
const textBlocksOf = (value: unknown): readonly ContentBlock[] =>
  value === undefined ? [] : [textBlock(stringifyExact(value))]

/** Converts content to text if the version does not have its type. */
function blockInVersion(block: ContentBlock, version: string): ContentBlock {
  if (block.type === 'audio' && version < '2025-03-26') return textBlock(`(audio, ${block.mimeType})`)
  if (block.type === 'resource_link' && version < '2025-06-18') return textBlock(String(block.uri))
  return block
}

/** The content of a resource: text, or bytes in base64. */
export function contentOf(
  uri: string,
  mimeType: string | undefined,
  content: string | Buffer,
  blob?: string,
): ContentBlock {
  const head = { uri, ...(mimeType !== undefined && { mimeType }) }
  if (blob !== undefined) return { ...head, blob }
  return typeof content === 'string' ? { ...head, text: content } : { ...head, blob: content.toString('base64') }
}

/** Adds the members that all results of a version have. */
export function withCommonMembers(result: McpResult, context: Context): McpResult {
  if (!isModern(context)) return result
  const meta = { [metaKeys.serverInfo]: serverInfo(context.server.options), ...(result._meta as object | undefined) }
  return { resultType: 'complete', ...result, _meta: meta }
}
