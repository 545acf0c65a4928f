/** The fields that rules of all dialects share. */
import * as v from 'valibot'
import { closed, described, filled, numberBetween, optional, word } from '../check/forms.js'
import { paceInput } from '../core/pace.js'

const scenario = closed({
  name: described(filled, 'The name of the scenario.'),
  state: optional(filled, 'The state in which the rule may answer. Scenarios begin in "start".'),
  next: optional(filled, 'The state of the scenario after the answer.'),
})

const thenWords = ['repeat-last', 'cycle', 'miss'] as const
export type Then = (typeof thenWords)[number]

const perWords = ['caller', 'conversation'] as const
export type Per = (typeof perWords)[number]

const aReplyList = 'a list with at least one reply'

/** The fields of a rule with these conditions and replies. */
export const ruleFields = <const W extends v.GenericSchema, const R extends v.GenericSchema>(when: W, reply: R) => ({
  name: optional(filled, 'The name of the rule in the log.'),
  enabled: optional(v.boolean('true or false'), 'false switches the rule off: it stays in its file and never answers.'),
  when: v.nullish(described(when, 'Conditions that must all hold. Without any, the rule always matches.'), {}),
  reply: optional(reply, 'The reply.'),
  replies: optional(
    v.pipe(v.array(reply, aReplyList), v.nonEmpty(aReplyList)),
    'The answers to the first request, the second one and so on.',
  ),
  // biome-ignore lint/suspicious/noThenProperty: rule files call it that, and a rule is never awaited.
  then: optional(
    word(thenWords),
    'What follows the last of replies: repeat-last (the default), cycle (from the first again) or miss (the rule no longer matches).',
  ),
  times: optional(
    v.pipe(numberBetween(1, 1_000_000, 'a whole number'), v.integer('a whole number')),
    'How often the rule answers; afterwards it no longer matches.',
  ),
  priority: optional(
    numberBetween(-1_000_000, 1_000_000),
    'Rules with a higher priority are tried first; rules with the same priority in their order. 0 by default.',
  ),
  per: optional(
    word(perWords),
    'Counts answers and keeps the state of its scenario separately for each caller or each conversation. A conversation is identified by its header x-conversation-id, or else by its first messages.',
  ),
  scenario: optional(scenario, 'Answers only in one state of a scenario, and moves it on.'),
  pace: v.nullish(
    described(paceInput, 'The pace of a streamed reply. Anything left out comes from the model or the configuration.'),
  ),
})

export const EITHER_REPLY = 'must have either reply or replies.'

interface ReplyFields {
  readonly reply?: unknown
  readonly replies?: unknown
  readonly then?: unknown
}

/** The form of a rule with these fields. */
export const ruleForm = <const E extends v.ObjectEntries>(fields: E) =>
  v.pipe(
    closed(fields),
    v.check(rule => {
      const { reply, replies } = rule as ReplyFields
      return (reply === undefined) !== (replies === undefined)
    }, EITHER_REPLY),
    v.check(rule => {
      const { then, replies } = rule as ReplyFields
      return then === undefined || replies !== undefined
    }, 'has then, which is only allowed with replies.'),
  )
