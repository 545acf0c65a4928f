/** What was said to a model and by it, as turns that a person can read, out of bodies of any form. */

export interface SpokenTurn {
  readonly role: string
  readonly text: string
  /** What it calls, with the arguments as they were sent. */
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}

/** The messages of a chat request; nothing where the body is none. */
export function turnsAsked(body: unknown): readonly SpokenTurn[] {
  const messages = field(body, 'messages')
  return Array.isArray(messages) ? messages.map(turnOf) : []
}

/** The choices of a chat completion, whole or streamed; nothing where the body is neither. */
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
  role: words(field(message, 'role')) || 'nobody',
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

/** Puts the chunks of a stream together, choice by choice; the end may be missing. */
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
      // `[DONE]`, and whatever was cut in its midst.
    }
  }
}

const words = (value: unknown) => (typeof value === 'string' ? value : '')

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
