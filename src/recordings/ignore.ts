/** Decides what is ignored when requests are compared: fields, parameters, and matches of regular expressions. */
import { isObject } from '../core/json.js'
import { percentDecoded } from '../core/paths.js'
import type { Parameter } from './canonical.js'

/** As written in the configuration: a path, a regular expression between slashes, or either with a keyword in front. */
export type IgnoreOption =
  | string
  | { readonly path?: string | undefined; readonly query?: string | undefined; readonly pattern?: string | undefined }

/** Removes the ignored parts of a request. */
export type Ignore = ReturnType<typeof ignoreFrom>

/** An ignored field: all of its value, or the matches of `pattern`. */
interface LeftField {
  /** The path to it: names, numbers, `*` for any one step, `**` for any number of steps. */
  readonly steps: readonly string[]
  readonly pattern: RegExp | undefined
}

/** `options` must be valid. The configuration has checked them. */
export function ignoreFrom(options: readonly IgnoreOption[]) {
  const patterns: RegExp[] = []
  const parameters: { readonly name: string; readonly pattern: RegExp | undefined }[] = []
  const fields: LeftField[] = []
  for (const option of options.map(inWords)) {
    const pattern = option.pattern === undefined ? undefined : expressionIn(option.pattern)
    if (option.path !== undefined) fields.push({ steps: stepsOf(option.path), pattern })
    if (option.query !== undefined) parameters.push({ name: option.query, pattern })
    if (pattern && option.path === undefined && option.query === undefined) patterns.push(pattern)
  }
  const everywhere = (text: string) => patterns.reduce(without, text)

  return {
    inText: everywhere,
    /** If an expression may match, the values are returned decoded: they are only used for comparison. */
    inQuery: (asked: readonly Parameter[]) =>
      asked.flatMap(([name, written]): Parameter[] => {
        const here = parameters.filter(parameter => parameter.name === percentDecoded(name))
        if (here.some(({ pattern }) => !pattern)) return []
        const fitting = [...here.map(({ pattern }) => pattern), ...patterns]
        if (written === undefined || fitting.length === 0) return [[name, written]]
        // The one character that would split the parameter in two.
        return [[name, fitting.reduce(without, percentDecoded(written)).replaceAll('&', '%26')]]
      }),
    inJson(value: unknown): unknown {
      const open = fields.length === 0 ? value : withoutFields(value, fields)
      return patterns.length === 0 ? open : withTexts(open, everywhere)
    },
  }
}

const inWords = (option: IgnoreOption) => {
  if (typeof option !== 'string') return option
  return option.startsWith('/') ? { pattern: option } : { path: option }
}

/** Always global, so that every match is removed. */
function expressionIn(written: string): RegExp {
  const end = written.lastIndexOf('/')
  return new RegExp(written.slice(1, end), `${written.slice(end + 1).replace(/[gy]/g, '')}g`)
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

/** Returns a copy of `value` without the fields that `below` leads to. */
function withoutFields(value: unknown, below: readonly LeftField[]): unknown {
  if (below.length === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item, i) => {
      const inside = below.flatMap(field => after(field, [`${i}`, `${i - value.length}`]))
      return left(item, inside)
    })
    return items.filter(item => item !== nothing)
  }
  const fields = Object.entries(value).map(([key, item]) => {
    const inside = below.flatMap(field => after(field, [key]))
    return [key, left(item, inside)] as const
  })
  return Object.fromEntries(fields.filter(([, item]) => item !== nothing))
}

/** What remains of a value that the fields lead to or through. */
function left(value: unknown, fields: readonly LeftField[]): unknown {
  const here = fields.filter(({ steps }) => steps.every(step => step === '**'))
  if (here.some(({ pattern }) => !pattern)) return nothing
  const open = withoutFields(value, fields)
  return here.reduce((rest, { pattern }) => withTexts(rest, text => without(text, pattern)), open)
}

/** The remaining steps after going down one of these names. */
function after({ steps: [step, ...rest], pattern }: LeftField, names: readonly string[]): readonly LeftField[] {
  if (step === undefined) return []
  if (step === '**') return [{ steps: ['**', ...rest], pattern }, ...after({ steps: rest, pattern }, names)]
  return step === '*' || names.includes(step) ? [{ steps: rest, pattern }] : []
}

function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => withTexts(item, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, change)]))
}
