/** The schema of a rule's reply. */
import * as v from 'valibot'
import { closed, described, filled, map, number, optional, text, word } from '../check/check.js'
import { finishReasons } from '../completions/completion.js'
import { faultSchema } from '../core/fault.js'

const count = v.pipe(number(0, 1_000_000_000, 'a whole number'), v.integer('a whole number'))

const toolCall = closed({
  forEach: optional(filled, 'Makes a call for each item of this list: {{request.metadata.cities}}.'),
  as: optional(filled, 'The name of the item in templates; item by default.'),
  name: described(filled, 'The name of the tool. May be a template.'),
  arguments: v.optional(
    described(
      v.union([map(v.string(), v.unknown(), 'a map of arguments'), text], 'a map of arguments, or text'),
      'Its arguments: a map, which becomes JSON, or a string that is sent unchanged. Keys and strings may be templates.',
    ),
    {},
  ),
  id: optional(filled, 'The id of the call; made up without it. May be a template.'),
  type: v.optional(
    described(word(['function', 'custom']), 'custom for a custom tool, which takes a text: the arguments.'),
    'function',
  ),
})

const choiceEntries = {
  text: optional(text, 'What the model says. May be a template: Hi {{match[1]}}.'),
  file: optional(
    filled,
    'A file whose text the model says, beside the file with the rule. It is a template if its name ends in .liquid.',
  ),
  json: optional(
    v.unknown(),
    'A value that is sent as JSON. Keys and texts in it may be templates; a list item { forEach, as, item } is repeated for each item of another list.',
  ),
  toolCalls: optional(
    v.pipe(v.array(toolCall, 'a list of tool calls'), v.nonEmpty('a list with at least one tool call')),
    'Tools that it calls.',
  ),
  refusal: optional(filled, 'The text of a refusal. May be a template.'),
  reasoning: optional(text, 'What it thinks before it speaks (reasoning_content). May be a template.'),
  finishReason: optional(word(finishReasons), 'The finish_reason, if not the one that follows from the reply.'),
} as const

const onlyOne = 'says more than one of text, file and json.'
const isOne = (choice: object) => ['text', 'file', 'json'].filter(key => key in choice).length <= 1

const choice = v.pipe(
  closed(choiceEntries),
  v.check(choice => isOne(choice), onlyOne),
)

const isSomething = (reply: object) => Object.keys(reply).length > 0
const isChoicesOrOne = (reply: object) => !('choices' in reply) || !Object.keys(choiceEntries).some(key => key in reply)

export const replySchema = v.pipe(
  closed({
    ...choiceEntries,
    choices: optional(
      v.pipe(v.array(choice, 'a list of choices'), v.nonEmpty('a list with at least one choice')),
      'The choices for a request that wants several (n). If there are fewer, the last one is repeated.',
    ),
    usage: optional(
      closed({
        promptTokens: optional(count, 'Replaces the counted prompt_tokens.'),
        completionTokens: optional(count, 'Replaces the counted completion_tokens.'),
        cachedTokens: optional(count, 'The cached_tokens of the prompt.'),
        reasoningTokens: optional(count, 'The reasoning_tokens of the completion.'),
      }),
      'Token counts that replace the counted ones.',
    ),
    fault: optional(faultSchema, 'What goes wrong with the answer.'),
  }),
  v.check(
    reply => isSomething(reply),
    'says nothing. It must have text, file, json, toolCalls, refusal, choices or a fault.',
  ),
  v.check(reply => isOne(reply), onlyOne),
  v.check(reply => isChoicesOrOne(reply), 'has choices, and beside them what one of them says.'),
)

/** The reply of a rule, as its author writes it. */
export type ReplyForm = v.InferOutput<typeof replySchema>
export type ChoiceForm = v.InferOutput<typeof choice>
