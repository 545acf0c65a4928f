/** The rules of what the emulated model says: their form in a file, and how one is held against a request. */
import * as v from 'valibot'
import { type ChatRequest, textOf } from '../core/chat.js'
import { closed, described } from '../core/check.js'
import type { Pace } from '../core/exchange.js'
import { firstTokenMs, tokensPerSecond } from '../core/pace.js'
import { pattern } from './pattern.js'

const text = v.string('text')
const describe = <const S extends v.GenericSchema>(schema: S, meaning: string) => v.optional(described(schema, meaning))

const user = v.pipe(
  text,
  v.nonEmpty('text, or /a regular expression/'),
  v.check(isPattern, 'a valid regular expression'),
)

export const ruleSchema = closed({
  name: describe(v.pipe(text, v.nonEmpty('text that is not empty')), 'What the log calls the rule.'),
  when: v.nullish(
    v.pipe(
      closed({
        user: describe(user, 'Part of the last user message, or /a regular expression/ with flags.'),
        model: describe(v.pipe(text, v.nonEmpty('the id of a model')), 'The id of the model; * stands for anything.'),
      }),
      v.description('Conditions; all of them must hold. Without any the rule always matches.'),
    ),
    {},
  ),
  reply: v.pipe(closed({ text: v.pipe(text, v.description('What the model says.')) }), v.description('The answer.')),
  pace: v.nullish(
    described(
      closed({ firstTokenMs: v.optional(firstTokenMs), tokensPerSecond: v.optional(tokensPerSecond) }),
      'The rhythm when the reply is streamed. What is left out is taken from the configuration.',
    ),
  ),
})

export const rulesSchema = v.array(ruleSchema, 'a list of rules')

/** A rule as its author writes it. */
export type RuleInput = v.InferInput<typeof ruleSchema>
export type Rule = v.InferOutput<typeof ruleSchema>

/** What the model says. The same object each time a rule gives it, so that work on it can be remembered. */
export interface CannedReply {
  readonly text: string
  readonly pace: Pace
  /** What gave it, for the log. */
  readonly source: string
}

/** A rule made ready: `reply` is what it says when `matches` holds. */
export interface ReadyRule {
  readonly reply: CannedReply
  matches(request: ChatRequest, lastUserText: string): boolean
}

/** Makes a rule ready. `place` stands in for a missing name; `usual` for what the rule's own pace leaves out. */
export function readyRule({ name, when, reply, pace }: Rule, place: string, usual: Pace): ReadyRule {
  const user = when?.user === undefined ? undefined : pattern(when.user)
  const model = when?.model === undefined ? undefined : glob(when.model)
  const own = {
    firstTokenMs: pace?.firstTokenMs ?? usual.firstTokenMs,
    tokensPerSecond: pace?.tokensPerSecond ?? usual.tokensPerSecond,
  }
  return {
    reply: { text: reply.text, pace: own, source: `rule "${name ?? place}"` },
    matches: (request, lastUserText) =>
      (user === undefined || user(lastUserText)) && (model === undefined || model.test(request.model)),
  }
}

/** The text of the last user message; empty when there is none. */
export function lastUserText({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === 'user')
  return last ? textOf(last) : ''
}

/** Model ids are no paths: `*` also stands for slashes. */
const glob = (written: string) =>
  new RegExp(
    `^${written
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  )

function isPattern(written: string): boolean {
  try {
    pattern(written)
    return true
  } catch {
    return false
  }
}
