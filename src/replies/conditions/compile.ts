/** Compiles the conditions of rules: those of a dialect by its table; headers, callers and combinations are the same for all. */

import type { Condition, MatchInput } from '../dialect.js'
import { holdsCredential } from '../templates.js'
import type { CommonWhen } from './form.js'
import { nameTest, type TextCondition, textTest, type ValueTest, valueTest } from './value-tests.js'

/** How each condition of a dialect is compiled. They are tested in this order: put the cheapest and most selective first. */
export type ConditionTable<I extends MatchInput, W> = {
  readonly [Name in Exclude<keyof W, keyof CommonWhen<W>>]-?: (
    wanted: NonNullable<W[Name]>,
    name: string,
  ) => Condition<I> | readonly Condition<I>[]
}

/** Compiles the conditions of a rule. Does not throw for conditions that have passed validation. */
export function compileWhen<I extends MatchInput, W extends CommonWhen<W>>(
  when: W,
  table: ConditionTable<I, W>,
): readonly Condition<I>[] {
  const { header, caller, not, allOf = [], anyOf } = when
  const compileInner = (inner: W) => compileWhen(inner, table)
  const own = Object.entries<(wanted: never, name: string) => Condition<I> | readonly Condition<I>[]>(table)
  const wantedOf = (name: string) => when[name as keyof W]
  return [
    ...own.flatMap(([name, compile]) => (wantedOf(name) === undefined ? [] : compile(wantedOf(name) as never, name))),
    ...Object.entries(header ?? {}).map(([name, wanted]) => onHeader(name, valueTest(wanted))),
    ...Object.entries(caller ?? {}).flatMap(([name, wanted]) => (wanted === undefined ? [] : onCaller(name, wanted))),
    ...(not === undefined ? [] : [onNot(compileInner(not), Object.keys(not))]),
    ...allOf.flatMap(compileInner),
    ...(anyOf === undefined ? [] : [onAnyOf(anyOf.map(compileInner))]),
  ]
}

/** A condition on one value of a request. */
export const simple = <I extends MatchInput>(
  name: string,
  test: ValueTest,
  valueIn: (input: I) => unknown,
): Condition<I> => ({
  holds: input => test.holds(valueIn(input)),
  mismatch: () => `${name} ${test.mismatch}`,
})

/** A condition on a text of a request. Templates can use the groups of its regular expression. */
export const onText =
  <I extends MatchInput>(textIn: (input: I) => string) =>
  (wanted: TextCondition, name: string): Condition<I> => {
    const test = textTest(wanted)
    return { ...simple(name, test, textIn), exec: input => test.exec?.(textIn(input)) ?? null }
  }

/** A condition on each of several named values. */
export const onEach =
  <I extends MatchInput, T>(compile: (key: string, wanted: T, name: string) => Condition<I>) =>
  (wanted: Readonly<Record<string, T>>, name: string): readonly Condition<I>[] =>
    Object.entries(wanted).map(([key, value]) => compile(key, value, `${name}.${key}`))

/** Header values may be secrets, so the reason quotes only the rule, and for credentials not even the rule. */
function onHeader(name: string, test: ValueTest): Condition {
  const key = name.toLowerCase()
  const safeTest = holdsCredential(key) ? { ...test, mismatch: 'is not what the rule requires' } : test
  return simple(`header ${name}`, safeTest, ({ headers }) => headers[key])
}

function onCaller(name: string, wanted: string): Condition {
  return simple(`caller.${name}`, nameTest(wanted), ({ caller }) => {
    if (name === 'kind') return caller.kind
    if (name === 'key') return caller.kind === 'apiKey' ? caller.name : undefined
    return 'email' in caller ? caller.email : undefined
  })
}

const onNot = <I extends MatchInput>(conditions: readonly Condition<I>[], keys: readonly string[]): Condition<I> => ({
  holds: input => !conditions.every(condition => condition.holds(input)),
  mismatch: () => `all conditions in "not" hold (${keys.join(', ')})`,
})

function onAnyOf<I extends MatchInput>(choices: readonly (readonly Condition<I>[])[]): Condition<I> {
  const fits = (input: I) => choices.find(conditions => conditions.every(condition => condition.holds(input)))
  return {
    holds: input => fits(input) !== undefined,
    mismatch: input =>
      `none of anyOf holds: ${choices.map(conditions => conditions.find(condition => !condition.holds(input))?.mismatch(input)).join('; ')}`,
    exec: input => firstGroups(fits(input) ?? [], input),
  }
}

/** The groups of the first regular expression among `conditions` that has found something. */
export function firstGroups<I extends MatchInput>(
  conditions: readonly Condition<I>[],
  input: I,
): RegExpExecArray | null {
  for (const condition of conditions) {
    const found = condition.exec?.(input)
    if (found) return found
  }
  return null
}
