/** What `recordings.ignore` leaves out when requests are compared. */
import { expressionIn } from '../check/expressions.js'
import { isObject } from '../core/json.js'
import { percentDecoded } from '../core/paths.js'
import { DEEPEST_COMPARED, type Parameter } from './canonical.js'
import {
  ignoredNames,
  isFixedField,
  isIgnoredName,
  mayBeTime,
  nothingSpared,
  TIME,
  withoutNamed,
} from './ignored-names.js'

/** As written in the configuration: a path, a name, a regular expression between slashes, or an object with some of these. */
export type IgnoreOption =
  | string
  | { readonly path?: string | undefined; readonly query?: string | undefined; readonly pattern?: string | undefined }

/** What tools said: the results in the messages of a chat. */
export const TOOL_RESULTS = 'toolResults'

export interface Ignore {
  readonly isAny: boolean
  /** The same without ignoring what tools said; `undefined` if that counts anyway. */
  readonly withToolResults: Ignore | undefined
  readonly and: (more: readonly IgnoreOption[]) => Ignore
  readonly inText: Erase
  /** If a pattern applies, the values are returned decoded, since they are only compared. */
  readonly inQuery: (parameters: readonly Parameter[]) => readonly Parameter[]
  /** `change` is applied to what the paths leave, before texts are changed. */
  readonly inJson: (value: unknown, change?: (remainder: unknown) => unknown) => unknown
  /** The field of a form, whose name is a path (`user[name]`); `undefined` if it is ignored. */
  readonly inField: (name: string, value: string) => string | undefined
}

/** Returns what remains of a text. */
type Erase = (text: string) => string

/** An ignored field: all of its value, or what `erase` removes. */
interface IgnoredField {
  /** The path to it: names, numbers, `*` for any one step, `**` for any number of steps. */
  readonly steps: readonly string[]
  readonly erase: Erase | undefined
}

/** `options` must be valid. The configuration has checked them. */
export function ignoreFrom(options: readonly IgnoreOption[]): Ignore {
  const others = options.filter(option => option !== TOOL_RESULTS)
  if (others.length === options.length) return ignoreTexts(options)
  const withToolResults = ignoreTexts(others)
  return {
    ...withToolResults,
    isAny: true,
    withToolResults,
    and: more => ignoreFrom([...options, ...more]),
    inJson: (value, change) => withToolResults.inJson(withoutToolResults(value), change),
  }
}

/** The contents of results: of chat completions, of Anthropic's messages, and of OpenAI's responses. */
function withoutToolResults(body: unknown): unknown {
  if (!isObject(body)) return body
  const emptied = (item: unknown): unknown => {
    if (!isObject(item)) return item
    const { content, output: _output, ...others } = item
    if (item.role === 'tool' || item.role === 'function' || item.type === 'tool_result') return others
    if (typeof item.type === 'string' && item.type.endsWith('_output')) return others
    return Array.isArray(content) ? { ...item, content: content.map(emptied) } : item
  }
  const changed = ['messages', 'input'].filter(name => Array.isArray(body[name]))
  return { ...body, ...Object.fromEntries(changed.map(name => [name, (body[name] as unknown[]).map(emptied)])) }
}

/** Fields, parameters, and patterns that apply to all texts. */
function ignoredBy(options: readonly IgnoreOption[]) {
  const fields: IgnoredField[] = []
  const parameters: { readonly name: string; readonly erase: Erase | undefined }[] = []
  const anywhere: string[] = []
  for (const { path, query, pattern } of options.map(asObject)) {
    const erase = pattern === undefined ? undefined : eraserOf(pattern)
    if (path !== undefined) fields.push({ steps: stepsOf(path), erase })
    if (query !== undefined) parameters.push({ name: query, erase })
    if (pattern !== undefined && path === undefined && query === undefined) anywhere.push(pattern)
  }
  return { fields, parameters, anywhere }
}

