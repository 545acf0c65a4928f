/** Makes the conditions of a rule ready to be tested on requests. */
import { holdsCredential } from '../credential-headers.js'
import type { Asked } from './asked.js'
import { fieldAt, fieldPath } from './field-path.js'
import type { When } from './form.js'
import { type TextCondition, type TextTest, textTest } from './text.js'
import { nameTest, rangeTest, type ValueCondition, type ValueTest, valueTest } from './whole.js'

/** One condition. */
export interface Condition {
  holds(asked: Asked): boolean
  /** Why it does not hold, as a sentence without its end: `user does not contain "weather"`. It repeats the rule, never the request. */
  differs(asked: Asked): string
  /** A regular expression's groups, where it has one and it matches. */
  exec?(asked: Asked): RegExpExecArray | null
}

/** The conditions of a rule made ready. Throws nothing for what has passed the check of its form. */
export function compileWhen(when: When): readonly Condition[] {
  const { user, system, assistant, any, model, turn, stream, temperature, tools } = when
  const { toolResult, responseFormat, header, caller, request, not, allOf, anyOf } = when
  return [
    // The cheapest and most selective first.
    ...optional(model, wanted => simple('model', valueTest(wanted), asked => asked.request.model)),
    ...optional(stream, wanted => simple('stream', valueTest(wanted), asked => asked.request.stream ?? false)),
    ...optional(user, wanted => onText('user', textTest(wanted), asked => asked.user)),
    ...optional(turn, wanted => simple('turn', rangeTest(wanted), asked => asked.turn)),
    ...optional(temperature, wanted => simple('temperature', rangeTest(wanted), asked => asked.request.temperature)),
    ...optional(system, wanted => onText('system', textTest(wanted), asked => asked.system)),
    ...optional(assistant, wanted => onText('assistant', textTest(wanted), asked => asked.assistant)),
    ...optional(any, onAnyText),
    ...optional(tools, onTools),
    ...optional(toolResult, onToolResult),
    ...optional(responseFormat, onResponseFormat),
    ...Object.entries(header ?? {}).map(([name, wanted]) => onHeader(name, valueTest(wanted))),
    ...Object.entries(caller ?? {}).flatMap(([name, wanted]) => optional(wanted, wanted => onCaller(name, wanted))),
    ...Object.entries(request ?? {}).map(([path, wanted]) => onField(path, wanted)),
    ...optional(not, onNot),
    ...(allOf ?? []).flatMap(compileWhen),
    ...optional(anyOf, onAnyOf),
  ]
}

/** The text of the last user message that a rule asks for, for finding the rule by it. */
export const userTextOf = ({ user }: When): TextTest | undefined => (user === undefined ? undefined : textTest(user))

const optional = <T>(wanted: T | undefined, make: (wanted: T) => Condition): Condition[] =>
  wanted === undefined ? [] : [make(wanted)]

const simple = (name: string, test: ValueTest, looksAt: (asked: Asked) => unknown): Condition => ({
  holds: asked => test.holds(looksAt(asked)),
  differs: () => `${name} ${test.differs}`,
})

const onText = (name: string, test: TextTest, looksAt: (asked: Asked) => string): Condition => ({
  holds: asked => test.holds(looksAt(asked)),
  differs: () => `${name} ${test.differs}`,
  exec: asked => test.exec(looksAt(asked)),
})

function onAnyText(wanted: TextCondition): Condition {
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

const namesOfTools = ({ request: { tools, functions } }: Asked): readonly unknown[] => [
  ...(tools ?? []).map(tool => {
    const { function: fn, custom } = tool as { readonly [kind: string]: { readonly name?: unknown } | undefined }
    return fn?.name ?? custom?.name
  }),
  ...(Array.isArray(functions) ? functions.map(fn => fn?.name) : []),
]

function onTools(wanted: boolean | string | readonly string[]): Condition {
  if (typeof wanted === 'boolean') {
    return {
      holds: asked => namesOfTools(asked).length > 0 === wanted,
      differs: () => (wanted ? 'no tools are offered' : 'tools are offered'),
    }
  }
  const names = typeof wanted === 'string' ? [wanted] : wanted
  const missing = (asked: Asked) => {
    const offered = namesOfTools(asked)
    return names.filter(name => !offered.includes(name))
  }
  return {
    holds: asked => missing(asked).length === 0,
    differs: asked => `tools does not offer ${missing(asked).join(', ')}`,
  }
}

function onToolResult(wanted: NonNullable<When['toolResult']>): Condition {
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

function onResponseFormat(wanted: NonNullable<When['responseFormat']>): Condition {
  const { type, name } = typeof wanted === 'string' ? { type: wanted, name: undefined } : wanted
  const named = name === undefined ? undefined : nameTest(name)
  const formatOf = ({ request: { response_format: format } }: Asked) =>
    (format ?? { type: 'text' }) as { readonly type: string; readonly json_schema?: { readonly name?: unknown } }
  const isType = (asked: Asked) => type === undefined || formatOf(asked).type === type
  return {
    holds: asked => isType(asked) && (!named || named.holds(formatOf(asked).json_schema?.name)),
    differs: asked =>
      isType(asked) ? `the name of responseFormat ${named?.differs}` : `responseFormat is not ${type}`,
  }
}

/** Values of headers may be secrets, so a difference says no more than the rule does, and of credentials not even that. */
function onHeader(name: string, test: ValueTest): Condition {
  const key = name.toLowerCase()
  const told = holdsCredential(key) ? { ...test, differs: 'is not as the rule has it' } : test
  return simple(`header ${name}`, told, ({ headers }) => headers[key])
}

function onCaller(name: string, wanted: string): Condition {
  const test = nameTest(wanted)
  return simple(`caller.${name}`, test, ({ caller }) => {
    if (name === 'kind') return caller.kind
    if (name === 'key') return caller.kind === 'apiKey' ? caller.name : undefined
    return 'email' in caller ? caller.email : undefined
  })
}

function onField(written: string, wanted: ValueCondition): Condition {
  const path = fieldPath(written) ?? []
  // Only a long number has digits to lose.
  const isExact = [wanted].flat().some(value => typeof value === 'bigint')
  return simple(`request.${written}`, valueTest(wanted), asked => fieldAt(isExact ? asked.exact : asked.request, path))
}

function onNot(when: When): Condition {
  const conditions = compileWhen(when)
  return {
    holds: asked => !conditions.every(condition => condition.holds(asked)),
    differs: () => `all of not holds (${Object.keys(when).join(', ')})`,
  }
}

function onAnyOf(whens: readonly When[]): Condition {
  const choices = whens.map(compileWhen)
  const fits = (asked: Asked) => choices.find(conditions => conditions.every(condition => condition.holds(asked)))
  return {
    holds: asked => fits(asked) !== undefined,
    differs: asked =>
      `none of anyOf holds: ${choices.map(conditions => conditions.find(condition => !condition.holds(asked))?.differs(asked)).join('; ')}`,
    exec: asked => firstGroups(fits(asked) ?? [], asked),
  }
}

/** The groups of the first regular expression among `conditions` that has found something. */
export function firstGroups(conditions: readonly Condition[], asked: Asked): RegExpExecArray | null {
  for (const condition of conditions) {
    const found = condition.exec?.(asked)
    if (found) return found
  }
  return null
}
