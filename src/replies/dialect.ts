/** A dialect tells the rule engine about one kind of request. Chat completions are one dialect, HTTP paths another. */
import type { Path } from '../check/check.js'
import type { Fault } from '../core/fault.js'
import type { PaceInput } from '../core/pace.js'
import type { AnsweredBy } from '../core/reply.js'
import type { Condition, MatchInput } from './conditions/value-tests.js'
import type { Then } from './rule-form.js'
import type { Rule } from './rules.js'
import type { Templates } from './templates.js'

export interface ReadyReply<T = unknown> {
  /** The reply, if it is the same for every request. */
  readonly always: T | undefined
  readonly fault: Fault | undefined
  /** Whether some requests cannot get it, for example because of their tool_choice. */
  readonly mayBeSkipped: boolean
  /** `count` is the number of times that the rule has answered, including this one. */
  generate(input: MatchInput, count: number): T | Promise<T>
}

/** What replies are compiled with. */
export interface Texts {
  /** The template language; only loaded if a text is a template. */
  readonly templates: Templates | undefined
  readonly seed: number
  /** The content of a file that a reply uses; `undefined` if it cannot be read, which is then already reported. */
  file(name: string): string | Buffer | undefined
  /** Reports a mistake in a template: its position, and a sentence. */
  complain(path: Path, sentence: string): void
}

/** What a reply takes over from its rule. */
export interface ReplyOwner {
  readonly answeredBy: AnsweredBy
  readonly rule: Rule
  readonly title: string
  /** Part of the seed, so that two rules generate different values for the same request. */
  readonly seedText: string
  readonly pace?: PaceInput
  groups(input: MatchInput): RegExpExecArray | null
}

/** A compiled rule: its conditions, its replies, and whether it may answer. */
export interface ReadyRule<S extends ReadyReply = ReadyReply> {
  readonly dialect: Dialect
  readonly written: Rule
  /** The rule file that it is in, relative to the configuration. */
  readonly file: string | undefined
  /** `rule "weather"`. */
  readonly title: string
  /** Its position: a file and a line, or a position in a list. */
  readonly place: string
  readonly conditions: readonly Condition[]
  readonly priority: number
  readonly replies: readonly S[]
  readonly then: Then
  /** What its answers are counted by. A rule that is read again takes over the counter of its predecessor. */
  counter: object
  /** Whether one of its replies is a fault. */
  readonly fails: boolean
}

export interface Dialect<I extends MatchInput = MatchInput, S extends ReadyReply = ReadyReply> {
  conditions(rule: Rule): readonly Condition<I>[]
  /** Compiles a reply. `path` is its position in the rule. */
  compileReply(form: NonNullable<Rule['reply']>, path: Path, owner: ReplyOwner, texts: Texts): S
  /** Why a reply does not suit a demanding request; `undefined` if it does. */
  objection?(reply: S, input: I): string | undefined
}
