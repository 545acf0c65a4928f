/** Checks whether a rule's reply is what its request asked for. The result is only a hint in the log. */

import type { Choice, Generation, ToolCall } from '../chat/generation.js'
import type { ChatRequest } from '../chat/request.js'
import { offeredTools } from './called-tool.js'

/** Returns why a value does not fit a schema; `undefined` if it does. */
let whyUnfit: ((schema: object, value: unknown) => string | undefined) | undefined

/** Whether the code that checks replies has been loaded. */
export const canJudge = () => whyUnfit !== undefined

export async function loadJudge(): Promise<void> {
  const { validatorOf } = await import('../check/json-schema.js')
  whyUnfit = (schema, value) => validatorOf(schema)(value, { firstOnly: true })[0]?.sentence
}

/** Whether a request asks for a certain format. */
export const asksForForm = ({ response_format: format }: ChatRequest) => format != null && format.type !== 'text'

/** Returns a function to call when the log is written, or `undefined` if there is nothing to check. */
export function mismatchOf(request: ChatRequest, generation: Generation): (() => string | undefined) | undefined {
  const { choices, answeredBy, fault } = generation
  if (answeredBy.kind === 'canned' || fault?.status !== undefined) return undefined
  if (!asksForForm(request) && !choices.some(({ toolCalls }) => toolCalls)) return undefined
  return () => {
    try {
      return firstMismatch(request, choices)
    } catch {
      // It cannot be checked, because the schema is unreadable or takes too long.
      return undefined
    }
  }
}

function firstMismatch(request: ChatRequest, choices: readonly Choice[]): string | undefined {
  for (const { text, toolCalls = [], refusal, finishReason } of choices) {
    for (const call of toolCalls) {
      const wrong = wrongCall(request, call)
      if (wrong) return wrong
    }
    const isWhole = toolCalls.length === 0 && refusal === undefined && (finishReason ?? 'stop') === 'stop'
    const wrong = isWhole && asksForForm(request) ? wrongText(request, text ?? '') : undefined
    if (wrong) return wrong
  }
  return undefined
}

function wrongCall(request: ChatRequest, { name, arguments: given }: ToolCall): string | undefined {
  const functions = (request.functions ?? []).map(one => ({ ...one, kind: 'function' }))
  const tool = [...offeredTools(request), ...functions].find(offered => offered.name === name)
  if (!tool) return `It calls ${name}, which the request does not offer.`
  const { kind, parameters } = tool
  if (kind === 'custom' || typeof parameters !== 'object' || parameters === null) return undefined
  return wrongJson(given, parameters, `The arguments of ${name}`, 'do not fit its parameters')
}

function wrongText({ response_format: format }: ChatRequest, text: string): string | undefined {
  const schema = format?.type === 'json_schema' ? format.json_schema?.schema : format?.schema
  return wrongJson(text, schema ?? { type: 'object' }, 'The text', 'does not fit response_format')
}

function wrongJson(text: string, schema: object, what: string, verb: string): string | undefined {
  try {
    const why = whyUnfit?.(schema, JSON.parse(text))
    return why === undefined ? undefined : `${what} ${verb}: ${why}`
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return `${what} ${what.startsWith('The arguments') ? 'are' : 'is'} not JSON, which the request asks for.`
  }
}
