/** The conditions of chat rules. */
import { check } from '../../check/check.js'
import { closed } from '../../check/forms.js'
import { plainJson } from '../../check/plain-json.js'
import { ProblemsError } from '../../check/problem.js'
import type { Exchange } from '../../core/exchange.js'
import { CHAT } from '../../core/paths.js'
import type { Condition } from '../dialect.js'
import { ChatInput, findChat, type ToolResult } from './chat-input.js'
import { type ConditionTable, compileWhen, onEach, onText, simple } from './compile.js'
import { type When, whenSchema } from './form.js'
import {
  fieldAt,
  fieldPath,
  nameTest,
  rangeTest,
  type TextCondition,
  textTest,
  type ValueCondition,
  valueTest,
} from './value-tests.js'

/** Compiles the conditions of a chat rule. Does not throw for conditions that have passed validation. */
export const compileChatWhen = (when: When): readonly Condition<ChatInput>[] => compileWhen(when, chatConditions)

const chatConditions: ConditionTable<ChatInput, When> = {
  model: (wanted, name) => simple(name, valueTest(wanted), ({ request }) => request.model),
  stream: (wanted, name) => simple(name, valueTest(wanted), ({ request }) => request.stream ?? false),
  user: onText(({ user }) => user),
  turn: (wanted, name) => simple(name, rangeTest(wanted), ({ turn }) => turn),
  temperature: (wanted, name) => simple(name, rangeTest(wanted), ({ request }) => request.temperature),
  system: onText(({ system }) => system),
  assistant: onText(({ assistant }) => assistant),
  any: onAnyText,
  tools: onTools,
  toolResult: onToolResult,
  responseFormat: onResponseFormat,
  request: onEach(onField),
}

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

function onToolResult(wanted: NonNullable<When['toolResult']>): Condition<ChatInput> {
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
export function toolResultTest({ tool, contains }: Exclude<NonNullable<When['toolResult']>, boolean>) {
  const name = tool === undefined ? undefined : nameTest(tool)
  const text = contains === undefined ? undefined : textTest(contains)
  const isOfTool = (result: ToolResult) => !name || name.holds(result.tool)
  return { isOfTool, text, holds: (result: ToolResult) => isOfTool(result) && (!text || text.holds(result.text)) }
}

function onResponseFormat(wanted: NonNullable<When['responseFormat']>): Condition<ChatInput> {
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

function onField(written: string, wanted: ValueCondition, name: string): Condition<ChatInput> {
  const path = fieldPath(written) ?? []
  // Only long numbers need all of their digits.
  const isExact = [wanted].flat().some(value => typeof value === 'bigint')
  return simple(name, valueTest(wanted), input => fieldAt(isExact ? input.exact : input.request, path))
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
    /** The conditions as written. */
    when: checked.value.when,
    /** Whether an exchange meets them. */
    fit(exchange: Exchange): boolean {
      if (exchange.path !== CHAT) return false
      const request = findChat(exchange)
      if (!request) return false
      const input = new ChatInput(request, exchange)
      return conditions.every(condition => condition.holds(input))
    },
  }
}
