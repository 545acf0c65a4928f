/** Conditions on texts: a part of it, a regular expression, the whole of it, or one of several. */
import { found } from './expression.js'
import { requiredLiterals } from './literals.js'

/** What an author may write: a part, `/a regular expression/flags`, or more said about which. */
export type TextCondition =
  | string
  | { readonly exact: string }
  | { readonly contains: string }
  | readonly TextCondition[]

/** A condition on a text made ready. */
export interface TextTest {
  holds(text: string): boolean
  /** What the first regular expression found, where there is one. */
  exec(text: string): RegExpExecArray | null
  /** Texts, at least one of which is part of every text for which it holds; none where that is not known. */
  readonly needles: readonly string[]
  /** Why it does not hold, as the rest of a sentence: `does not contain "weather"`. */
  readonly differs: string
}

const regularExpression = /^\/(.+)\/([a-z]*)$/is

/** The regular expression that a text is, if it is one. Throws a SyntaxError for one that is not valid. */
export function expressionIn(written: string): RegExp | undefined {
  const [, source, flags] = regularExpression.exec(written) ?? []
  if (source === undefined) return undefined
  // With g or y an expression remembers where it stopped, and the same text would match only every other time.
  return new RegExp(source, flags?.replace(/[gy]/g, ''))
}

/** Makes a test from what the author wrote. Throws a SyntaxError for a bad regular expression. */
export function textTest(written: TextCondition): TextTest {
  if (typeof written === 'string') {
    const expression = expressionIn(written)
    return expression ? matching(expression) : containing(written)
  }
  if ('exact' in written) return equal(written.exact)
  if ('contains' in written) return containing(written.contains)
  return oneOf(written.map(textTest))
}

const containing = (part: string): TextTest => ({
  holds: text => text.includes(part),
  exec: () => null,
  needles: [part],
  differs: `does not contain ${JSON.stringify(part)}`,
})

const equal = (whole: string): TextTest => ({
  holds: text => text === whole,
  exec: () => null,
  needles: [whole],
  differs: `is not ${JSON.stringify(whole)}`,
})

const matching = (expression: RegExp): TextTest => ({
  holds: text => found(expression, text) !== null,
  exec: text => found(expression, text),
  needles: requiredLiterals(expression),
  differs: `does not match ${expression}`,
})

function oneOf(tests: readonly TextTest[]): TextTest {
  return {
    holds: text => tests.some(test => test.holds(text)),
    exec(text) {
      for (const test of tests) {
        const found = test.exec(text)
        if (found) return found
      }
      return null
    },
    // One that says nothing of itself leaves nothing to be said of the whole.
    needles: tests.every(({ needles }) => needles.length > 0) ? tests.flatMap(({ needles }) => needles) : [],
    differs: tests.map(({ differs }) => differs).join(' and '),
  }
}
