/** Rules for chat completions: the table of their conditions, and the form of their replies. */
import * as v from 'valibot'
import { finishReasons } from '../../chat/completion.js'
import { chatFields } from '../../chat/request.js'
import { closed, described, filled, map, numberBetween, optional, text, word } from '../../check/forms.js'
import { faultSchema } from '../../core/fault.js'
import {
  type ConditionsIn,
  compileWhen,
  condition,
  fieldValues,
  formsIn,
  onEach,
  onText,
  onValue,
  patternText,
  rangeCondition,
  type SharedWhen,
  several,
  sharedForms,
  textCondition,
} from '../conditions/table.js'
import {
  type Condition,
  fieldAt,
  fieldPath,
  nameTest,
  simple,
  type TextCondition,
  textTest,
  type ValueCondition,
  valueTest,
} from '../conditions/value-tests.js'
import { CHAT_ROUTE } from '../http/route.js'
import { ruleFields, ruleForm } from '../rule-form.js'
import type { ChatInput, ToolResult } from './input.js'

const formatType = word(['text', 'json_object', 'json_schema'])

const toolResultForm = v.union(
  [
    v.boolean('true or false'),
    closed({
      tool: optional(filled, 'The tool whose result it is.'),
      contains: optional(textCondition, 'What the result contains, as for user.'),
    }),
  ],
  'true, false, or { tool: …, contains: … }',
)

const responseFormatForm = v.union(
  [
    formatType,
    closed({
      type: optional(formatType, 'The type of response_format.'),
      name: optional(filled, 'The name of the JSON Schema. * matches anything.'),
    }),
  ],
  'text, json_object, json_schema, or { type: …, name: … }',
)

const chatConditions = {
  user: condition(
    textCondition,
    'The last user message: a part of it, /a regular expression/flags, { exact: … }, or a list of which one must match.',
    onText(({ user }: ChatInput) => user),
  ),
  system: condition(
    textCondition,
    'The system and developer messages, as for user.',
    onText(({ system }: ChatInput) => system),
  ),
  assistant: condition(
    textCondition,
    'The last assistant message, as for user.',
    onText(({ assistant }: ChatInput) => assistant),
  ),
  any: condition(textCondition, 'Any message, as for user.', onAnyText),
  model: condition(
    v.union([patternText, several(patternText, 'a list of models')], 'the id of a model, or a list of them'),
    'The id of the model. * matches anything.',
    onValue(({ request }: ChatInput) => request.model),
  ),
  turn: condition(
    rangeCondition,
    'The number of user messages, 1 in the first turn: a number, or { min: …, max: … }.',
    onValue(({ turn }: ChatInput) => turn),
  ),
  stream: condition(
    v.boolean('true or false'),
    'Whether a stream is requested.',
    onValue(({ request }: ChatInput) => request.stream ?? false),
  ),
  temperature: condition(
    rangeCondition,
    'The temperature: a number, or { min: …, max: … }.',
    onValue(({ request }: ChatInput) => request.temperature),
  ),
  tools: condition(
    v.union([v.boolean('true or false'), filled, several(filled, 'a list of tools')], 'true, false, or names of tools'),
    'Names of tools that must all be offered; true for any, false for none.',
    onTools,
  ),
  toolResult: condition(
    toolResultForm,
    'Whether the request ends with a tool result: true, false, or the tool and what its result contains.',
    onToolResult,
  ),
  responseFormat: condition(responseFormatForm, 'What response_format asks for.', onResponseFormat),
  request: condition(
    fieldValues,
    'Any other fields of the request by their path, such as metadata.unit, and their values.',
    onEach(onRequestField),
  ),
}

export type When = ConditionsIn<typeof chatConditions> & SharedWhen<When>

