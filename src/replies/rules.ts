/** The rules of what the emulated model says, as their authors write them. */
import * as v from 'valibot'
import { closed, described, number, open, optional, word } from '../check/check.js'
import { type PaceInput, paceInput } from '../core/pace.js'
import { type When, whenSchema } from './conditions/form.js'
import { replySchema } from './reply-form.js'

const text = v.string('text')
const filled = v.pipe(text, v.nonEmpty('text that is not empty'))

const scenario = closed({
  name: described(filled, 'Which scenario it is.'),
  state: optional(filled, 'The state in which the rule may answer; a scenario begins in "start".'),
  next: optional(filled, 'The state in which the scenario is after the answer.'),
})

const thens = ['repeat-last', 'cycle', 'miss'] as const
export type Then = (typeof thens)[number]

const pers = ['caller', 'conversation'] as const
export type Per = (typeof pers)[number]

const replies = 'a list with at least one reply'

export const ruleSchema = v.pipe(
  closed({
    name: optional(filled, 'What the log calls the rule.'),
    enabled: optional(
      v.boolean('true or false'),
      'false switches the rule off: it stays in its file and never answers.',
    ),
    when: v.nullish(
      described(whenSchema, 'Conditions; all of them must hold. Without any the rule always matches.'),
      {},
    ),
    reply: optional(replySchema, 'What the model says.'),
    replies: optional(
      v.pipe(v.array(replySchema, replies), v.nonEmpty(replies)),
      'What the model says the first time, the second time and so on.',
    ),
    // biome-ignore lint/suspicious/noThenProperty: it is what rule files call it, and a rule is never awaited.
    then: optional(
      word(thens),
      'After the last of replies: repeat-last (the default), cycle (from the first again) or miss (the rule matches no more).',
    ),
    times: optional(
      v.pipe(number(1, 1_000_000, 'a whole number'), v.integer('a whole number')),
      'How often the rule answers; afterwards it matches no more.',
    ),
    priority: optional(
      number(-1_000_000, 1_000_000),
      'Rules of a higher priority are tried first; those of the same one in the order in which they stand. 0 without it.',
    ),
    per: optional(
      word(pers),
      'Counts answers, and keeps the state of its scenario, for each caller or each conversation by itself. A conversation is known by its header x-conversation-id, else by its first messages.',
    ),
    scenario: optional(scenario, 'Answers only in one state of a scenario, and moves it on.'),
    pace: v.nullish(
      described(
        paceInput,
        'The rhythm when the reply is streamed. What is left out is taken from the model or the configuration.',
      ),
    ),
  }),
  v.check(
    ({ reply, replies }) => (reply === undefined) !== (replies === undefined),
    'has to have either reply or replies.',
  ),
  v.check(
    ({ then, replies }) => then === undefined || replies !== undefined,
    'has then, which goes with replies only.',
  ),
)

export const rulesSchema = v.array(ruleSchema, 'a list of rules')

/** What a call may send: a rule, or a list of them; which of its requests it is for may stand beside the keys of one. */
export const ruleByCall = v.lazy(written =>
  Array.isArray(written) ? v.array(v.unknown()) : open({ scope: optional(text, 'Whose requests it is for.') }),
)

/** The form of all that, for the document. */
export const sentRules = v.union(
  [closed({ ...ruleSchema.entries, scope: optional(text, 'Whose requests it is for.') }), rulesSchema],
  'a rule, or a list of rules',
)

export type Rule = v.InferOutput<typeof ruleSchema>

/** In code a condition on a text may also be a regular expression itself. */
type WithExpressions<T> = T extends string
  ? T | RegExp
  : T extends readonly (infer Item)[]
    ? readonly WithExpressions<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: WithExpressions<T[K]> }
      : T

type Written = v.InferInput<typeof ruleSchema>

/** A rule as its author writes it. */
export interface RuleInput extends Omit<Written, 'when' | 'pace'> {
  readonly when?: WithExpressions<When> | null | undefined
  readonly pace?: PaceInput | null | undefined
}
