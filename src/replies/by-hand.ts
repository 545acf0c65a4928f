/** Answers by hand: the rule that gives a typed answer to one request, or to each that ends with the same message. */
import { contentOf } from '../chat/reader.js'
import { settingsIn } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import { faultSchema } from '../core/fault.js'
import { exactJsonOf } from '../core/json.js'
import { type Answerable, type AnswerForm, ruleFor } from './answerable.js'
import { choicesIn, type DraftSource, slugOf, withoutTemplates } from './draft.js'
import type { RuleInput } from './rules.js'
import { hasTemplate } from './templates.js'

/** An answer as somebody typed it. */
export interface TypedAnswer {
  readonly as: AnswerForm
  readonly says: string
  /** The tool that is called. */
  readonly tool?: string | undefined
}

/** What was answered, as an answer that somebody could have typed; `undefined` without any. */
export function before({ status, response }: DraftSource) {
  if (status === null || status >= 400) return undefined
  const [choice] = choicesIn(response)
  if (!choice) return beforeAtPath(response)
  const { text, calls } = contentOf(choice.message)
  const [call] = calls
  if (call) return { as: 'tool', says: call.arguments, tool: call.name } as const
  return { as: 'text', says: text, tool: '' } as const
}

function beforeAtPath({ body }: DraftSource['response']) {
  if (body === undefined || body === null || body === '') return undefined
  if (typeof body === 'string') return { as: 'text', says: body, tool: '' } as const
  return { as: 'json', says: JSON.stringify(body, null, 2), tool: '' } as const
}

/** Tried before all other rules. */
const FIRST = 1_000_000

/**
 * The rule that gives a typed answer: to the same request, or with `user` to each that ends with the same message. Throws a ProblemsError
 * for an answer that is none. `title` is the request in words, without secrets.
 */
export function ruleByHand(target: Answerable, answer: TypedAnswer, title: string, user?: string): RuleInput {
  return {
    ...ruleFor(target, slugOf(title) || 'by-hand'),
    ...(user !== undefined && { when: { user: { exact: user } } }),
    reply: replyOf(target, answer),
    priority: FIRST,
  } as RuleInput
}

function replyOf({ on, forms }: Answerable, { as, says, tool = '' }: TypedAnswer): object {
  if (!forms.includes(as)) throw mistake('as', `must be one of ${forms.join(', ')} for this request.`)
  // What was typed is what is sent: braces are no template.
  if (as === 'text') return { text: withoutTemplates(says) }
  if (as === 'fault') return { fault: faultOf(says) }
  const value = exactJsonOf(says.trim() === '' ? '{}' : says)
  if (value === undefined) throw mistake('says', 'is no valid JSON.')
  const isTemplate = hasTemplate(value)
  if (as === 'tool') {
    if (tool.trim() === '') throw mistake('tool', 'must name the tool that is called.')
    return { toolCalls: [{ name: withoutTemplates(tool), arguments: isTemplate ? withoutTemplates(says) : value }] }
  }
  if (on?.startsWith('tools/')) return { structuredContent: value }
  if (!isTemplate) return { json: value }
  const headers = on === undefined ? {} : { headers: { 'content-type': 'application/json' } }
  return { ...headers, text: withoutTemplates(says) }
}

function faultOf(says: string): object {
  const settings = settingsIn(says, faultSchema)
  if ('sentence' in settings) throw mistake('says', `is no fault: ${settings.sentence}`)
  return settings.value
}

const mistake = (field: string, sentence: string) =>
  new ProblemsError([{ origin: 'answer', sentence: `${field} ${sentence}` }])