/** Advice for a request field that was written as a condition: `request.seed`, as in templates, or `seed`. */
function fieldAdvice(key: string): string | undefined {
  const field = key.replace(/^request\./, '')
  if (!/[.[]/.test(key) && !chatFields.includes(key)) return undefined
  return ` Put fields of the request under request: { ${field}: … }.`
}

export const whenSchema: v.GenericSchema<When> = closed(
  { ...formsIn(chatConditions), ...sharedForms(() => whenSchema) },
  fieldAdvice,
)

/** Compiles the conditions of a chat rule. Does not throw for conditions that have passed validation. */
export const compileChatWhen = (when: When): readonly Condition<ChatInput>[] => compileWhen(when, chatConditions)

function onAnyText(wanted: TextCondition): Condition<ChatInput> {
  const test = textTest(wanted)
  return {
    holds: ({ texts }) => texts.some(test.holds),
    mismatch: () => `no message fits: it ${test.mismatch}`,
    exec({ texts }) {
      const found = texts.find(test.holds)
      return found === undefined ? null : (test.exec?.(found) ?? null)
    },
  }
}

const namesOfTools = ({ request: { tools, functions } }: ChatInput): readonly unknown[] => [
  ...(tools ?? []).map(tool => {
    const { function: fn, custom } = tool as { readonly [kind: string]: { readonly name?: unknown } | undefined }
    return fn?.name ?? custom?.name
  }),
  ...(Array.isArray(functions) ? functions.map(fn => fn?.name) : []),
]

function onTools(wanted: boolean | string | readonly string[]): Condition<ChatInput> {
  if (typeof wanted === 'boolean') {
    return {
      holds: input => namesOfTools(input).length > 0 === wanted,
      mismatch: () => (wanted ? 'no tools are offered' : 'tools are offered'),
    }
  }
  const tools = [wanted].flat().map(name => ({ name, test: nameTest(name) }))
  const missing = (input: ChatInput) => {
    const offered = namesOfTools(input)
    return tools.filter(({ test }) => !offered.some(test.holds)).map(({ name }) => name)
  }
  return {
    holds: input => missing(input).length === 0,
    mismatch: input => `tools does not offer ${missing(input).join(', ')}`,
  }
}

function onToolResult(wanted: v.InferOutput<typeof toolResultForm>): Condition<ChatInput> {
  if (typeof wanted === 'boolean') {
    return {
      holds: ({ toolResults }) => toolResults.length > 0 === wanted,
      mismatch: () => (wanted ? 'the request does not end with a tool result' : 'the request ends with a tool result'),
    }
  }
  const { isOfTool, text, holds } = toolResultTest(wanted)
  return {
    holds: ({ toolResults }) => toolResults.some(holds),
    mismatch({ toolResults }) {
      if (toolResults.length === 0) return 'the request does not end with a tool result'
      return toolResults.some(isOfTool) ? `toolResult ${text?.mismatch}` : `toolResult is not of ${wanted.tool}`
    },
    exec({ toolResults }) {
      const found = toolResults.find(holds)
      return (found && text?.exec?.(found.text)) ?? null
    },
  }
}

/** Compiles a condition on a tool result. `holds` says whether a result meets it. */
export function toolResultTest({ tool, contains }: Exclude<v.InferOutput<typeof toolResultForm>, boolean>) {
  const name = tool === undefined ? undefined : nameTest(tool)
  const text = contains === undefined ? undefined : textTest(contains)
  const isOfTool = (result: ToolResult) => !name || name.holds(result.tool)
  return { isOfTool, text, holds: (result: ToolResult) => isOfTool(result) && (!text || text.holds(result.text)) }
}

function onResponseFormat(wanted: v.InferOutput<typeof responseFormatForm>): Condition<ChatInput> {
  const { type, name } = typeof wanted === 'string' ? { type: wanted, name: undefined } : wanted
  const named = name === undefined ? undefined : nameTest(name)
  const formatOf = ({ request: { response_format: format } }: ChatInput) =>
    (format ?? { type: 'text' }) as { readonly type: string; readonly json_schema?: { readonly name?: unknown } }
  const isType = (input: ChatInput) => type === undefined || formatOf(input).type === type
  return {
    holds: input => isType(input) && (!named || named.holds(formatOf(input).json_schema?.name)),
    mismatch: input =>
      isType(input) ? `the name of responseFormat ${named?.mismatch}` : `responseFormat is not ${type}`,
  }
}

function onRequestField(written: string, wanted: ValueCondition, name: string): Condition<ChatInput> {
  const path = fieldPath(written) ?? []
  // Only long numbers need all of their digits.
  const isExact = [wanted].flat().some(value => typeof value === 'bigint')
  return simple(name, valueTest(wanted), input => fieldAt(isExact ? input.exact : input.request, path))
}

const count = v.pipe(numberBetween(0, 1_000_000_000, 'a whole number'), v.integer('a whole number'))

const toolCall = closed({
  forEach: optional(filled, 'Makes a call for each item of this list: {{request.metadata.cities}}.'),
  as: optional(filled, 'The name of the item in templates; item by default.'),
  name: described(filled, 'The name of the tool. May be a template.'),
  arguments: v.optional(
    described(
      v.union([map(v.string(), v.unknown(), 'a map of arguments'), text], 'a map of arguments, or a string'),
      'Its arguments: a map, which becomes JSON, or a string that is sent unchanged. Keys and strings may be templates.',
    ),
    {},
  ),
  id: optional(filled, 'The id of the call; generated by default. May be a template.'),
  type: v.optional(
    described(word(['function', 'custom']), 'custom for a custom tool, whose arguments are one text.'),
    'function',
  ),
})

const choiceEntries = {
  text: optional(text, 'What the model says. May be a template: Hi {{match[1]}}.'),
  file: optional(
    filled,
    'A file with the text that the model says, relative to the rule file. It is a template if its name ends in .liquid.',
  ),
  json: optional(
    v.unknown(),
    'A value that is sent as JSON. Keys and texts in it may be templates; a list item { forEach, as, item } is repeated for each item of another list.',
  ),
  toolCalls: optional(
    v.pipe(v.array(toolCall, 'a list of tool calls'), v.nonEmpty('a list with at least one tool call')),
    'Tools that it calls.',
  ),
  refusal: optional(filled, 'The text of a refusal. May be a template.'),
  reasoning: optional(text, 'What it thinks before it speaks (reasoning_content). May be a template.'),
  finishReason: optional(word(finishReasons), 'The finish_reason, if not the one that follows from the reply.'),
} as const

const onlyOne = 'has more than one of text, file and json.'
const isOne = (choice: object) => ['text', 'file', 'json'].filter(key => key in choice).length <= 1

const choice = v.pipe(
  closed(choiceEntries),
  v.check(choice => isOne(choice), onlyOne),
)

const isSomething = (reply: object) => Object.keys(reply).length > 0
const isChoicesOrOne = (reply: object) => !('choices' in reply) || !Object.keys(choiceEntries).some(key => key in reply)

const replySchema = v.pipe(
  closed({
    ...choiceEntries,
    choices: optional(
      v.pipe(v.array(choice, 'a list of choices'), v.nonEmpty('a list with at least one choice')),
      'The choices for a request that wants several (n). If there are fewer, the last one is repeated.',
    ),
    usage: optional(
      closed({
        promptTokens: optional(count, 'Replaces the counted prompt_tokens.'),
        completionTokens: optional(count, 'Replaces the counted completion_tokens.'),
        cachedTokens: optional(count, 'The cached_tokens of the prompt.'),
        reasoningTokens: optional(count, 'The reasoning_tokens of the completion.'),
      }),
      'Token counts that replace the counted ones.',
    ),
    fault: optional(faultSchema, 'What goes wrong with the answer.'),
  }),
  v.check(
    reply => isSomething(reply),
    'is empty. It must have text, file, json, toolCalls, refusal, choices or a fault.',
  ),
  v.check(reply => isOne(reply), onlyOne),
  v.check(reply => isChoicesOrOne(reply), 'has choices, and next to them a field that belongs in a choice.'),
)

export type ReplyForm = v.InferOutput<typeof replySchema>
export type ChoiceForm = v.InferOutput<typeof choice>

export const chatRuleSchema = ruleForm({
  on: optional(v.literal(CHAT_ROUTE, `"${CHAT_ROUTE}"`), 'What the rule answers: chat completions without it.'),
  ...ruleFields(whenSchema, replySchema),
})

export type ChatRule = v.InferOutput<typeof chatRuleSchema>
