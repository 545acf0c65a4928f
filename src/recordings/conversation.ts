/** The conversation in a request to a model: what stays the same when the prompt changes, and what is said about it in names and lists. */
import { saidByUser } from '../chat/said.js'
import { isObject } from '../core/json.js'
import { rpcCallOf } from './json-rpc.js'
import type { RecordedRequest } from './recording.js'

/** The messages that tell the model how to answer. All others are the conversation. */
export const isInstruction = (message: unknown) =>
  isObject(message) && (message.role === 'system' || message.role === 'developer')

export const isConversation = (message: unknown) => !isInstruction(message)

/** The field that has the messages: of chat completions and of Anthropic, or of OpenAI's responses. */
export function nameOfMessages(body: unknown): 'messages' | 'input' | undefined {
  if (!isObject(body)) return undefined
  if (Array.isArray(body.messages)) return 'messages'
  return Array.isArray(body.input) && body.input.some(isObject) ? 'input' : undefined
}

/** The messages in a body; `undefined` if it has none. */
export function messagesIn(body: unknown): readonly unknown[] | undefined {
  const name = nameOfMessages(body)
  return name && ((body as Readonly<Record<string, unknown>>)[name] as readonly unknown[])
}

const isOfUser = (message: unknown) => isObject(message) && message.role === 'user'

/** Where the last turn begins: at the user's last message, or at the last one of any. */
export function lastTurnOf(messages: readonly unknown[]): number {
  const start = messages.findLastIndex(isOfUser)
  return start < 0 ? Math.max(0, messages.length - 1) : start
}

/** The model, and what the user said last or the call of a JSON-RPC request. */
export function subjectOf({ body }: Pick<RecordedRequest, 'body'>) {
  const call = rpcCallOf({ body })
  if (call !== undefined) return { model: undefined, prompt: call }
  const fields = body.kind === 'json' && isObject(body.value) ? body.value : {}
  const messages = messagesIn(fields)
  return {
    model: typeof fields.model === 'string' ? fields.model : undefined,
    prompt: messages && saidByUser(messages),
  }
}
