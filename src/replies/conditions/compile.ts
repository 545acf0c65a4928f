/** Makes the conditions of a rule on chat completions ready to be tested on requests. */
import type { Condition } from '../dialect.js'
import type { ChatInput } from './chat-input.js'
import { fieldAt, fieldPath } from './field-path.js'
import type { When } from './form.js'
import { compileWith, onText, optional, simple } from './shared.js'
import { type TextCondition, type TextTest, textTest } from './text.js'
import { nameTest, rangeTest, type ValueCondition, type ValueTest, valueTest } from './whole.js'

/** The conditions of a rule on chat completions made ready. Throws nothing for what has passed the check of its form. */
export const compileWhen = (when: When): readonly Condition<ChatInput>[] =>
  compileWith<ChatInput, When>(when, chatConditions)

function chatConditions(when: When): readonly Condition<ChatInput>[] {
  const { user, system, assistant, any, model, turn, stream, temperature, tools } = when
  const { toolResult, responseFormat, request } = when
  const about = (name: string, test: ValueTest, looksAt: (asked: ChatInput) => unknown) => simple(name, test, looksAt)
  const inText = (name: string, wanted: TextCondition, looksAt: (asked: ChatInput) => string) =>
    onText(name, textTest(wanted), looksAt)
  return [
    // The cheapest and most selective first.
    ...optional(model, wanted => about('model', valueTest(wanted), asked => asked.request.model)),
    ...optional(stream, wanted => about('stream', valueTest(wanted), asked => asked.request.stream ?? false)),
    ...optional(user, wanted => inText('user', wanted, asked => asked.user)),
    ...optional(turn, wanted => about('turn', rangeTest(wanted), asked => asked.turn)),
    ...optional(temperature, wanted => about('temperature', rangeTest(wanted), asked => asked.request.temperature)),
    ...optional(system, wanted => inText('system', wanted, asked => asked.system)),
    ...optional(assistant, wanted => inText('assistant', wanted, asked => asked.assistant)),
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
    differs: () => `no message fits: it ${test.differs}`,
    exec({ texts }) {
      const found = texts.find(text => test.holds(text))
      return found === undefined ? null : test.exec(found)
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
      holds: asked => namesOfTools(asked).length > 0 === wanted,
      differs: () => (wanted ? 'no tools are offered' : 'tools are offered'),
    }
  }
  const names = typeof wanted === 'string' ? [wanted] : wanted
  const missing = (asked: ChatInput) => {
    const offered = namesOfTools(asked)
    return names.filter(name => !offered.includes(name))
  }
  return {
    holds: asked => missing(asked).length === 0,
    differs: asked => `tools does not offer ${missing(asked).join(', ')}`,
  }
}

function onToolResult(wanted: NonNullable<When['toolResult']>): Condition<ChatInput> {
  if (typeof wanted === 'boolean') {
    return {
      holds: ({ toolResults }) => toolResults.length > 0 === wanted,
      differs: () => (wanted ? 'the request does not end with a tool result' : 'the request ends with a tool result'),
    }
  }
  const { tool, contains } = wanted
  const test = contains === undefined ? undefined : textTest(contains)
  const isOfTool = (name: string) => tool === undefined || name === tool
  return {
    holds: ({ toolResults }) => toolResults.some(result => isOfTool(result.tool) && (!test || test.holds(result.text))),
    differs({ toolResults }) {
      if (toolResults.length === 0) return 'the request does not end with a tool result'
      return toolResults.some(result => isOfTool(result.tool))
        ? `toolResult ${test?.differs}`
        : `toolResult is not of ${tool}`
    },
    exec({ toolResults }) {
      const found = toolResults.find(result => isOfTool(result.tool) && test?.holds(result.text))
      return found && test ? test.exec(found.text) : null
    },
  }
}

function onResponseFormat(wanted: NonNullable<When['responseFormat']>): Condition<ChatInput> {
  const { type, name } = typeof wanted === 'string' ? { type: wanted, name: undefined } : wanted
  const named = name === undefined ? undefined : nameTest(name)
  const formatOf = ({ request: { response_format: format } }: ChatInput) =>
    (format ?? { type: 'text' }) as { readonly type: string; readonly json_schema?: { readonly name?: unknown } }
  const isType = (asked: ChatInput) => type === undefined || formatOf(asked).type === type
  return {
    holds: asked => isType(asked) && (!named || named.holds(formatOf(asked).json_schema?.name)),
    differs: asked =>
      isType(asked) ? `the name of responseFormat ${named?.differs}` : `responseFormat is not ${type}`,
  }
}

function onField(written: string, wanted: ValueCondition): Condition<ChatInput> {
  const path = fieldPath(written) ?? []
  // Only long numbers need all of their digits.
  const isExact = [wanted].flat().some(value => typeof value === 'bigint')
  return simple(`request.${written}`, valueTest(wanted), asked => fieldAt(isExact ? asked.exact : asked.request, path))
}
