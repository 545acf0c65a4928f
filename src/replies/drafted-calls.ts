/** The calls of tools in an answer, as a drafted rule says them. */
import * as v from 'valibot'
import { open } from '../check/check.js'
import { jsonIn } from './drafted-events.js'
import { plain } from './drafted-text.js'
import { hasTemplate } from './templates.js'

const maybeText = v.nullish(v.string())
const called = open({ name: maybeText, arguments: maybeText, input: maybeText })
const call = open({
  index: v.optional(v.number()),
  id: maybeText,
  function: v.nullish(called),
  custom: v.nullish(called),
})
/** What a message, or a piece of one, says of calls. */
export const callEntries = { tool_calls: v.nullish(v.array(call)), function_call: v.nullish(called) }

type Calling = {
  readonly tool_calls?: readonly v.InferOutput<typeof call>[] | null | undefined
  readonly function_call?: v.InferOutput<typeof called> | null | undefined
}

interface Gathered {
  id: string | undefined
  name: string
  type: 'function' | 'custom'
  text: string
}

/** Pieces of one call have its number; without any, an id begins a new one. */
export function callsIn(parts: readonly Calling[]) {
  const all = new Map<number, Gathered>()
  const pieces = parts.flatMap(({ tool_calls, function_call }) => [
    ...(tool_calls ?? []),
    ...(function_call ? [{ index: 0, function: function_call, id: undefined, custom: undefined }] : []),
  ])
  for (const { index, id, function: asked, custom } of pieces) {
    const place = index ?? (id ? all.size : Math.max(0, all.size - 1))
    const call = all.get(place) ?? { id: undefined, name: '', type: 'function', text: '' }
    call.name ||= asked?.name ?? custom?.name ?? ''
    if (custom) call.type = 'custom'
    call.text += asked?.arguments ?? custom?.input ?? ''
    all.set(place, call)
  }
  return [...all.values()].filter(({ name }) => name !== '').map(callForm)
}

function callForm({ name, type, text }: Gathered) {
  if (type === 'custom') return { name, type, arguments: plain(text) }
  const [value] = jsonIn(text)
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  return { name, arguments: isMap && !hasTemplate(value) ? value : plain(text) }
}
