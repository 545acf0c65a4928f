/** Rules that are added while the platform runs. They come before all others, newest first. */
import { problemInWords } from '../check/problem.js'
import { tooManyRules } from '../core/errors.js'
import { createByScope } from '../core/scope.js'
import type { Dialect, MatchInput, ReadyReply, ReadyRule, RuleLookup } from './dialect.js'
import { createEngine, type Engine } from './engine.js'
import { rulesAsGiven } from './load.js'
import type { Memory } from './memory.js'
import type { RuleOrigin } from './ready-rule.js'
import { isHttpRule, type RuleInput } from './rules.js'

export interface Adding {
  /** The scope whose requests it answers; without one, all requests. */
  readonly scope?: string | undefined
  /** The folder for files that rules use. Without it they may not use any. */
  readonly dir: string | undefined
  /** The seed for templates. */
  readonly seed: number
}

/** A rule that was added, until it is removed. */
export interface RuntimeRule {
  readonly id: string
  /** Empty for a rule without a scope. */
  readonly scope: string
  readonly rule: ReadyRule
}

export type RulesAtRunTime = ReturnType<typeof createRulesAtRunTime>

interface RuleSelection {
  readonly id?: string | undefined
  readonly scope?: string | undefined
}

/** Stands for the scope of rules that answer all requests. */
const NO_SCOPE = ''

/** The limit for all scopes together. More rules mean that a client adds them and never removes any. */
export const MOST_ADDED = 10_000

interface RunTimeSettings {
  /** The limit for all scopes together. */
  readonly most?: number
  /** Called when the first rule for a path is added, and when the last one is removed. */
  readonly onPaths?: () => void
  /** Called with each warning about a rule, as a sentence. */
  readonly warn?: (sentence: string) => void
}

export function createRulesAtRunTime(
  memory: Memory,
  { most = MOST_ADDED, onPaths = () => {}, warn = () => {} }: RunTimeSettings = {},
) {
  const shelves = createShelves(memory)
  const { all, engines } = shelves
  const read = createReader(warn)

  const rules = {
    isEmpty: true as boolean,
    /** Whether one of them is for a path other than chat completions. */
    havePaths: false as boolean,
    /**
     * Adds a rule, or several in their order. Rejects with a ProblemsError that names what is wrong, or with a 409 if
     * there are too many; none is added then.
     */
    async add(written: RuleInput | readonly RuleInput[], adding: Adding) {
      const added = await read(written, adding)
      if (all().length + added.length > most) throw tooManyRules(most)
      shelves.put(adding.scope ?? NO_SCOPE, added)
      noteChange(rules, onPaths)
      return added.map(({ id }) => ({ id }))
    },
    /** Removes the rules with this id, of this scope, or both; all if neither is given. Returns how many there were. */
    remove(selection: RuleSelection = {}) {
      const removed = shelves.remove(selection)
      noteChange(rules, onPaths)
      return removed
    },
    ...{ all, engines },
  }
  return rules
}

/** Updates the flags that requests read before anything else. */
function noteChange(rules: { isEmpty: boolean; havePaths: boolean } & Pick<Shelves, 'all'>, onPaths: () => void): void {
  const all = rules.all()
  rules.isEmpty = all.length === 0
  const havePaths = all.some(({ rule }) => isHttpRule(rule.written))
  if (havePaths === rules.havePaths) return
  rules.havePaths = havePaths
  onPaths()
}

/** Reads rules as they are added, and numbers them in the order of the calls. */
function createReader(warn: (sentence: string) => void) {
  let calls = 0
  let count = 0
  return async (
    written: RuleInput | readonly RuleInput[],
    { scope = NO_SCOPE, dir, seed }: Adding,
  ): Promise<readonly Added[]> => {
    // Taken before the first await, so that the order is that of the calls.
    const call = ++calls
    const first = count + 1
    count += Array.isArray(written) ? written.length : 1
    const idOf = (i: number) => `rule-${first + i}`
    const originOf = (i: number) => runtimeOrigin(`at run time #${first + i}`)
    const { rules, warnings } = await rulesAsGiven(written, { dir, seed, originOf })
    for (const warning of warnings) warn(problemInWords(warning))
    return rules.map((rule, i) => ({ id: idOf(i), scope, call, rule }))
  }
}

