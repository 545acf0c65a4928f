/** Turns bodies of any form into a readable conversation with a model. */

export interface SpokenTurn {
  readonly role: string
  readonly text: string
  /** Its tool calls, with the arguments as sent. */
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}

/** The messages of a chat request; empty for any other body. */
export function turnsAsked(body: unknown): readonly SpokenTurn[] {
  const messages = field(body, 'messages')
  return Array.isArray(messages) ? messages.map(turnOf) : []
}

/** What is shown by itself: the messages as a conversation, the tools by their names. */
const apart = new Set(['messages', 'tools', 'functions'])

/** The parameters of a chat request, as JSON; empty for any other body. */
export function parametersIn(body: unknown): readonly (readonly [name: string, value: string])[] {
  if (!Array.isArray(field(body, 'messages'))) return []
  return Object.entries(body as object).flatMap(([name, value]) =>
    apart.has(name) || value === null
      ? []
      : [[name, typeof value === 'string' ? value : JSON.stringify(value)] as const],
  )
}

/** The names of the tools that a chat request offers. */
export function toolsIn(body: unknown): readonly string[] {
  const tools = ['tools', 'functions'].flatMap(name => {
    const list = field(body, name)
    return Array.isArray(list) ? list : []
  })
  return tools.map(tool => words(field(field(tool, 'function') ?? field(tool, 'custom') ?? tool, 'name')) || 'unnamed')
}

/** The choices of a chat completion, whole or streamed; empty for any other body. */
export function turnsAnswered(body: unknown): readonly SpokenTurn[] {
  if (typeof body === 'string') return turnsStreamed(body)
  const choices = field(body, 'choices')
  return Array.isArray(choices) ? choices.flatMap(choice => messageIn(choice) ?? []) : []
}

function messageIn(choice: unknown): SpokenTurn | undefined {
  const message = field(choice, 'message')
  return typeof message === 'object' && message !== null ? turnOf(message) : undefined
}

const turnOf = (message: unknown): SpokenTurn => ({
  role: words(field(message, 'role')) || 'unknown',
  text: contentOf(field(message, 'content')) || words(field(message, 'refusal')),
  calls: callsIn(field(message, 'tool_calls')),
})

function contentOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(part => words(field(part, 'text')) || `[${words(field(part, 'type')) || 'part'}]`).join('\n')
}

function callsIn(calls: unknown): SpokenTurn['calls'] {
  if (!Array.isArray(calls)) return []
  return calls.map(call => {
    const called = field(call, 'function') ?? field(call, 'custom')
    return {
      name: words(field(called, 'name')) || 'something',
      arguments: words(field(called, 'arguments')) || words(field(called, 'input')),
    }
  })
}

interface Streamed {
  role: string
  text: string
  readonly calls: Map<unknown, { name: string; arguments: string }>
}

/** Assembles the chunks of a stream, choice by choice. The end may be missing. */
function turnsStreamed(stream: string): readonly SpokenTurn[] {
  const turns = new Map<unknown, Streamed>()
  for (const chunk of chunksIn(stream)) {
    const choices = field(chunk, 'choices')
    for (const choice of Array.isArray(choices) ? choices : []) {
      const index = field(choice, 'index')
      const turn = turns.get(index) ?? { role: 'assistant', text: '', calls: new Map() }
      turns.set(index, turn)
      addDelta(turn, field(choice, 'delta'))
    }
  }
  return [...turns.values()].map(({ calls, ...turn }) => ({ ...turn, calls: [...calls.values()] }))
}

function addDelta(turn: Streamed, delta: unknown): void {
  turn.role = words(field(delta, 'role')) || turn.role
  turn.text += words(field(delta, 'content')) || words(field(delta, 'refusal'))
  const calls = field(delta, 'tool_calls')
  for (const call of Array.isArray(calls) ? calls : []) {
    const index = field(call, 'index')
    const known = turn.calls.get(index) ?? { name: '', arguments: '' }
    known.name += words(field(field(call, 'function'), 'name'))
    known.arguments += words(field(field(call, 'function'), 'arguments'))
    turn.calls.set(index, known)
  }
}

function* chunksIn(stream: string): Generator<unknown> {
  for (const line of stream.split(/\r?\n/)) {
    if (!line.startsWith('data:')) continue
    try {
      yield JSON.parse(line.slice('data:'.length))
    } catch {
      // `[DONE]`, or an event that was cut.
    }
  }
}

const words = (value: unknown) => (typeof value === 'string' ? value : '')

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
