/** Tests the conditions of rules on requests, for uses other than rules. */
import { check } from '../check/check.js'
import { plainJson } from '../check/plain-json.js'
import { ProblemsError } from '../check/problem.js'
import type { Exchange } from '../core/exchange.js'
import { jsonOf } from '../core/json.js'
import { metaKeys, metaOf } from '../core/json-rpc.js'
import { lookupMethod } from '../core/paths.js'
import { compileChatWhen } from './chat/form.js'
import { ChatInput, findChat } from './chat/input.js'
import type { Condition, MatchInput } from './conditions/value-tests.js'
import { compileHttpWhen, type HttpRule } from './http/form.js'
import { inputOf } from './http/input.js'
import { matchesSteps, routeOf, stepsOfPath } from './http/route.js'
import { callFrom, McpInput, mcpTarget, sentCall } from './mcp/call.js'
import { type McpRule, mcpConditionsOf } from './mcp/form.js'
import { isHttpRule, isMcpRule, ruleSchema } from './rules.js'

/** What a request is tested for: `on` and `when` of a rule. Without `on`, only chat completions match. */
interface Conditions {
  readonly on?: string | undefined
  readonly when?: unknown
}

/**
 * Returns a function that says why a request does not match: one reason for each condition, none if it matches, and `undefined` if it is
 * not for what `on` names. Throws a ProblemsError that names the mistakes.
 */
export function requestTest(written: Conditions, origin: string) {
  // Any kind of request can get a fault, so this is a valid rule for each.
  const rule = { ...(plainJson(written, { origin, isRule: true }) as object), reply: { fault: { hang: true } } }
  const checked = check(ruleSchema, rule)
  if ('mistakes' in checked) throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin, sentence })))
  const valid = checked.value
  if (isMcpRule(valid)) return tested(mcpConditionsOf(valid), exchange => mcpInputOf(valid, exchange))
  if (isHttpRule(valid)) return tested(compileHttpWhen(valid), exchange => httpInputOf(valid, exchange))
  return tested(compileChatWhen(valid.when ?? {}), chatInputOf)
}

const tested =
  <I extends MatchInput>(
    conditions: readonly Condition<I>[],
    inputFor: (exchange: Exchange) => I | undefined | Promise<I | undefined>,
  ) =>
  async (exchange: Exchange): Promise<readonly string[] | undefined> => {
    const input = await inputFor(exchange)
    return input && conditions.filter(one => !one.holds(input)).map(one => one.mismatch(input))
  }

function chatInputOf(exchange: Exchange): ChatInput | undefined {
  const request = exchange.endpoint?.callsModel ? findChat(exchange) : undefined
  return request && new ChatInput(request, exchange)
}

async function httpInputOf({ on }: HttpRule, exchange: Exchange) {
  const route = routeOf(on)
  if (route.method !== lookupMethod(exchange.method) || !matchesSteps(route, stepsOfPath(exchange.path)))
    return undefined
  try {
    return await inputOf(exchange)
  } catch {
    // A body that is not what its Content-Type says gets a 400.
    return undefined
  }
}

function mcpInputOf({ on }: McpRule, { method, path, body, headers, caller, scope }: Exchange): McpInput | undefined {
  const call = method === 'POST' && body ? sentCall(jsonOf(body)) : undefined
  if (!call || call.method !== mcpTarget(on).method) return undefined
  const client = (metaOf(call.params)[metaKeys.clientInfo] as { readonly name?: string } | undefined)?.name
  return new McpInput({ ...callFrom({ ...call, server: path, headers, caller, scope }), client })
}
