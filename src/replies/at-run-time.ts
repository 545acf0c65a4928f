/** Rules that are added while the platform runs. They come before all others, newest first. */
import { problemInWords } from '../check/problem.js'
import { tooManyRules } from '../core/errors.js'
import type { ReadyRule } from './dialect.js'
import { rulesAsGiven } from './load.js'
import { isHttpRule, type RuleInput } from './rules.js'

export interface Adding {
  /** The scope whose requests it answers; without one, all requests. */
  readonly scope?: string | undefined
  /** The folder for files that rules use. Without it they may not use any. */
  readonly dir: string | undefined
  readonly seed: number
}

/** A rule that was added, until it is removed. */
export interface RuntimeRule {
  readonly id: string
  /** Empty for a rule without a scope. */
  readonly scope: string
  readonly rule: ReadyRule
  readonly call: number
}

interface RuleSelection {
  readonly id?: string | undefined
  readonly scope?: string | undefined
}

/** Stands for the scope of rules that answer all requests. */
const NO_SCOPE = ''

/** The limit for all scopes together. More rules mean that a client adds them and never removes any. */
const MOST_ADDED = 10_000

interface RunTimeSettings {
  /** The limit for all scopes together. */
  readonly most?: number
  /** Called when the first rule for a path is added, and when the last one is removed. */
  readonly onPaths?: () => void
  /** Called with each warning about a rule, as a sentence. */
  readonly warn?: (sentence: string) => void
}

export class RulesAtRunTime {
  isEmpty = true
  /** Whether one of them is for a path other than chat completions. */
  havePaths = false
  #calls = 0
  #count = 0
  #all: readonly RuntimeRule[] = []

  constructor(private readonly settings: RunTimeSettings = {}) {}

  /**
   * Adds a rule, or several in their order. Rejects with a ProblemsError that names what is wrong, or with a 409 if
   * there are too many; none is added then.
   */
  async add(written: RuleInput | readonly RuleInput[], { scope = NO_SCOPE, dir, seed }: Adding) {
    const { most = MOST_ADDED, warn } = this.settings
    // Taken before the first await, so that the order is that of the calls.
    const call = ++this.#calls
    const first = this.#count + 1
    this.#count += Array.isArray(written) ? written.length : 1
    const placeOfRule = (i: number) => `at run time #${first + i}`
    const originOf = (i: number) => ({ place: placeOfRule(i), title: `rule ${placeOfRule(i)}`, isUnstable: true })
    const read = await rulesAsGiven(written, { dir, seed, originOf })
    for (const warning of read.warnings) warn?.(problemInWords(warning))
    const added = read.rules.map((rule, i) => ({ id: `rule-${first + i}`, scope, call, rule }))
    if (this.#all.length + added.length > most) throw tooManyRules(most)
    this.#change([...this.#all, ...added])
    return added.map(({ id }) => ({ id }))
  }

  /** Removes the rules with this id, of this scope, or both; all if neither is given. Returns how many there were. */
  remove({ id, scope }: RuleSelection = {}): number {
    const before = this.#all
    this.#change(before.filter(added => (id ?? added.id) !== added.id || (scope ?? added.scope) !== added.scope))
    return before.length - this.#all.length
  }

  /** The rules of a scope and those without one, or all if none is given, in the order in which they are tried. */
  all(scope?: string): readonly RuntimeRule[] {
    return scope === undefined ? this.#all : this.#all.filter(one => one.scope === scope || one.scope === NO_SCOPE)
  }

  #change(next: readonly RuntimeRule[]): void {
    this.#all = next.toSorted(inOrder)
    this.isEmpty = next.length === 0
    const havePaths = next.some(({ rule }) => isHttpRule(rule.written))
    if (havePaths === this.havePaths) return
    this.havePaths = havePaths
    this.settings.onPaths?.()
  }
}

/** Rules of a scope come first, so that other clients of the same server cannot interfere. */
const inOrder = (a: RuntimeRule, b: RuntimeRule) =>
  Number(a.scope === NO_SCOPE) - Number(b.scope === NO_SCOPE) || b.rule.priority - a.rule.priority || b.call - a.call
