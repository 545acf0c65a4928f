/** Decides what is ignored when requests are compared: fields, parameters, and matches of regular expressions. */
import { isObject } from '../core/json.js'
import { percentDecoded } from '../core/paths.js'
import type { Parameter } from './canonical.js'

/** As written in the configuration: a path, a regular expression between slashes, or an object that names them. */
export type IgnoreOption =
  | string
  | { readonly path?: string | undefined; readonly query?: string | undefined; readonly pattern?: string | undefined }

/** Removes the ignored parts of a request. */
export type Ignore = ReturnType<typeof ignoreFrom>

/** An ignored field: all of its value, or the matches of `pattern`. */
interface IgnoredField {
  /** The path to it: names, numbers, `*` for any one step, `**` for any number of steps. */
  readonly steps: readonly string[]
  readonly pattern: RegExp | undefined
}

/** `options` must be valid. The configuration has checked them. */
export function ignoreFrom(options: readonly IgnoreOption[]) {
  const patterns: RegExp[] = []
  const ignoredParameters: { readonly name: string; readonly pattern: RegExp | undefined }[] = []
  const fields: IgnoredField[] = []
  for (const option of options.map(asObject)) {
    const pattern = option.pattern === undefined ? undefined : expressionIn(option.pattern)
    if (option.path !== undefined) fields.push({ steps: stepsOf(option.path), pattern })
    if (option.query !== undefined) ignoredParameters.push({ name: option.query, pattern })
    if (pattern && option.path === undefined && option.query === undefined) patterns.push(pattern)
  }
  const withoutPatterns = (text: string) => patterns.reduce(without, text)

  return {
    inText: withoutPatterns,
    /** If an expression applies, the values are returned decoded, since they are only compared. */
    inQuery: (parameters: readonly Parameter[]) =>
      parameters.flatMap(([name, value]): Parameter[] => {
        const matching = ignoredParameters.filter(parameter => parameter.name === percentDecoded(name))
        if (matching.some(({ pattern }) => !pattern)) return []
        const expressions = [...matching.map(({ pattern }) => pattern), ...patterns]
        if (value === undefined || expressions.length === 0) return [[name, value]]
        // A decoded & would split the parameter in two.
        return [[name, expressions.reduce(without, percentDecoded(value)).replaceAll('&', '%26')]]
      }),
    inJson(value: unknown): unknown {
      const remainder = fields.length === 0 ? value : withoutFields(value, fields)
      return patterns.length === 0 ? remainder : withTexts(remainder, withoutPatterns)
    },
  }
}

const asObject = (option: IgnoreOption) => {
  if (typeof option !== 'string') return option
  return option.startsWith('/') ? { pattern: option } : { path: option }
}

/** Always global, so that every match is removed. */
function expressionIn(source: string): RegExp {
  const end = source.lastIndexOf('/')
  return new RegExp(source.slice(1, end), `${source.slice(end + 1).replace(/[gy]/g, '')}g`)
}

const without = (text: string, pattern: RegExp | undefined) => (pattern ? text.replace(pattern, '') : text)

/** Splits `$.messages[*].name` into steps. */
const stepsOf = (path: string): readonly string[] =>
  path
    .replace(/^\$\.?/, '')
    .split(/[.[\]]+/)
    .filter(step => step !== '')
    .map(step => step.replace(/^(['"])(.*)\1$/, '$2'))
    .filter((step, i, steps) => step !== '**' || steps[i - 1] !== '**')

const nothing = Symbol()

/** Returns a copy of `value` without the fields below it. */
function withoutFields(value: unknown, fields: readonly IgnoredField[]): unknown {
  if (fields.length === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item, i) => {
      const inside = fields.flatMap(field => stepInto(field, [`${i}`, `${i - value.length}`]))
      return remainderOf(item, inside)
    })
    return items.filter(item => item !== nothing)
  }
  const entries = Object.entries(value).map(([key, item]) => {
    const inside = fields.flatMap(field => stepInto(field, [key]))
    return [key, remainderOf(item, inside)] as const
  })
  return Object.fromEntries(entries.filter(([, item]) => item !== nothing))
}

/** Returns what remains of a value if the paths of `fields` lead to it or through it; `nothing` if it is removed. */
function remainderOf(value: unknown, fields: readonly IgnoredField[]): unknown {
  const matching = fields.filter(({ steps }) => steps.every(step => step === '**'))
  if (matching.some(({ pattern }) => !pattern)) return nothing
  const remainder = withoutFields(value, fields)
  return matching.reduce((rest, { pattern }) => withTexts(rest, text => without(text, pattern)), remainder)
}

/** Returns the field as seen from one of these names; nothing if its path does not lead there. */
function stepInto(
  { steps: [step, ...rest], pattern }: IgnoredField,
  names: readonly string[],
): readonly IgnoredField[] {
  if (step === undefined) return []
  if (step === '**') return [{ steps: ['**', ...rest], pattern }, ...stepInto({ steps: rest, pattern }, names)]
  return step === '*' || names.includes(step) ? [{ steps: rest, pattern }] : []
}

function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => withTexts(item, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, change)]))
}
