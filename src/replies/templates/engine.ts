/** Configures Liquid with only those tags and filters that neither read files, nor evaluate values, nor run forever. */
import { type Context, Drop, ForTag, filters, Liquid, type Template, toValue } from 'liquidjs'
import { stringifyExact } from '../../core/json.js'

/** How many characters and elements one rendering may make. */
const MOST_MADE = 32_000_000
/** How often one rendering may go through loops. */
const MOST_ROUNDS = 100_000

/** Why a rendering was stopped: Liquid's message, and ours. */
export const stopReasons: Readonly<Record<string, string>> = {
  'memory alloc limit exceeded': `it makes more than ${MOST_MADE.toLocaleString('en-US')} characters or elements`,
}

const tags = ['if', 'unless', 'case', 'for', 'break', 'continue', 'assign', 'capture', 'raw', 'comment', '#']

/** Filters that work on text. They get objects and arrays as JSON. */
const onText = `append prepend capitalize downcase upcase strip lstrip rstrip squish strip_newlines strip_html
  newline_to_br escape escape_once remove remove_first remove_last replace replace_first replace_last split truncate
  truncatewords number_of_words slugify url_encode url_decode base64_encode base64_decode`.split(/\s+/)

/**
 * Filters that work on values. Filters that take an expression as text, that wait, or that use randomness are left out.
 */
const onValues = 'compact concat default first last map reverse size slice sort sort_natural sum uniq'.split(' ')

/** Filters that calculate. Liquid cannot calculate with BigInts, so they get numbers. */
const onNumbers = 'abs at_least at_most ceil date divided_by floor minus modulo plus round times'.split(' ')

/** Filters whose first argument is a path. */
const onPaths = ['where', 'reject', 'find']

/** The object on which Liquid calls a filter. */
interface Call {
  readonly context: Context
}
type Handler = (this: Call, value: unknown, ...rest: unknown[]) => unknown

const rounds = new WeakMap<Context, number>()

function countRound(context: Context): void {
  const count = (rounds.get(context) ?? 0) + 1
  rounds.set(context, count)
  if (count > MOST_ROUNDS)
    throw new Error(`it goes through loops more than ${MOST_ROUNDS.toLocaleString('en-US')} times`)
}

/** Liquid's loop, which counts its rounds: those without output would never reach another limit. */
class CountedFor extends ForTag {
  constructor(...given: ConstructorParameters<typeof ForTag>) {
    super(...given)
    const round = { token: this.token, render: countRound }
    this.templates.unshift(round as unknown as Template)
  }
}

/** A value as text: missing ones are empty, objects and arrays are JSON. */
export function textOfValue(written: unknown): string {
  const value: unknown = toValue(written) ?? ''
  return typeof value === 'object' ? stringifyExact(value) : String(value)
}

/** With `keepTypes`, an output is the value of its expression; otherwise its text. */
export function createEngine({ keepTypes }: { keepTypes: boolean }): Liquid {
  const liquid = new Liquid({
    // No files are read, whatever a tag asks for.
    templates: {},
    strictFilters: true,
    ownPropertyOnly: true,
    // The same on every machine.
    locale: 'en-US',
    timezoneOffset: 0,
    preserveTimezones: true,
    memoryLimit: MOST_MADE,
    ...(!keepTypes && { outputEscape: output as (value: unknown) => string }),
  })
  for (const name of Object.keys(liquid.tags)) if (!tags.includes(name)) delete liquid.tags[name]
  for (const name of Object.keys(liquid.filters)) liquid.unregisterFilter(name)
  for (const name of onText) liquid.registerFilter(name, takingText(handlerOf(name)))
  for (const name of onValues) liquid.registerFilter(name, handlerOf(name))
  for (const name of onNumbers) liquid.registerFilter(name, takingNumbers(handlerOf(name)))
  for (const name of onPaths) liquid.registerFilter(name, takingPath(handlerOf(name)))
  liquid.registerFilter('json', json)
  liquid.registerFilter('join', join)
  liquid.registerTag('for', CountedFor)
  return liquid
}

const handlerOf = (name: string) => filters[name] as Handler

/** Writes a value. The size is counted, since texts that contain each other twice grow faster than any time limit. */
function output(this: Call, value: unknown): string {
  const text = textOfValue(value)
  this.context.memoryLimit.use(text.length)
  return text
}

const isData = (value: unknown) => typeof value === 'object' && value !== null && !(value instanceof Drop)

const takingText = (filter: Handler): Handler =>
  function (...values) {
    const text = filter.apply(this, values.map(value => (isData(value) ? json.call(this, value) : value)) as [unknown])
    // A filter turns a missing value into a missing value, so that its key is left out.
    return text === '' && toValue(values[0]) === undefined ? undefined : text
  }

const takingNumbers = (filter: Handler): Handler =>
  function (...values) {
    return filter.apply(this, values.map(value => (typeof value === 'bigint' ? Number(value) : value)) as [unknown])
  }

// Liquid parses the path as an expression of its own, which must not come from a prompt.
const takingPath = (filter: Handler): Handler =>
  function (list, path, ...rest) {
    if (typeof path !== 'string' || !/^[\w.-]+$/.test(path)) throw new Error('a property is a name, such as "role"')
    return filter.call(this, list, path, ...rest)
  }

/** Unlike Liquid's filter, it writes a missing value as null, so that the result stays valid JSON. */
const json: Handler = function (value, space) {
  const text = stringifyExact(toValue(value) ?? null, Number(space ?? 0))
  this.context.memoryLimit.use(text.length)
  return text
}

const join: Handler = function (list, ...separator) {
  return handlerOf('join').call(this, Array.isArray(list) ? list.map(textOfValue) : textOfValue(list), ...separator)
}
