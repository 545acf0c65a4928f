/**
 * Recognizes the ordinary chat request in one pass, without copying it. A separate file, since it is there for speed alone: what
 * it accepts, the form in request.ts and the rules in openai-refusals.ts accept as well, and word the mistakes in all others.
 */

type Fits = (value: unknown) => boolean

const isNumber =
  (least: number, most: number): Fits =>
  value =>
    typeof value === 'number' && value >= least && value <= most
const isWhole =
  (least: number, most: number): Fits =>
  value =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
const isText: Fits = value => typeof value === 'string'
const isFlag: Fits = value => typeof value === 'boolean'

/** The fields that an ordinary request may have besides its model and messages. */
const fields: ReadonlyMap<string, Fits> = new Map<string, Fits>([
  ['stream', isFlag],
  ['temperature', isNumber(0, 2)],
  ['top_p', isNumber(0, 1)],
  ['n', isWhole(1, 128)],
  ['max_tokens', isWhole(1, Number.MAX_SAFE_INTEGER)],
  ['max_completion_tokens', isWhole(1, Number.MAX_SAFE_INTEGER)],
  ['frequency_penalty', isNumber(-2, 2)],
  ['presence_penalty', isNumber(-2, 2)],
  ['seed', isWhole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
  ['user', isText],
])

const roles: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant'])

/** Whether it is a list of at least one message that has nothing but a role and a text. */
function areTexts(messages: unknown): boolean {
  if (!Array.isArray(messages) || messages.length === 0) return false
  for (const message of messages) {
    if (typeof message !== 'object' || message === null) return false
    for (const name in message) if (name !== 'role' && name !== 'content') return false
    if (!roles.has(message.role) || typeof message.content !== 'string') return false
  }
  return true
}

/** OpenAI's models for which `max_tokens` has another name: `gpt-5-chat-latest` does not reason, but `gpt-5.1-chat-latest` does. */
export const isReasoningModel = (model: string) => /^(o\d|gpt-5(?!-chat))/.test(model)

/** Whether a JSON value is an ordinary chat request. */
export function isOrdinary(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { model, messages, max_tokens: most, max_completion_tokens: other } = value as Readonly<Record<string, unknown>>
  if (typeof model !== 'string' || model === '' || !areTexts(messages)) return false
  if (most !== undefined && (other !== undefined || isReasoningModel(model))) return false
  for (const name in value) {
    if (name === 'model' || name === 'messages') continue
    if (!fields.get(name)?.(value[name as keyof typeof value])) return false
  }
  return true
}
