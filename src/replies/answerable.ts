/** What a rule can go by to answer one request and no other, made from the whole of it. */
import { chatRequest } from '../chat/request.js'
import { check } from '../check/check.js'
import { accessBelow, type Exchange } from '../core/exchange.js'
import { jsonOf } from '../core/json.js'
import { lookupMethod } from '../core/paths.js'
import { ChatInput, findChat } from './chat/input.js'
import { inputOf } from './http/input.js'
import { isDocumented, routeOf, whyInvalidRoute } from './http/route.js'
import { hasMagic } from './magic.js'
import { callFrom, isNamed, McpInput, sentCall, whyInvalidTarget } from './mcp/call.js'

/** What an answer can be: words, JSON, a tool call, or a failure. */
export const answerForms = ['text', 'json', 'tool', 'fault'] as const
export type AnswerForm = (typeof answerForms)[number]

/** A request that a rule can answer. */
export interface Answerable {
  /** What the rule is for; absent for a chat. */
  readonly on?: string
  readonly access?: 'anyone'
  readonly fingerprint: string
  /** The text of its last user message, if there is any. */
  readonly user?: string
  readonly forms: readonly AnswerForm[]
  readonly tools: readonly string[]
  /** What the request has in common with others that have the same fingerprint. */
  readonly same: string
}

const CUT = 'Only the beginning of its body was kept, so that nothing tells it from another request.'

/** What a rule can go by to answer this request; or a sentence that says why none can. */
export async function answerable(exchange: Exchange, isMcp: (path: string) => boolean): Promise<Answerable | string> {
  if (exchange.bodyCutFromBytes !== undefined) return CUT
  if (exchange.isWebSocket) return 'No rule can answer a WebSocket.'
  const isChat = exchange.endpoint?.callsModel === true
  const isCall = !isChat && isMcp(exchange.path)
  if (isRefusedFirst(exchange, isChat || isCall ? mayBeAnswered : mayBeAnsweredAtPath))
    return `It was refused before any rule was asked: ${exchange.outcome?.error}`
  if (isChat) return answerableChat(exchange)
  return isCall ? answerableCall(exchange) : answerablePath(exchange)
}

/** Errors of Standin itself that come when rules were asked already, or that will be over soon. */
const mayBeAnswered = [424, 429]
const mayBeAnsweredAtPath = [404, 405, 424, 429]

function isRefusedFirst({ outcome }: Exchange, statuses: readonly number[]): boolean {
  if (
    !outcome ||
    outcome.error === undefined ||
    outcome.answeredBy ||
    outcome.fault ||
    outcome.answer?.kind === 'upstream'
  )
    return false
  return outcome.status < 500 && !statuses.includes(outcome.status)
}

function answerableChat(exchange: Exchange): Answerable | string {
  const request = findChat(exchange)
  if (!request) return 'It is no valid chat request, so that it is refused before any rule is asked.'
  const input = new ChatInput(request, exchange)
  if (hasMagic(input.user)) return 'Its magic word answers it, before any rule.'
  const offered = [...(request.tools ?? []), ...(request.functions ?? [])].map(nameOfTool)
  return {
    fingerprint: input.fingerprint,
    ...(input.user.trim() !== '' && { user: input.user }),
    forms: ['text', 'json', 'tool', 'fault'],
    tools: offered.filter(name => name !== undefined),
    same: 'the same messages, whatever the instructions and parameters',
  }
}

function nameOfTool(tool: unknown): string | undefined {
  const { function: called, custom, name } = tool as Readonly<Record<string, { readonly name?: string } | undefined>>
  return (called ?? custom)?.name ?? (typeof name === 'string' ? name : undefined)
}

/** What an answer to each method of MCP can be. All others can only fail. */
const formsOfCalls: Readonly<Record<string, readonly AnswerForm[]>> = {
  'tools/call': ['text', 'json', 'fault'],
  'resources/read': ['text', 'fault'],
  'prompts/get': ['text', 'fault'],
}

function answerableCall({ method, path, body, headers, caller, scope }: Exchange): Answerable | string {
  const call = method === 'POST' && body ? sentCall(jsonOf(body)) : undefined
  if (!call) return 'It is no call of the MCP server, so that no rule can answer it.'
  const input = new McpInput(callFrom({ ...call, server: path, headers, caller, scope }))
  const on = isNamed(call.method) ? `${call.method} ${input.name}`.trim() : call.method
  const trouble = whyInvalidTarget(on)
  if (trouble !== undefined) return `No rule can answer it: ${on} ${trouble}`
  return {
    on,
    fingerprint: input.fingerprint,
    forms: formsOfCalls[call.method] ?? ['fault'],
    tools: [],
    same: 'the same call with the same arguments',
  }
}

async function answerablePath(exchange: Exchange): Promise<Answerable | string> {
  const { path, caller } = exchange
  const on = `${lookupMethod(exchange.method)} ${path}`
  const trouble = whyInvalidRoute(on)
  if (trouble !== undefined) return `No rule can answer it: ${on} ${trouble}.`
  if (routeOf(on).segments.some(({ kind }) => kind !== 'literal'))
    return `No rule can answer it: ${on} has a segment that begins with : or *, which a rule takes for any segment.`
  const isAnonymous = caller.kind === 'anonymous' || caller.kind === 'refused'
  if (isAnonymous && accessBelow(path) !== undefined)
    return 'It has no credential that this path takes, so that it is refused before any rule is asked.'
  try {
    return {
      on,
      ...(isAnonymous && { access: 'anyone' }),
      fingerprint: (await inputOf(exchange)).fingerprint,
      forms: isDocumented(on) ? ['fault'] : ['text', 'json', 'fault'],
      tools: [],
      same: 'the same path, query and body',
    }
  } catch (error) {
    return `No rule can answer it: ${(error as Error).message}`
  }
}

/** The last user message of a chat as it is shown, without secrets. */
export function shownMessage({ request }: { readonly request: { readonly body?: unknown } }): string | undefined {
  const checked = check(chatRequest, request.body, { firstOnly: true })
  return 'value' in checked ? new ChatInput(checked.value).user : undefined
}

/** The beginning of a rule for nothing but the same request. */
export const ruleFor = ({ on, access, fingerprint }: Answerable, name: string) => ({
  name,
  ...(on !== undefined && { on }),
  ...(access && { access }),
  when: { fingerprint },
})
