/** The shape of a stream: that of all its frames as one, and in which order its parts came. */
import { createEventSplitter, dataOf } from '../../core/events.js'
import { mergeAll, type Shape, shapeOf } from './shape.js'

export interface StreamShape {
  /** All frames as one; nothing where none came. */
  readonly frame: Shape | undefined
  /** The parts in the order in which each came first. */
  readonly parts: readonly Part[]
  /** Whether `[DONE]` came. */
  readonly done: boolean
}

/** What a stream of a chat completion is made of. */
export type Part = 'role' | 'content' | 'tool calls' | 'finish' | 'usage'

/** Takes the whole body of a stream of events apart, or that of a stream of lines. */
export function streamShape(body: Buffer, isEvents: boolean): StreamShape {
  const said = isEvents ? dataIn(body) : body.toString('utf8').split('\n')
  const frames = said.filter(text => text.trim() !== '' && text !== '[DONE]').map(saidIn)
  return {
    frame: mergeAll(frames.map(shapeOf)),
    parts: [...new Set(frames.flatMap(partsOf))],
    done: said.includes('[DONE]'),
  }
}

function dataIn(body: Buffer): readonly string[] {
  const splitter = createEventSplitter()
  const events = splitter.push(body)
  return [...events, splitter.rest()].flatMap(event => dataOf(event) ?? [])
}

/** A frame that is no JSON is a text like any other. */
function saidIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface Frame {
  readonly choices?: readonly ({ readonly delta?: Delta; readonly finish_reason?: unknown } | null)[]
  readonly usage?: unknown
}

interface Delta {
  readonly role?: unknown
  readonly content?: unknown
  readonly tool_calls?: unknown
}

function partsOf(value: unknown): readonly Part[] {
  const { choices, usage } = (value ?? {}) as Frame
  const inChoices = Array.isArray(choices) ? choices.flatMap(choice => partsOfChoice(choice ?? {})) : []
  return typeof usage === 'object' && usage !== null ? [...inChoices, 'usage'] : inChoices
}

function partsOfChoice({ delta, finish_reason }: NonNullable<NonNullable<Frame['choices']>[number]>): readonly Part[] {
  const { role, content, tool_calls } = delta ?? {}
  const parts: readonly (readonly [boolean, Part])[] = [
    [typeof role === 'string', 'role'],
    // Many platforms put an empty text beside the role.
    [typeof content === 'string' && content !== '', 'content'],
    [Array.isArray(tool_calls), 'tool calls'],
    [typeof finish_reason === 'string', 'finish'],
  ]
  return parts.flatMap(([isThere, part]) => (isThere ? [part] : []))
}
