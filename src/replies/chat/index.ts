/** The emulated model's answers to chat completions: by rule, by magic words, or generated. Not in chat.ts, which is loaded to read rules. */
import type { Choice, Generation, ToolCall } from '../../chat/generation.js'
import type { ChatRequest } from '../../chat/request.js'
import { check } from '../../check/check.js'
import { closed } from '../../check/forms.js'
import { plainJson } from '../../check/plain-json.js'
import { ProblemsError } from '../../check/problem.js'
import { noRuleMatches } from '../../core/errors.js'
import type { Exchange } from '../../core/exchange.js'
import type { Fault } from '../../core/fault.js'
import { defaultReply, offeredTools } from '../default-reply.js'
import type { ReadyRule } from '../dialect.js'
import { createEngine, type RuleSources } from '../engine.js'
import { type Explanation, explanationOf, nearestSentence } from '../explain.js'
import { hasMagic, MAGIC_PREFIX, magicReply } from '../magic.js'
import { compileChatWhen, whenSchema } from './form.js'
import { type ChatCircumstances, ChatInput, findChat } from './input.js'
import { chat, type ReadyChatReply } from './reply.js'

/** How chat completions are answered without a rule. */
export interface ChatSettings {
  readonly seed: number
  /** Whether a request that no rule matches is an error. */
  readonly strict: boolean
}

type Parts = RuleSources & ChatSettings

export function createChatReplies(parts: Parts) {
  const { seed, memory } = parts
  const { rulesFor, take, mayFail, answersOwn } = createEngine(chat, parts)
  return {
    /** A promise only if something has to be generated first. Throws a 424 if no rule matches and one is required. */
    answer(request: ChatRequest, circumstances?: ChatCircumstances): Generation | Promise<Generation> {
      const input = new ChatInput(request, circumstances)
      if (input.user.includes(MAGIC_PREFIX) && hasMagic(input.user)) return magicReply(request, input.user, seed)
      const chosen = take(input)
      if (!chosen) return withoutRule(input, rulesFor(input.scope), parts)
      const generation = chosen.reply.always ?? chosen.reply.generate(input, chosen.count)
      // Most requests ask for no format, and need no call to find that out.
      const needsCheck = (request.response_format != null && asksForForm(request)) || chosen.reply.calls.length > 0
      return needsCheck && !canJudge() ? loadJudge().then(() => generation) : generation
    },
    /** Says which rule would answer, without counting it as an answer. */
    explain(request: ChatRequest, circumstances?: ChatCircumstances): Explanation {
      const input = new ChatInput(request, circumstances)
      const isMagic = hasMagic(input.user)
      const { reply, ...explanation } = explanationOf(input, {
        rules: rulesFor(input.scope),
        memory,
        isMagic,
        text: input.user,
        otherwise: async nearest => (isMagic ? magicReply(request, input.user, seed) : madeUp(input, parts, nearest)),
      })
      // The code that checks replies is loaded with the first reply that needs it.
      return { ...explanation, reply: () => loadJudge().then(reply) }
    },
    /** Whether a rule of the test's own answers an exchange. Does not count as an answer. */
    answersOwn(exchange: Exchange): boolean {
      const request = findChat(exchange)
      return request !== undefined && answersOwn(new ChatInput(request, exchange))
    },
    /** The fault of the rule that answers an exchange. Counts as an answer. */
    faultFor(exchange: Exchange): Promise<Fault | undefined> | undefined {
      if (!mayFail(exchange.scope)) return undefined
      const request = findChat(exchange)
      return Promise.resolve(request && take(new ChatInput(request, exchange))?.reply.fault)
    },
  }
}

function withoutRule(input: ChatInput, rules: readonly ReadyRule<ReadyChatReply>[], parts: Parts): Promise<Generation> {
  const { memory } = parts
  const nearest = () => nearestSentence(input, { rules, memory, text: input.user })
  const reply = madeUp(input, parts, nearest)
  return rules.length > 0 ? reply.then(generation => ({ ...generation, remark: nearest })) : reply
}

