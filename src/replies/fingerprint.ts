/** The fingerprint of a request: what two requests have in common that are the same for whoever answers them. */
import { hash } from 'node:crypto'
import type { ChatMessage } from '../chat/request.js'
import { isObject, jsonOf } from '../core/json.js'

/** 96 bits: enough to tell any two requests apart, and short enough for a rule file. */
const LENGTH = 24

/** The fingerprint of a value. The order of keys, and members that are null, do not matter. */
export const fingerprintOf = (value: unknown): string => hash('sha256', sortedJson(value), 'hex').slice(0, LENGTH)

const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => {
    if (typeof part === 'bigint') return String(part)
    if (!isObject(part)) return part
    return Object.fromEntries(
      Object.entries(part)
        .filter(([, member]) => member !== null && member !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  }) ?? ''

/**
 * What counts of a chat: its messages with everything in them, images too. Instructions do not, since apps change them and put the time
 * into them, unless there is nothing else; nor do the ids of calls, which are others each time.
 */
export function countingMessages(messages: readonly ChatMessage[]): readonly object[] {
  const spoken = messages.filter(({ role }) => role !== 'system' && role !== 'developer')
  return (spoken.length > 0 ? spoken : messages).map(message => {
    const { tool_call_id: _id, tool_calls: calls, ...rest } = message as ChatMessage & Readonly<Record<string, unknown>>
    return Array.isArray(calls) ? { ...rest, tool_calls: calls.map(withoutId) } : rest
  })
}

/** Clients may write the same arguments with other spaces. */
function withoutId(call: unknown): unknown {
  if (!isObject(call)) return call
  const { id: _id, index: _index, function: called, ...rest } = call
  if (!isObject(called) || typeof called.arguments !== 'string') return { ...rest, function: called }
  return { ...rest, function: { ...called, arguments: jsonOf(called.arguments) ?? called.arguments } }
}
