/** Compiles the conditions of chat rules. */
import type { Condition } from '../dialect.js'
import type { ChatInput, ToolResult } from './chat-input.js'
import { fieldAt, fieldPath } from './field-path.js'
import type { When } from './form.js'
import { compileWith, optional, simple } from './shared.js'
import { onText, type TextCondition, type TextTest, textTest } from './text.js'
import { nameTest, rangeTest, type ValueCondition, valueTest } from './whole.js'

/** Compiles the conditions of a chat rule. Does not throw for conditions that have passed validation. */
export const compileWhen = (when: When): readonly Condition<ChatInput>[] =>
  compileWith<ChatInput, When>(when, chatConditions)

function chatConditions(when: When): readonly Condition<ChatInput>[] {
  const { user, system, assistant, any, model, turn, stream, temperature, tools } = when
  const { toolResult, responseFormat, request } = when
  const condition = simple<ChatInput>
  return [
    // The cheapest and most selective first.
    ...optional(model, wanted => condition('model', valueTest(wanted), input => input.request.model)),
    ...optional(stream, wanted => condition('stream', valueTest(wanted), input => input.request.stream ?? false)),
    ...optional(user, wanted => onText('user', wanted)),
    ...optional(turn, wanted => condition('turn', rangeTest(wanted), input => input.turn)),
    ...optional(temperature, wanted => condition('temperature', rangeTest(wanted), input => input.request.temperature)),
    ...optional(system, wanted => onText('system', wanted)),
    ...optional(assistant, wanted => onText('assistant', wanted)),
    ...optional(any, onAnyText),
    ...optional(tools, onTools),
    ...optional(toolResult, onToolResult),
    ...optional(responseFormat, onResponseFormat),
    ...Object.entries(request ?? {}).map(([path, wanted]) => onField(path, wanted)),
  ]
}

/** The condition on the last user message, by which rules are indexed. */
export const userTextOf = ({ user }: When): TextTest | undefined => (user === undefined ? undefined : textTest(user))

function onAnyText(wanted: TextCondition): Condition<ChatInput> {
  const test = textTest(wanted)
  return {
    holds: ({ texts }) => texts.some(text => test.holds(text)),
    mismatch: () => `no message fits: it ${test.mismatch}`,
    exec({ texts }) {
      const found = texts.find(text => test.holds(text))
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

function onField(written: string, wanted: ValueCondition): Condition<ChatInput> {
  const path = fieldPath(written) ?? []
  // Only long numbers need all of their digits.
  const isExact = [wanted].flat().some(value => typeof value === 'bigint')
  return simple(`request.${written}`, valueTest(wanted), input => fieldAt(isExact ? input.exact : input.request, path))
}
