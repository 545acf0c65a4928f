/** Splits a chat request into what the playground edits: settings, turns, and the next message. */
import { contentText } from '../activity/conversation.js'
import { indented, isObject } from '../widgets/json.js'
import { contentIn, nothingSaid } from './completion.js'
import { firstSettings, type PlaygroundSettings, toolName } from './settings.js'
import { pendingAnswer, type Turn } from './turns.js'

type Fields = Readonly<Record<string, unknown>>

export interface OpenedRequest {
  readonly system: string
  readonly turns: readonly Turn[]
  readonly draft: string
  readonly settings: PlaygroundSettings
}

/** Undefined if the body is not a chat request. */
export function conversationOf(body: unknown): OpenedRequest | undefined {
  if (!isObject(body) || !Array.isArray(body.messages)) return undefined
  const messages = body.messages.filter(isObject)
  const [first, ...others] = messages
  const hasSystem = first !== undefined && isSystem(first) && typeof first.content === 'string'
  const turns = turnsOf(hasSystem ? others : messages)
  const last = turns.at(-1)
  // The last message goes into the message field, so that it can be changed before it is sent.
  const isDraft = last?.kind === 'user' && last.message === undefined
  return {
    system: hasSystem ? String(first.content) : '',
    turns: isDraft ? turns.slice(0, -1) : turns,
    draft: isDraft ? last.text : '',
    settings: settingsOf(body),
  }
}

const isSystem = ({ role }: Fields) => role === 'system' || role === 'developer'

function turnsOf(messages: readonly Fields[]): readonly Turn[] {
  const turns: Turn[] = []
  for (const [place, message] of messages.entries()) {
    const id = -1 - place
    const last = turns.at(-1)
    if (message.role === 'tool' && last?.kind === 'answer' && isResultOf(last, message)) {
      const results = last.answer.completion.calls.map((call, place) =>
        call.id === message.tool_call_id ? contentText(message.content) : (last.results?.[place] ?? ''),
      )
      turns[turns.length - 1] = { ...last, results }
    } else if (message.role === 'assistant') {
      const completion = { ...nothingSaid, ...contentIn({ ...message, content: contentText(message.content) || null }) }
      turns.push({ kind: 'answer', id, answer: { ...pendingAnswer('', false), state: 'whole', completion } })
    } else {
      const isPlain = message.role === 'user' && typeof message.content === 'string'
      turns.push({ kind: 'user', id, text: contentText(message.content), ...(!isPlain && { message }) })
    }
  }
  return turns
}

const isResultOf = ({ answer }: Extract<Turn, { kind: 'answer' }>, { tool_call_id, content }: Fields) =>
  typeof content === 'string' && answer.completion.calls.some(({ id }) => id === tool_call_id)

function settingsOf(body: Fields): PlaygroundSettings {
  const { model, messages, temperature, max_tokens, seed, tools, tool_choice, stream, stream_options, ...more } = body
  const { response_format, ...others } = more
  // Choices that the settings do not offer stay as they are.
  const choice = typeof tool_choice === 'string' ? tool_choice : toolName(tool_choice)
  const extra = { ...others, ...(tool_choice !== undefined && choice === undefined && { tool_choice }) }
  return {
    ...firstSettings,
    model: typeof model === 'string' ? model : '',
    temperature: numberIn(temperature),
    maxTokens: numberIn(max_tokens),
    seed: numberIn(seed),
    stream: stream === true,
    tools: indented(tools),
    toolChoice: choice ?? 'auto',
    responseFormat: indented(response_format),
    extra: Object.keys(extra).length === 0 ? '' : indented(extra),
  }
}

const numberIn = (value: unknown) => (value === undefined || value === null ? '' : String(value))