const runtimeOrigin = (place: string): RuleOrigin => ({ place, title: `rule ${place}`, isUnstable: true })

interface Added extends RuntimeRule {
  /** The number of the call that added it. */
  readonly call: number
}

type Shelves = ReturnType<typeof createShelves>

/** The rules of all scopes: a shelf for each, and one for all requests. */
function createShelves(memory: Memory) {
  const withoutScope = createShelf(NO_SCOPE)
  const byScope = createByScope(createShelf)
  const allShelves = () => [...byScope.all(), withoutScope]
  /** Rules of the scope come first, so that other clients of the same server cannot interfere. */
  function shelvesFor(scope: string | undefined) {
    if (scope === undefined) return allShelves()
    const ofScope = scope === NO_SCOPE ? undefined : byScope.find(scope)
    return ofScope ? [ofScope, withoutScope] : [withoutScope]
  }
  return {
    put: (scope: string, added: readonly Added[]) =>
      (scope === NO_SCOPE ? withoutScope : byScope.get(scope)).put(added),
    remove({ id, scope }: RuleSelection): number {
      let removed = 0
      for (const shelf of allShelves()) {
        removed += shelf.remove(added => (id ?? added.id) === added.id && (scope ?? added.scope) === added.scope)
        if (shelf.inOrder().length === 0) byScope.forget(shelf.scope)
      }
      return removed
    },
    /**
     * The rules of a scope and those without one, in the order in which they are tried; the rules of all scopes if none
     * is given.
     */
    all: (scope?: string): readonly RuntimeRule[] => shelvesFor(scope).flatMap(shelf => shelf.inOrder()),
    engines: <I extends MatchInput, S extends ReadyReply, X extends RuleLookup<I, S>>(
      dialect: Dialect<I, S, X>,
      scope?: string,
    ) => shelvesFor(scope).map(shelf => engineOf(shelf, dialect, memory)),
  }
}

/** The rules of one scope. */
function createShelf(scope: string) {
  let added: readonly Added[] = []
  // Sorted on demand, not each time a rule is added.
  let ordered: readonly Added[] | undefined
  /** By dialect. */
  const engines = new Map<unknown, unknown>()

  function change(next: readonly Added[]): void {
    added = next
    ordered = undefined
    engines.clear()
  }

  /** In the order in which they are tried. */
  function inOrder(): readonly Added[] {
    ordered ??= added.toSorted((a, b) => b.rule.priority - a.rule.priority)
    return ordered
  }

  return {
    ...{ scope, inOrder, engines },
    put: (newRules: readonly Added[]) => change([...added, ...newRules].toSorted((a, b) => b.call - a.call)),
    remove(isRemoved: (added: Added) => boolean): number {
      const rest = added.filter(one => !isRemoved(one))
      const removed = added.length - rest.length
      if (removed > 0) change(rest)
      return removed
    },
  }
}

/** Created with the first request after a change. */
function engineOf<I extends MatchInput, S extends ReadyReply, X extends RuleLookup<I, S>>(
  { engines, inOrder }: Pick<ReturnType<typeof createShelf>, 'engines' | 'inOrder'>,
  dialect: Dialect<I, S, X>,
  memory: Memory,
): Engine<I, S, X> {
  const cached = engines.get(dialect) as Engine<I, S, X> | undefined
  if (cached) return cached
  const rules = inOrder().map(({ rule }) => rule)
  const engine = createEngine(rules, memory, dialect)
  engines.set(dialect, engine)
  return engine
}
