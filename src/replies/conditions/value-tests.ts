/** What a condition is, and the tests of one value that conditions are made of: of a text, a name, a number, a field. */
import type { IncomingHttpHeaders } from 'node:http'
import { expressionIn } from '../../check/expressions.js'
import type { Caller } from '../../core/exchange.js'
import { glob } from '../../core/paths.js'

/** One request as rules see it. */
export interface MatchInput {
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  /** The scope whose memory is used. */
  readonly scope: string
  /** Identifies the conversation among those of the caller, for rules with `per`. */
  readonly conversation: string
  /** The same for requests that are the same for whoever answers them. */
  readonly fingerprint: string
  /** Whether not every reply suits it, for example because of its tool_choice. */
  readonly isDemanding: boolean
}

export interface Condition<I extends MatchInput = MatchInput> {
  holds(input: I): boolean
  /** Why it does not hold, without a full stop: `user does not contain "weather"`. Quotes the rule, never the request. */
  mismatch(input: I): string
  /** The groups of its regular expression, if it has one that matches. */
  exec?(input: I): RegExpExecArray | null
}

/** The forms of a condition on a text: a part of it, `/a regular expression/flags`, or an object. */
export type TextCondition =
  | string
  | { readonly exact: string }
  | { readonly contains: string }
  | readonly TextCondition[]

interface RangeCondition {
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** The forms of a condition on a value. In a text, `*` matches anything, and `/…/flags` is a regular expression. */
export type ValueCondition =
  | string
  | number
  | bigint
  | boolean
  | null
  | { readonly contains: string }
  | { readonly present: boolean }
  | RangeCondition
  | readonly ValueCondition[]

/** A compiled condition on a value. */
export interface ValueTest {
  holds(value: unknown): boolean
  /** The match of the first regular expression, if there is one. */
  exec?(text: string): RegExpExecArray | null
  /** Why it does not hold, as the rest of a sentence: `is not "json_schema"`. */
  readonly mismatch: string
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

/** Compiles a condition on a text. Throws a SyntaxError for an invalid regular expression. */
export function textTest(written: TextCondition): ValueTest {
  if (typeof written === 'string') {
    const expression = expressionIn(written)
    return expression ? matching(expression) : containing(written)
  }
  if ('exact' in written) return equalTo(written.exact)
  if ('contains' in written) return containing(written.contains)
  return oneOfTests(written.map(textTest))
}

/** Compiles a condition on a value. Throws a SyntaxError for an invalid regular expression. */
export function valueTest(written: ValueCondition): ValueTest {
  if (typeof written === 'string') return nameTest(written)
  if (typeof written !== 'object' || written === null) return equalTo(written)
  if (Array.isArray(written)) return oneOfTests(written.map(valueTest))
  if ('contains' in written) return containing(written.contains)
  if ('present' in written) {
    const { present } = written
    // OpenAI's clients send null for "not set".
    const isPresent = (value: unknown) => value !== undefined && value !== null
    return { holds: value => isPresent(value) === present, mismatch: present ? 'is missing' : 'is present' }
  }
  return rangeTest(written as RangeCondition)
}

function rangeTest(written: RangeCondition): ValueTest {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = written
  const bounds = [
    ...(written.min === undefined ? [] : [`at least ${min}`]),
    ...(written.max === undefined ? [] : [`at most ${max}`]),
  ]
  return {
    holds: value => typeof value === 'number' && value >= min && value <= max,
    mismatch: `is not ${bounds.join(' and ')}`,
  }
}

/** Matches a whole name. `*` matches anything, slashes included, since model ids and keys are not paths. */
export function nameTest(written: string): ValueTest {
  const expression = expressionIn(written)
  if (expression) return matching(expression)
  if (!/[*?]/.test(written)) return equalTo(written)
  const pattern = glob(written)
  return { ...equalTo(written), holds: value => typeof value === 'string' && pattern.test(value) }
}

const containing = (part: string): ValueTest => ({
  holds: value => typeof value === 'string' && value.includes(part),
  mismatch: `does not contain ${JSON.stringify(part)}`,
})

export const equalTo = (wanted: string | number | bigint | boolean | null): ValueTest => ({
  holds: value => value === wanted,
  mismatch: `is not ${typeof wanted === 'string' ? JSON.stringify(wanted) : wanted}`,
})

const matching = (expression: RegExp): ValueTest => ({
  holds: value => typeof value === 'string' && expression.test(value),
  exec: text => expression.exec(text),
  mismatch: `does not match ${expression}`,
})

const oneOfTests = (tests: readonly ValueTest[]): ValueTest => ({
  holds: value => tests.some(test => test.holds(value)),
  exec: text => tests.map(test => test.exec?.(text)).find(found => found) ?? null,
  mismatch: tests.map(({ mismatch }) => mismatch).join(' and '),
})

type FieldPath = readonly (string | number)[]

const step = /(?:^|\.)([^.[\]]+)|\[(-?\d+)\]/gy

/** Parses a path such as `metadata.unit`, `messages[0].name` or `tools[-1].function.name`; `undefined` if it is invalid. */
export function fieldPath(written: string): FieldPath | undefined {
  const steps = [...written.matchAll(step)]
  const read = steps.reduce((sum, [whole]) => sum + whole.length, 0)
  if (steps.length === 0 || read < written.length) return undefined
  return steps.map(([, name, index]) => name ?? Number(index))
}

/** The value at `path`. Only own fields are read; a negative index counts from the end of a list. */
export function fieldAt(from: unknown, path: FieldPath): unknown {
  let value = from
  for (const key of path) {
    if (Array.isArray(value) && typeof key === 'number') value = value.at(key)
    else if (typeof value === 'object' && value !== null && Object.hasOwn(value, key))
      value = (value as Record<string, unknown>)[key]
    else return undefined
  }
  return value
}