/** Throws a 424 that names the nearest rule if a rule is required. */
function madeUp({ request }: ChatInput, { strict, seed }: Pick<Parts, 'strict' | 'seed'>, nearest: () => string) {
  if (strict) throw noRuleMatches(nearest())
  return defaultReply(request, seed)
}

/** Returns why a value does not fit a schema; `undefined` if it does. */
let whyUnfit: ((schema: object, value: unknown) => string | undefined) | undefined

/** Whether the code that checks replies has been loaded. */
const canJudge = () => whyUnfit !== undefined

export async function loadJudge(): Promise<void> {
  const { validatorOf } = await import('../../check/json-schema.js')
  whyUnfit = (schema, value) => validatorOf(schema)(value, { firstOnly: true })[0]?.sentence
}

const asksForForm = ({ response_format: format }: ChatRequest) => format != null && format.type !== 'text'

/** Returns a function to call when the log is written, or `undefined` if there is nothing to check. */
export function mismatchOf(request: ChatRequest, generation: Generation): (() => string | undefined) | undefined {
  const { choices, answeredBy, fault } = generation
  if (answeredBy.kind === 'canned' || fault?.status !== undefined) return undefined
  if (!asksForForm(request) && !choices.some(({ toolCalls }) => toolCalls)) return undefined
  return () => {
    try {
      return firstMismatch(request, choices)
    } catch {
      // It cannot be checked, because the schema is unreadable or takes too long.
      return undefined
    }
  }
}

function firstMismatch(request: ChatRequest, choices: readonly Choice[]): string | undefined {
  for (const { text, toolCalls = [], refusal, finishReason } of choices) {
    for (const call of toolCalls) {
      const wrong = wrongCall(request, call)
      if (wrong) return wrong
    }
    const isWhole = toolCalls.length === 0 && refusal === undefined && (finishReason ?? 'stop') === 'stop'
    const wrong = isWhole && asksForForm(request) ? wrongText(request, text ?? '') : undefined
    if (wrong) return wrong
  }
  return undefined
}

function wrongCall(request: ChatRequest, { name, arguments: given }: ToolCall): string | undefined {
  const functions = (request.functions ?? []).map(one => ({ ...one, kind: 'function' }))
  const tool = [...offeredTools(request), ...functions].find(offered => offered.name === name)
  if (!tool) return `It calls ${name}, which the request does not offer.`
  const { kind, parameters } = tool
  if (kind === 'custom' || typeof parameters !== 'object' || parameters === null) return undefined
  return wrongJson(given, parameters, `The arguments of ${name}`, 'do not fit its parameters')
}

function wrongText({ response_format: format }: ChatRequest, text: string): string | undefined {
  const schema = format?.type === 'json_schema' ? format.json_schema?.schema : format?.schema
  return wrongJson(text, schema ?? { type: 'object' }, 'The text', 'does not fit response_format')
}

function wrongJson(text: string, schema: object, what: string, verb: string): string | undefined {
  try {
    const why = whyUnfit?.(schema, JSON.parse(text))
    return why === undefined ? undefined : `${what} ${verb}: ${why}`
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return `${what} ${what.startsWith('The arguments') ? 'are' : 'is'} not JSON, which the request asks for.`
  }
}

/**
 * Tests conditions on exchanges, for uses other than rules. Only chat completion requests can match, whatever the
 * conditions are. Throws a ProblemsError that names the mistakes in `when`.
 */
export function conditionsOn(when: unknown) {
  const checked = check(closed({ when: whenSchema }), plainJson({ when }, { origin: 'failNext', isRule: true }))
  if ('mistakes' in checked) {
    throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'failNext', sentence })))
  }
  const conditions = compileChatWhen(checked.value.when)
  return {
    when: checked.value.when,
    fit(exchange: Exchange): boolean {
      if (!exchange.endpoint?.callsModel) return false
      const request = findChat(exchange)
      if (!request) return false
      const input = new ChatInput(request, exchange)
      return conditions.every(condition => condition.holds(input))
    },
  }
}
