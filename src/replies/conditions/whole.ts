/** Conditions on whole values: names, headers, fields of the request. */
import { expressionIn } from '../../check/expressions.js'
import { glob } from '../../core/paths.js'

/** A number, or a range. */
export type RangeCondition = number | { readonly min?: number | undefined; readonly max?: number | undefined }

/** The forms of a condition on a value. In a text, `*` matches anything, and `/…/flags` is a regular expression. */
export type ValueCondition =
  | string
  | number
  | bigint
  | boolean
  | null
  | { readonly contains: string }
  | { readonly present: boolean }
  | { readonly min?: number | undefined; readonly max?: number | undefined }
  | readonly ValueCondition[]

/** A compiled condition on a value. */
export interface ValueTest {
  holds(value: unknown): boolean
  /** Why it does not hold, as the rest of a sentence: `is not "json_schema"`. */
  readonly mismatch: string
}

/** Compiles a condition. Throws a SyntaxError for an invalid regular expression. */
export function valueTest(written: ValueCondition): ValueTest {
  if (typeof written === 'string') return nameTest(written)
  if (typeof written !== 'object' || written === null)
    return { holds: value => value === written, mismatch: `is not ${written}` }
  if (Array.isArray(written)) return oneOf(written.map(valueTest))
  if ('contains' in written) {
    const { contains } = written
    return {
      holds: value => typeof value === 'string' && value.includes(contains),
      mismatch: `does not contain ${JSON.stringify(contains)}`,
    }
  }
  if ('present' in written) {
    const { present } = written
    // OpenAI's clients send null for "not set".
    const isPresent = (value: unknown) => value !== undefined && value !== null
    return { holds: value => isPresent(value) === present, mismatch: present ? 'is missing' : 'is present' }
  }
  return rangeTest(written as RangeCondition)
}

export function rangeTest(written: RangeCondition): ValueTest {
  if (typeof written === 'number') return { holds: value => value === written, mismatch: `is not ${written}` }
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = written
  return {
    holds: value => typeof value === 'number' && value >= min && value <= max,
    mismatch: `is not ${[...(written.min === undefined ? [] : [`at least ${min}`]), ...(written.max === undefined ? [] : [`at most ${max}`])].join(' and ')}`,
  }
}

/** Matches a whole name. `*` matches anything, slashes included, since model ids and keys are not paths. */
export function nameTest(written: string): ValueTest {
  const expression = expressionIn(written)
  if (expression) {
    return {
      holds: value => typeof value === 'string' && expression.test(value),
      mismatch: `does not match ${expression}`,
    }
  }
  const mismatch = `is not ${JSON.stringify(written)}`
  if (!/[*?]/.test(written)) return { holds: value => value === written, mismatch }
  const pattern = glob(written)
  return { holds: value => typeof value === 'string' && pattern.test(value), mismatch }
}

function oneOf(tests: readonly ValueTest[]): ValueTest {
  return {
    holds: value => tests.some(test => test.holds(value)),
    mismatch: tests.map(({ mismatch }) => mismatch).join(' and '),
  }
}
