/** Conditions on texts: part of the text, a regular expression, the whole text, or one of several. */
import { expressionIn } from '../../check/expressions.js'
import { requiredLiterals } from './literals.js'

/** The forms of a condition: a part, `/a regular expression/flags`, or an object. */
export type TextCondition =
  | string
  | { readonly exact: string }
  | { readonly contains: string }
  | readonly TextCondition[]

/** A compiled condition on a text. */
export interface TextTest {
  holds(text: string): boolean
  /** The match of the first regular expression, if there is one. */
  exec?(text: string): RegExpExecArray | null
  /** At least one of these texts is part of every matching text; empty if that is unknown. */
  readonly needles: readonly string[]
  /** Why it does not hold, as the rest of a sentence: `does not contain "weather"`. */
  readonly mismatch: string
}

/** Compiles a condition. Throws a SyntaxError for an invalid regular expression. */
export function textTest(written: TextCondition): TextTest {
  if (typeof written === 'string') {
    const expression = expressionIn(written)
    return expression ? matching(expression) : containing(written)
  }
  if ('exact' in written) return equal(written.exact)
  if ('contains' in written) return containing(written.contains)
  return oneOf(written.map(textTest))
}

/** A condition on the text of a request that has this name, such as `user`. */
export function onText<Name extends string>(name: Name, wanted: TextCondition) {
  const test = textTest(wanted)
  return {
    holds: (input: Readonly<Record<Name, string>>) => test.holds(input[name]),
    mismatch: () => `${name} ${test.mismatch}`,
    exec: (input: Readonly<Record<Name, string>>) => test.exec?.(input[name]) ?? null,
  }
}

const containing = (part: string): TextTest => ({
  holds: text => text.includes(part),
  needles: [part],
  mismatch: `does not contain ${JSON.stringify(part)}`,
})

const equal = (whole: string): TextTest => ({
  holds: text => text === whole,
  needles: [whole],
  mismatch: `is not ${JSON.stringify(whole)}`,
})

const matching = (expression: RegExp): TextTest => ({
  holds: text => expression.test(text),
  exec: text => expression.exec(text),
  needles: requiredLiterals(expression),
  mismatch: `does not match ${expression}`,
})

function oneOf(tests: readonly TextTest[]): TextTest {
  return {
    holds: text => tests.some(test => test.holds(text)),
    exec(text) {
      for (const test of tests) {
        const found = test.exec?.(text)
        if (found) return found
      }
      return null
    },
    // If one of the tests requires no text, nothing is known about the whole.
    needles: tests.every(({ needles }) => needles.length > 0) ? tests.flatMap(({ needles }) => needles) : [],
    mismatch: tests.map(({ mismatch }) => mismatch).join(' and '),
  }
}
