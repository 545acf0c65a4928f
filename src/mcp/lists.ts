/** The capabilities of a server, and its lists page by page. */
import type { McpServer } from '../config/mcp-options.js'
import { invalidParams } from '../rpc/frames.js'
import { type Context, isModern, type RunningServer } from './context.js'
import type { McpList } from './operations.js'

type Value = Readonly<Record<string, unknown>>

/** The capabilities that `initialize` and `server/discover` return. */
export function capabilitiesOf({ options, configured }: Pick<RunningServer, 'options' | 'configured'>): Value {
  const { resourceTemplates, completions } = options
  // A list that was emptied at run time is still a capability.
  const hasAny = (...lists: readonly McpList[]) =>
    lists.some(list => options[list].length + configured[list].length > 0)
  const has = { tools: hasAny('tools'), prompts: hasAny('prompts') }
  const hasResources = hasAny('resources', 'resourceTemplates')
  return {
    logging: {},
    ...(has.tools && { tools: { listChanged: true } }),
    ...(hasResources && { resources: { subscribe: true, listChanged: true } }),
    ...(has.prompts && { prompts: { listChanged: true } }),
    ...((has.prompts || resourceTemplates.length > 0 || Object.keys(completions).length > 0) && { completions: {} }),
  }
}

export const serverInfo = ({ name, title, version }: McpServer): Value => ({ name, ...(title && { title }), version })

/** The answer to a request for a list; `undefined` for any other request. Throws an RpcError for an unknown cursor. */
export function listResult(method: string, params: Value, context: Context): Value | undefined {
  const { options } = context.server
  switch (method) {
    case 'tools/list':
      return page('tools', options.tools.map(withoutReply), params, context)
    case 'prompts/list':
      return page('prompts', options.prompts.map(withoutReply), params, context)
    case 'resources/list':
      return page('resources', options.resources.map(listedResource), params, context)
    case 'resources/templates/list': {
      const templates = options.resourceTemplates.map(one => ({ name: one.uriTemplate, ...withoutReply(one) }))
      return page('resourceTemplates', templates, params, context)
    }
  }
}

const withoutReply = ({ reply: _, ...listed }: { readonly reply?: unknown }): Value => listed

/** Lists do not include the content of resources. */
function listedResource({
  reply: _,
  text: _text,
  blob: _blob,
  file: _file,
  ...listed
}: McpServer['resources'][number]): Value {
  return { name: listed.uri, ...listed }
}

function page(name: string, items: readonly Value[], { cursor }: Value, context: Context): Value {
  const { pageSize } = context.server.options
  const start = cursor === undefined ? 0 : startAt(cursor)
  if (start > 0 && start >= items.length) throw unknownCursor()
  const end = start + pageSize
  return {
    [name]: items.slice(start, end),
    ...(end < items.length && { nextCursor: Buffer.from(`from ${end}`).toString('base64url') }),
    ...cachingOf(context),
  }
}

/** How long clients may cache an answer. Versions with sessions do not have this. */
export function cachingOf(context: Context): Value {
  const { ttlMs, cacheScope } = context.server.options
  return isModern(context) ? { ttlMs, cacheScope } : {}
}

function startAt(cursor: unknown): number {
  const [, digits] = /^from (\d{1,9})$/.exec(Buffer.from(String(cursor), 'base64url').toString()) ?? []
  if (typeof cursor !== 'string' || digits === undefined) throw unknownCursor()
  return Number(digits)
}

const unknownCursor = () => invalidParams('cursor is unknown. Send the nextCursor of the previous page.')
