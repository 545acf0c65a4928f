/** What the engine of rules knows of the requests that a kind of rules is about. Chat is one dialect, HTTP another. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Path } from '../check/check.js'
import type { AnsweredBy, Caller } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import type { PaceInput } from '../core/pace.js'
import type { Per, Then } from './rule-form.js'
import type { Rule } from './rules.js'
import type { FactNames, Templates } from './templates.js'

/** One request as rules see it. */
export interface MatchInput {
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  /** Whose memory counts. */
  readonly scope: string
  /** The caller, or the conversation: what a rule remembers with `per`. */
  holder(per: Per): string
}

/** One condition. */
export interface Condition<I extends MatchInput = MatchInput> {
  holds(input: I): boolean
  /** Why it does not hold, as a sentence without its end: `user does not contain "weather"`. It repeats the rule, never the request. */
  differs(input: I): string
  /** A regular expression's groups, where it has one and it matches. */
  exec?(input: I): RegExpExecArray | null
}

/** One of the things that a rule says. */
export interface Saying<T = unknown> {
  /** What it says where that is the same whatever is asked. */
  readonly always: T | undefined
  readonly fault: Fault | undefined
  /** Whether a request can rule it out: one that only calls tools by its tool_choice, say. */
  readonly mayBePassedOver: boolean
  /** `count` is how often the rule has answered with this answer, from 1. */
  said(input: MatchInput, count: number): T | Promise<T>
}

/** What sayings are made with. */
export interface Texts {
  /** The language of templates; only there when some text is one. */
  readonly templates: Templates | undefined
  /** What they can name; without it what those on chat completions can. */
  readonly names?: FactNames
  readonly seed: number
  /** What is in a file that a rule says; `undefined` when it cannot be read, which is then complained of already. */
  file(name: string): string | Buffer | undefined
  /** Called with what is wrong with a template: where, and a sentence. */
  complain(path: Path, sentence: string): void
}

/** What a saying is called, and what it takes over from its rule. */
export interface SayingOwner {
  readonly answeredBy: AnsweredBy
  readonly rule: Rule
  /** The rule's. */
  readonly title: string
  /** What makes it say other things than another rule does to one request. */
  readonly drawnFrom: string
  readonly pace?: PaceInput
  groups(input: MatchInput): RegExpExecArray | null
}

/** A rule made ready: its conditions, what it answers each time, and whether it may answer. */
export interface ReadyRule<S extends Saying = Saying> {
  readonly dialect: Dialect
  readonly written: Rule
  /** By which it can be changed, where it stands in a file. */
  readonly id: string | undefined
  /** `rule "weather"`. */
  readonly title: string
  /** Where it stands: a file and a line, or its place in a list. */
  readonly place: string
  readonly conditions: readonly Condition[]
  readonly priority: number
  readonly times: number | undefined
  readonly scenario: Rule['scenario']
  /** For whom it remembers; for all of a scope together without one. */
  readonly per: Per | undefined
  readonly sayings: readonly S[]
  readonly then: Then
  /** Whether anything about it changes with how often it has answered. */
  readonly counts: boolean
  /** Whether anything that it says is to go wrong. */
  readonly fails: boolean
  /** What it answers first, and always where nothing about it changes. */
  readonly first: S
  /** What it answers the time `count`, counted from 1. */
  readonly sayingAt: (count: number) => S
}

/** Finds the few rules that can match among many. */
export interface RuleLookup<I extends MatchInput = MatchInput, S extends Saying = Saying> {
  /** The rules that may match, in the order in which they are tried; those left out cannot. */
  candidates(input: I): readonly ReadyRule<S>[]
}

export interface Dialect<
  I extends MatchInput = MatchInput,
  S extends Saying = Saying,
  X extends RuleLookup<I, S> = RuleLookup<I, S>,
> {
  conditions(rule: Rule): readonly Condition<I>[]
  /** Makes ready what a rule says; `path` is where its form stands in the rule. */
  saying(form: NonNullable<Rule['reply']>, path: Path, owner: SayingOwner, texts: Texts): S
  /** `rules` are in the order in which they are tried. */
  index(rules: readonly ReadyRule<S>[]): X
  /** Whether the request asks for something that not every saying can give. */
  isDemanding(input: I): boolean
  /** Why such a request rules a saying out; `undefined` where it does not. */
  objection(saying: S, input: I): string | undefined
}