function ignoreTexts(options: readonly IgnoreOption[]): Ignore {
  const { fields, parameters, anywhere } = ignoredBy(options)
  const names = ignoredNames.filter(name => anywhere.includes(name))
  const expressions = anywhere.filter(pattern => !isIgnoredName(pattern)).map(eraserOf)

  function remainderIn(text: string, field = '', spared = nothingSpared): string {
    const unnamed = isFixedField(field) ? text : names.reduce((rest, name) => withoutNamed[name](rest, spared), text)
    return expressions.reduce((rest, erase) => erase(rest), unnamed)
  }

  const inJson: Ignore['inJson'] = (value, change = left => left) => {
    const remainder = change(withoutIgnored(value, fields))
    if (anywhere.length === 0) return remainder
    const spared = names.includes('ids') ? wordsOfTools(remainder) : nothingSpared
    return withTexts(remainder, (text, field) => remainderIn(text, field, spared))
  }

  return {
    isAny: options.length > 0,
    withToolResults: undefined,
    and: more => ignoreFrom([...options, ...more]),
    inText: text => remainderIn(text),
    inQuery: all =>
      all.flatMap(([name, value]): Parameter[] => {
        const matching = parameters.filter(parameter => parameter.name === percentDecoded(name))
        if (matching.some(({ erase }) => !erase)) return []
        if (value === undefined || matching.length + anywhere.length === 0) return [[name, value]]
        const text = matching.reduce((rest, { erase }) => erase?.(rest) ?? rest, percentDecoded(value))
        // A decoded & would split the parameter in two.
        return [[name, remainderIn(text, percentDecoded(name)).replaceAll('&', '%26')]]
      }),
    inJson,
    inField(name, value) {
      const steps = stepsOf(name).slice(0, DEEPEST_COMPARED)
      const nested = steps.reduceRight<unknown>((inner, step) => Object.fromEntries([[step, inner]]), value)
      return steps.reduce(inside, inJson(nested)) as string | undefined
    },
  }
}

const inside = (outer: unknown, step: string) =>
  isObject(outer) && Object.hasOwn(outer, step) ? outer[step] : undefined

/** The names of tools, and the keys of their schemas, which may look like ids wherever they are mentioned. */
function wordsOfTools(body: unknown): ReadonlySet<string> {
  const words = new Set<string>()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (!isObject(value)) return
    for (const [key, item] of Object.entries(value)) {
      words.add(key)
      if (key === 'name' && typeof item === 'string') words.add(item)
      else visit(item)
    }
  }
  if (isObject(body)) for (const name of ['tools', 'functions', 'response_format', 'params']) visit(body[name])
  return words
}

const asObject = (option: IgnoreOption) => {
  if (typeof option !== 'string') return option
  return option.startsWith('/') || isIgnoredName(option) ? { pattern: option } : { path: option }
}

/** The function that removes what has the name, or matches the expression. */
function eraserOf(pattern: string): Erase {
  if (isIgnoredName(pattern)) return text => withoutNamed[pattern](text)
  const expression = expressionIn(pattern)
  if (!expression) return text => text
  const all = new RegExp(expression, `${expression.flags}g`)
  return text => text.replaceAll(all, '')
}

/** Splits `$.messages[*].name` into steps. */
const stepsOf = (path: string): readonly string[] =>
  path
    .replace(/^\$\.?/, '')
    .split(/[.[\]]+/)
    .filter(step => step !== '')
    .map(step => step.replace(/^(['"])(.*)\1$/, '$2'))
    .filter((step, i, steps) => step !== '**' || steps[i - 1] !== '**')

const removed = Symbol()

/** Returns a copy of `value` without the fields below it. */
function withoutIgnored(value: unknown, fields: readonly IgnoredField[]): unknown {
  if (fields.length === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item, i) => {
      const inside = fields.flatMap(field => stepInto(field, [`${i}`, `${i - value.length}`]))
      return remainderOf(item, inside)
    })
    return items.filter(item => item !== removed)
  }
  const entries = Object.entries(value).map(([key, item]) => {
    const inside = fields.flatMap(field => stepInto(field, [key]))
    return [key, remainderOf(item, inside)] as const
  })
  return Object.fromEntries(entries.filter(([, item]) => item !== removed))
}

/** Returns what remains of a value if the paths of `fields` lead to it or through it; `nothing` if it is removed. */
function remainderOf(value: unknown, fields: readonly IgnoredField[]): unknown {
  const matching = fields.filter(({ steps }) => steps.every(step => step === '**'))
  if (matching.some(({ erase }) => !erase)) return removed
  const remainder = withoutIgnored(value, fields)
  return matching.reduce((rest, { erase }) => (erase ? withTexts(rest, erase) : rest), remainder)
}

/** Returns the field as seen from one of these names; nothing if its path does not lead there. */
function stepInto({ steps: [step, ...rest], erase }: IgnoredField, names: readonly string[]): readonly IgnoredField[] {
  if (step === undefined) return []
  if (step === '**') return [{ steps: ['**', ...rest], erase }, ...stepInto({ steps: rest, erase }, names)]
  return step === '*' || names.includes(step) ? [{ steps: rest, erase }] : []
}

/** Changes the texts in a value. `field` is the name of the field that has it. */
function withTexts(value: unknown, change: (text: string, field: string) => string, field = ''): unknown {
  if (typeof value === 'string') return change(value, field)
  // Times are also written as numbers. All other numbers stay as they are.
  if (typeof value === 'number' && mayBeTime(value)) return change(String(value), field) === TIME ? TIME : value
  if (Array.isArray(value)) return value.map(item => withTexts(item, change, field))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, change, key)]))
}
