/** The conditions that all rules share: headers, callers, and combinations of other conditions. */
import { holdsCredential } from '../credential-headers.js'
import type { Condition, MatchInput } from '../dialect.js'
import type { CommonWhen } from './form.js'
import { nameTest, type ValueTest, valueTest } from './whole.js'

/**
 * Compiles the conditions of a rule. `compileDialect` compiles those of its dialect. Does not throw for conditions that have passed validation.
 */
export function compileWith<I extends MatchInput, W extends CommonWhen<W>>(
  when: W,
  compileDialect: (when: W) => readonly Condition<I>[],
): readonly Condition<I>[] {
  const { header, caller, not, allOf, anyOf } = when
  const compileInner = (inner: W) => compileWith(inner, compileDialect)
  return [
    ...compileDialect(when),
    ...Object.entries(header ?? {}).map(([name, wanted]) => onHeader(name, valueTest(wanted))),
    ...Object.entries(caller ?? {}).flatMap(([name, wanted]) => optional(wanted, wanted => onCaller(name, wanted))),
    ...optional(not, not => onNot(compileInner(not), Object.keys(not))),
    ...(allOf ?? []).flatMap(compileInner),
    ...optional(anyOf, anyOf => onAnyOf(anyOf.map(compileInner))),
  ]
}

export const optional = <T, C>(wanted: T | undefined, make: (wanted: T) => C): readonly C[] =>
  wanted === undefined ? [] : [make(wanted)]

/** A condition on one value of a request. */
export const simple = <I extends MatchInput>(
  name: string,
  test: ValueTest,
  valueIn: (input: I) => unknown,
): Condition<I> => ({
  holds: input => test.holds(valueIn(input)),
  mismatch: () => `${name} ${test.mismatch}`,
})

/** Header values may be secrets, so the reason quotes only the rule, and for credentials not even the rule. */
function onHeader(name: string, test: ValueTest): Condition {
  const key = name.toLowerCase()
  const safeTest = holdsCredential(key) ? { ...test, mismatch: 'is not what the rule requires' } : test
  return simple(`header ${name}`, safeTest, ({ headers }) => headers[key])
}

function onCaller(name: string, wanted: string): Condition {
  const test = nameTest(wanted)
  return simple(`caller.${name}`, test, ({ caller }) => {
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
