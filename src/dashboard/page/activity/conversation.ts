/** Reads the conversation with a model from bodies of any form. */
import { chunkIn, createSum } from '../../../chat/reader.js'
import { eventsIn, isObject } from '../widgets/json.js'

export type ChatTurn = ReturnType<typeof turnOf>

/** The messages of a chat request; empty for any other body. */
export function turnsAsked(body: unknown): readonly ChatTurn[] {
  const messages = memberOf(body, 'messages')
  return Array.isArray(messages) ? messages.map(turnOf) : []
}

/** Parameters that are shown elsewhere: the messages as a conversation, the tools by their names. */
const shownElsewhere = new Set(['messages', 'tools', 'functions'])

/** The parameters of a chat request, as JSON; empty for any other body. */
export function parametersIn(body: unknown): readonly (readonly [name: string, value: string])[] {
  if (!Array.isArray(memberOf(body, 'messages'))) return []
  return Object.entries(body as object).flatMap(([name, value]) =>
    shownElsewhere.has(name) || value === null
      ? []
      : [[name, typeof value === 'string' ? value : JSON.stringify(value)] as const],
  )
}

/** The names of the tools that a chat request offers. */
export function toolsIn(body: unknown): readonly string[] {
  const tools = ['tools', 'functions'].flatMap(name => {
    const list = memberOf(body, name)
    return Array.isArray(list) ? list : []
  })
  return tools.map(
    tool => words(memberOf(memberOf(tool, 'function') ?? memberOf(tool, 'custom') ?? tool, 'name')) || 'unnamed',
  )
}

/** The choices of a chat completion, whole or streamed; empty for any other body. */
export function turnsAnswered(body: unknown): readonly ChatTurn[] {
  const choices = typeof body === 'string' ? streamed(body) : memberOf(body, 'choices')
  const messages = Array.isArray(choices) ? choices.map(choice => memberOf(choice, 'message')) : []
  return messages.flatMap(message => (typeof message === 'object' && message !== null ? [turnOf(message)] : []))
}

/** Assembles the chunks of a stream into choices. The end of the stream may be missing. */
function streamed(text: string): unknown {
  const sum = createSum()
  for (const json of eventsIn(text)) {
    const chunk = chunkIn(json)
    if (chunk) sum.add(chunk)
  }
  return sum.completion().choices
}

const turnOf = (message: unknown) => ({
  role: words(memberOf(message, 'role')) || 'unknown',
  text: contentText(memberOf(message, 'content')) || words(memberOf(message, 'refusal')),
  calls: callsIn(memberOf(message, 'tool_calls')),
})

/** The text of a message's content. Parts without text are shown by their type. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(part => words(memberOf(part, 'text')) || `[${words(memberOf(part, 'type')) || 'part'}]`).join('\n')
}

function callsIn(calls: unknown) {
  if (!Array.isArray(calls)) return []
  return calls.map(call => {
    const called = memberOf(call, 'function') ?? memberOf(call, 'custom')
    return {
      name: words(memberOf(called, 'name')) || 'something',
      arguments: words(memberOf(called, 'arguments')) || words(memberOf(called, 'input')),
    }
  })
}

const words = (value: unknown) => (typeof value === 'string' ? value : '')

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)
