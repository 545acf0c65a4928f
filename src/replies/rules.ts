/** Rules as their authors write them: those for chat completions, for other paths, and for calls of MCP. */
import * as v from 'valibot'
import { closed, oneForm, open, optional, text } from '../check/forms.js'
import type { PaceInput } from '../core/pace.js'
import { type ChatRule, chatRuleSchema, type When, whenSchema } from './chat/form.js'
import { type HttpRule, type HttpWhen, httpRuleSchema, httpWhenSchema } from './http/form.js'
import { CHAT_ROUTE } from './http/route.js'
import { isMcpOn } from './mcp/call.js'
import { type McpRule, type McpWhen, mcpRuleSchema, mcpWhenSchema } from './mcp/form.js'

const onOf = (written: unknown) =>
  typeof written === 'object' && written !== null && 'on' in written ? written.on : undefined

/** A rule without `on` is for chat completions. */
const isHttp = (written: unknown) => ![undefined, CHAT_ROUTE].includes(onOf(written) as string) && !isMcp(written)
/** Whether a rule, as it is written, is for calls of MCP. */
export const isMcp = (written: unknown) => isMcpOn(onOf(written))

type WrittenRule = v.InferInput<typeof chatRuleSchema | typeof httpRuleSchema | typeof mcpRuleSchema>

// With their types written out, the declaration of these would be a megabyte.
export const ruleSchema: v.GenericSchema<WrittenRule, Rule> = oneForm(
  [chatRuleSchema, httpRuleSchema, mcpRuleSchema],
  written => (isMcp(written) ? 2 : isHttp(written) ? 1 : 0),
)

export const rulesSchema: v.GenericSchema<WrittenRule[], Rule[]> = v.array(ruleSchema, 'a list of rules')

/** The conditions of each dialect, which may contain conditions again. */
export const conditionForms = {
  chatConditions: whenSchema,
  httpConditions: httpWhenSchema,
  mcpConditions: mcpWhenSchema,
}

const scope = optional(text, 'The scope whose requests it answers.')

/** The body of a request that adds rules: a rule, or a list of rules. A single rule may contain its scope. */
export const ruleByCall = v.lazy(written => (Array.isArray(written) ? v.array(v.unknown()) : open({ scope })))

type SentRules = (WrittenRule & { scope?: string | undefined }) | WrittenRule[]

/** The same in full, for the OpenAPI document. */
export const sentRules: v.GenericSchema<SentRules> = v.union(
  [
    closed({ ...chatRuleSchema.entries, scope }),
    closed({ ...httpRuleSchema.entries, scope }),
    closed({ ...mcpRuleSchema.entries, scope }),
    rulesSchema,
  ],
  'a rule, or a list of rules',
)

export type Rule = ChatRule | HttpRule | McpRule

export const isHttpRule = (rule: Rule): rule is HttpRule => isHttp(rule)
export const isMcpRule = (rule: Rule): rule is McpRule => isMcp(rule)

/** In code, a condition on a text may also be a RegExp. */
type WithExpressions<T> = T extends string
  ? T | RegExp
  : T extends readonly (infer Item)[]
    ? readonly WithExpressions<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: WithExpressions<T[K]> }
      : T

type AsWritten<R, W> = Omit<R, 'when' | 'pace'> & {
  readonly when?: WithExpressions<W> | null | undefined
  readonly pace?: PaceInput | null | undefined
}

/** A rule for chat completions, as its author writes it. */
export interface ChatRuleInput extends AsWritten<v.InferInput<typeof chatRuleSchema>, When> {}
/** A rule for another path, as its author writes it. */
export interface HttpRuleInput extends AsWritten<v.InferInput<typeof httpRuleSchema>, HttpWhen> {}
/** A rule for calls of MCP, as its author writes it. */
export interface McpRuleInput extends AsWritten<v.InferInput<typeof mcpRuleSchema>, McpWhen> {}
/** Any rule, as its author writes it. */
export type RuleInput = ChatRuleInput | HttpRuleInput | McpRuleInput
