/** Validates values against forms and describes mistakes in sentences, for requests, options and rules alike. */
import * as v from 'valibot'

export type Path = readonly (string | number)[]

/** A mistake: its path, and the rest of a sentence that begins with the path. */
export interface Mistake {
  readonly path: Path
  readonly sentence: string
}

type Schema = v.GenericSchema<unknown, unknown>

export interface CheckOptions {
  /** Stop at the first mistake. */
  readonly firstOnly?: boolean
  /** The name of the whole value in sentences. */
  readonly whole?: string
  /** Whether the value at a path must not be quoted in a sentence. */
  readonly secret?: (path: Path) => boolean
  /** Whether the value is from YAML, where a string that looks like a number needs quotes. */
  readonly isYaml?: boolean
}

/**
 * Validates `value`. Returns it typed, with defaults filled in, or all of its mistakes. A schema's own message is the
 * expectation: `v.number('a number')` becomes "temperature must be a number, not "hot"".
 */
export function check<S extends Schema>(
  schema: S,
  value: unknown,
  { firstOnly = false, whole = 'it', secret = () => false, isYaml = false }: CheckOptions = {},
): { readonly value: v.InferOutput<S> } | { readonly mistakes: readonly Mistake[] } {
  const result = v.safeParse(schema, value, { abortEarly: firstOnly, abortPipeEarly: true })
  if (result.success) return { value: result.output }
  return { mistakes: result.issues.map(issue => mistakeOf(issue, { whole, secret, isYaml })) }
}

function mistakeOf(
  issue: v.BaseIssue<unknown>,
  { whole, secret, isYaml }: Required<Pick<CheckOptions, 'whole' | 'secret' | 'isYaml'>>,
): Mistake {
  const { issue: innermost, path } = deepest(issue, [])
  const advice = isYaml && isUnquoted(innermost) ? ' Put it in quotes.' : ''
  return { path, sentence: `${pathInWords(path) || whole} ${predicate(innermost, secret(path))}${advice}` }
}

/** Whether it must be a string, and would be one in quotes. */
const isUnquoted = ({ type, input }: v.BaseIssue<unknown>) =>
  type === 'string' && ['number', 'bigint', 'boolean'].includes(typeof input)

/** In a union, the alternative that got furthest is probably the intended one. */
function deepest(issue: v.BaseIssue<unknown>, above: Path): { issue: v.BaseIssue<unknown>; path: Path } {
  const path = [...above, ...(issue.path ?? []).map(item => item.key as string | number)]
  const inner = issue.issues?.filter(i => i.path).map(i => deepest(i, path)) ?? []
  return inner.reduce((best, candidate) => (candidate.path.length > best.path.length ? candidate : best), {
    issue,
    path,
  })
}

function predicate({ type, message, input, received }: v.BaseIssue<unknown>, secret: boolean): string {
  // Some messages are whole predicates, such as that of `closed` about an unknown key.
  if (/^(is|has|must) /.test(message)) return message
  if (received === 'undefined') return isMissing(message)
  // Our own checks concern the contents of an object or array, which are not quoted.
  const isInside = type === 'check' && typeof input === 'object'
  return secret || isInside ? `${mustBe(message)}.` : `${mustBe(message, input)}.`
}

/** The rest of a sentence about a wrong value. Leave the value out if it must not be quoted. */
export const mustBe = (expectation: string, ...value: readonly [unknown?]) =>
  value.length === 0 ? `must be ${expectation}` : `must be ${expectation}, not ${valueInWords(value[0])}`

/** The rest of a sentence about a missing value. */
export const isMissing = (expectation: string) => `is missing. It must be ${expectation}.`

/** The expectation of a number, both ends included. `what` names it with its unit. */
export const range = (what: string, least: number, most = Number.POSITIVE_INFINITY) =>
  `${what} from ${least}${most < Number.POSITIVE_INFINITY ? ` to ${most}` : ''}`

export const oneOfWords = (words: readonly string[]) => `one of ${words.join(', ')}`

export const AN_OBJECT = 'an object'

/** Returns the value at `path` below `from`; `undefined` if there is none. */
export function valueAt(from: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | undefined)?.[key], from)
}

const LONGEST_SHOWN = 60

/** For example `messages[1].role`; empty for the whole value. */
export function pathInWords(path: Path): string {
  return path.reduce<string>((sum, step) => {
    if (typeof step === 'number') return `${sum}[${step}]`
    const key = step.length > LONGEST_SHOWN ? `${step.slice(0, LONGEST_SHOWN)}…` : step
    if (!/^[\w$-]+$/.test(key)) return `${sum}[${JSON.stringify(key)}]`
    return sum === '' ? key : `${sum}.${key}`
  }, '')
}

/** A value in readable, shortened form. */
export function valueInWords(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  // A URL may contain a password.
  const text = (JSON.stringify(value) ?? String(value)).replace(/\/\/[^/@\s]*@/, '//…@')
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

/**
 * The settings in `text`, checked by `schema`, or a sentence about the first mistake. Numbers, `true` and `false` are read as such,
 * quoted text is text, semicolons included, and a name alone is true.
 */
export function settingsIn<S extends v.GenericSchema<unknown, unknown>>(
  text: string,
  schema: S,
): { readonly value: v.InferOutput<S> } | { readonly sentence: string } {
  const settings: Record<string, unknown> = Object.create(null)
  for (const part of text.match(settingPattern) ?? []) {
    const equalsAt = part.indexOf('=')
    const name = (equalsAt < 0 ? part : part.slice(0, equalsAt)).trim()
    if (part.trim() === '') continue
    if (name in settings) return { sentence: `${name} is given twice.` }
    settings[name] = equalsAt < 0 ? true : read(part.slice(equalsAt + 1).trim())
  }
  const checked = check(schema, { ...settings }, { firstOnly: true })
  return 'value' in checked ? checked : { sentence: checked.mistakes[0]?.sentence ?? '' }
}

/** A part between semicolons. Semicolons in quotes do not end it. */
const settingPattern = /(?:=\s*"[^"]*"|[^;])+/g

function read(text: string): unknown {
  if (/^"[^"]*"$/.test(text)) return text.slice(1, -1)
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
