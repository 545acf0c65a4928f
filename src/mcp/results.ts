/** Builds what a server tells: its capabilities, the pages of its lists, and the results of calls, for the client's protocol version. */

import { isObject, stringifyExact } from '../core/json.js'
import { invalidParams, metaKeys, type RpcResult } from '../core/json-rpc.js'
import type { McpGeneration } from '../replies/index.js'
import type { McpServer } from './options.js'
import { type Context, isModern, type RunningServer } from './sessions.js'

export type McpResult = RpcResult['result']
type ContentBlock = Readonly<Record<string, unknown>>

/** The capabilities that `initialize` and `server/discover` return. */
export function capabilitiesOf({ options }: Pick<RunningServer, 'options'>): McpResult {
  const { tools, resources, resourceTemplates, prompts, completions } = options
  const hasPrompts = prompts.length > 0
  return {
    logging: {},
    ...(tools.length > 0 && { tools: { listChanged: true } }),
    ...(resources.length + resourceTemplates.length > 0 && { resources: { subscribe: true, listChanged: true } }),
    ...(hasPrompts && { prompts: { listChanged: true } }),
    ...((hasPrompts || resourceTemplates.length > 0 || Object.keys(completions).length > 0) && { completions: {} }),
  }
}

export const serverInfo = ({ name, title, version }: McpServer): McpResult => ({
  name,
  ...(title && { title }),
  version,
})

/** The list that each method returns. */
const listMethods: Readonly<Record<string, 'tools' | 'prompts' | 'resources' | 'resourceTemplates'>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
}

/** The answer to a request for a list; `undefined` for any other request. Throws an RpcError for an unknown cursor. */
export function listResult(method: string, { cursor }: McpResult, context: Context): McpResult | undefined {
  const { options } = context.server
  const list = Object.hasOwn(listMethods, method) ? listMethods[method] : undefined
  if (!list) return undefined
  const items: readonly McpResult[] = options[list]
  const start = cursor === undefined ? 0 : startAt(cursor)
  if (start > 0 && start >= items.length) throw unknownCursor()
  const end = start + options.pageSize
  return {
    [list]: items.slice(start, end).map(listedItem),
    ...(end < items.length && { nextCursor: Buffer.from(`from ${end}`).toString('base64url') }),
    ...cachingOf(context),
  }
}

/** Lists include neither the answers of items nor the content of resources. */
function listedItem({ reply: _, text: _text, blob: _blob, file: _file, ...item }: McpResult): McpResult {
  return { name: item.uri ?? item.uriTemplate, ...item }
}

function startAt(cursor: unknown): number {
  const [, digits] = /^from (\d{1,9})$/.exec(Buffer.from(String(cursor), 'base64url').toString()) ?? []
  if (digits === undefined) throw unknownCursor()
  return Number(digits)
}

const unknownCursor = () => invalidParams('cursor is unknown. Send the nextCursor of the previous page.')

/** How long clients may cache an answer. Versions with sessions do not have this. */
export function cachingOf(context: Context): McpResult {
  const { ttlMs, cacheScope } = context.server.options
  return isModern(context) ? { ttlMs, cacheScope } : {}
}

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
  const { text, blob, contents, messages, values = [], total, hasMore } = content
  switch (target.method) {
    case 'tools/call':
      return toolResult(content, context)
    case 'resources/read': {
      const { mimeType = target.mimeType } = content
      const only = resourceContent(target.name, mimeType, file ?? text ?? '', blob)
      return { contents: contents ?? [only], ...cachingOf(context) }
    }
    case 'prompts/get': {
      const { description = target.description } = content
      return {
        ...(description !== undefined && { description }),
        messages: messages ? messages.map(one => messageInVersion(one, context)) : [userMessage(text ?? '')],
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

const messageInVersion = (message: ContentBlock, { version }: Context): ContentBlock =>
  isObject(message.content) ? { ...message, content: blockInVersion(message.content, version) } : message

export const userMessage = (text: string): ContentBlock => ({ role: 'user', content: textBlock(text) })
const textBlock = (text: string): ContentBlock => ({ type: 'text', text })

export function toolResult(
  { text, content, structuredContent, isError }: McpGeneration['content'],
  { version }: Context,
): McpResult {
  // Clients of older versions only read the text.
  const onlyText = text ?? (structuredContent === undefined ? undefined : stringifyExact(structuredContent))
  const blocks = content ?? (onlyText === undefined ? [] : [textBlock(onlyText)])
  const mayBeStructured = version >= '2025-06-18' && (isObject(structuredContent) || isModern({ version }))
  return {
    content: blocks.map(block => blockInVersion(block, version)),
    ...(structuredContent !== undefined && mayBeStructured && { structuredContent }),
    ...(isError !== undefined && { isError }),
  }
}

/** Converts content to text if the version does not have its type. */
function blockInVersion(block: ContentBlock, version: string): ContentBlock {
  if (block.type === 'audio' && version < '2025-03-26') return textBlock(`(audio, ${block.mimeType})`)
  if (block.type === 'resource_link' && version < '2025-06-18') return textBlock(String(block.uri))
  return block
}

/** The content of a resource: text, or bytes in base64. */
export function resourceContent(
  uri: string,
  mimeType: string | undefined,
  content: string | Buffer,
  blob = typeof content === 'string' ? undefined : content.toString('base64'),
): ContentBlock {
  return { uri, ...(mimeType !== undefined && { mimeType }), ...(blob === undefined ? { text: content } : { blob }) }
}

/** Adds the members that all results of a version have. */
export function withCommonMembers(result: McpResult, context: Context): McpResult {
  if (!isModern(context)) return result
  const meta = { [metaKeys.serverInfo]: serverInfo(context.server.options), ...(result._meta as object | undefined) }
  return { resultType: 'complete', ...result, _meta: meta }
}
