/** Regular expressions that users write, as `/source/flags`, and whether they can be used. */
import type { Path } from './check.js'

/** A longer expression is not repeated in messages. */
const LONGEST_SHOWN = 200

/** Creates an expression. Throws a SyntaxError if it is invalid or too large, which V8 says only when it is first used. */
export function compiled(source: string, flags = ''): RegExp {
  try {
    const expression = new RegExp(source, flags)
    expression.test('')
    return expression
  } catch (error) {
    if (!(error instanceof SyntaxError) || source.length <= LONGEST_SHOWN) throw error
    throw new SyntaxError(error.message.replace(source, `${source.slice(0, LONGEST_SHOWN)}…`))
  }
}

/** Whether a text can be used as an expression. */
export function isUsable(source: string, flags = ''): boolean {
  try {
    return compiled(source, flags) instanceof RegExp
  } catch {
    return false
  }
}

/** Parses `/a regular expression/flags`; `undefined` for any other text. Throws a SyntaxError if it cannot be used. */
export function expressionIn(written: string): RegExp | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/is.exec(written) ?? []
  if (source === undefined) return undefined
  // With the flags g or y an expression remembers its position, and would match the same text only every other time.
  return compiled(source, flags?.replace(/[gy]/g, ''))
}

interface Found {
  readonly at: Path
  readonly sentence: string
}

/** A warning for each `/expression/` in a valid value whose matching may take forever. `at` is the path to the value. */
export async function endlessExpressions(value: unknown, at: Path): Promise<readonly Found[]> {
  const all = [...expressionsBelow(value, at)]
  if (all.length === 0) return []
  const { mayTakeForever } = await import('./endless.js')
  return all.flatMap(({ at, expression }) => (mayTakeForever(expression) ? [{ at, sentence: MAY_TAKE_FOREVER }] : []))
}

function* expressionsBelow(value: unknown, at: Path): Generator<{ readonly at: Path; readonly expression: RegExp }> {
  const expression = typeof value === 'string' ? tryExpression(value) : undefined
  if (expression) yield { at, expression }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inside] of Object.entries(value))
    yield* expressionsBelow(inside, [...at, Array.isArray(value) ? Number(key) : key])
}

const MAY_TAKE_FOREVER =
  'Matching may take forever: the expression repeats something that repeats itself, as (a+)+ does.'

/** Whether a text is a valid `/expression/`. */
export const isExpression = (written: string): boolean => tryExpression(written) !== undefined

/** A text that is meant literally need not be valid. */
function tryExpression(written: string): RegExp | undefined {
  try {
    return expressionIn(written)
  } catch {
    return undefined
  }
}
