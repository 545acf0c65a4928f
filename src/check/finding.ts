/** Findings: what deviates from the contract or from a recording; and a miss in words. */
import * as v from 'valibot'
import { closed, text, wholeNumber, word } from './forms.js'

/** From least to most severe. */
const severities = ['info', 'warning', 'critical'] as const
/** `critical` breaks clients, `warning` may, and `info` is worth knowing. */
export type Severity = (typeof severities)[number]

/** Whether platform-api.md says so, or only other platforms do and Standin has decided it. */
const contractSources = ['documented', 'decided'] as const

export interface Finding {
  readonly severity: Severity
  /**
   * The field, such as `choices[0].message`; empty for the whole answer; a name such as `status` or `content-type` for
   * things outside of the body.
   */
  readonly path: string
  /** What is wrong. Quotes nothing from the answer. */
  readonly sentence: string
}

/** A finding about one answer, according to the contract. */
export const violation = Object.assign(
  closed({
    path: text,
    sentence: text,
    severity: word(severities),
    source: word(contractSources),
    /** The section of platform-api.md. */
    section: v.exactOptional(text),
  }),
  { named: 'Violation' },
)
export type Violation = Readonly<v.InferOutput<typeof violation>>

const difference = closed({
  /** For example `messages[0].content` or `query.limit`. */
  field: text,
  /** As JSON; missing if the field is absent. */
  recorded: v.optional(text),
  asked: v.optional(text),
  /** How many tokens the prompt has more, or fewer, because of it. */
  tokens: v.optional(v.number('a number')),
})
export type Difference = Readonly<v.InferOutput<typeof difference>>

export const closestRecording = closed({
  file: text,
  differences: v.array(difference),
  /** If the request would match with further entries of `recordings.ignore`: those. */
  ignore: v.optional(v.array(v.union([text, closed({ query: text })]))),
  /** Whether the conversation is the same: only instructions, tools or parameters differ. */
  sameConversation: v.optional(v.boolean('true or false')),
})
/** The recording that is most similar to a request, and the differences. */
export interface ClosestRecording {
  readonly file: string
  readonly differences: readonly Difference[]
  readonly sameConversation?: boolean | undefined
  readonly ignore?: Ignorable | undefined
}
type Ignorable = readonly (string | { readonly query: string })[]

/** Most severe first. */
export const fromWorst = <F extends { readonly severity: Severity }>(findings: readonly F[]): readonly F[] =>
  findings.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))

/** The number of violations by source. */
export const violationCounts = closed({
  documented: wholeNumber,
  decided: wholeNumber,
  /** Answers that were not checked for lack of time. */
  unjudged: wholeNumber,
})
export type ViolationCounts = Readonly<v.InferOutput<typeof violationCounts>>

/** An exchange whose answer violates the contract. */
export const violating = closed({
  id: text,
  method: text,
  endpoint: v.nullable(text),
  status: wholeNumber,
  mode: text,
  violations: v.array(violation),
})
export type EndpointViolations = Readonly<Omit<v.InferOutput<typeof violating>, 'violations'>> & {
  readonly violations: readonly Violation[]
}

/** A request without a recording, or one that was answered from the nearest. */
export interface Missed {
  /** The test that sent it, if it is known: its scope, or a longer name. */
  readonly scope: string
  readonly test?: string | undefined
  readonly method: string
  readonly path: string
  readonly reason: string
  readonly nearest?: ClosestRecording | undefined
}

/** How texts are shown, with control characters made harmless. */
export interface Paint {
  readonly title: (text: string) => string
  readonly faint: (text: string) => string
  readonly advice: (text: string) => string
  readonly harmless: (text: string) => string
}

/** `Only a date differs. Add to platform.config.yaml: recordings.ignore: [dates]` */
export function ignoreAdvice(ignore: Ignorable): string {
  const subjects = ignore.map(one => (typeof one === 'string' ? (nouns[one] ?? one) : `query.${one.query}`))
  const subject = subjects.join(', ').replace(/, ([^,]*)$/, ' and $1')
  const entries = ignore.map(one => (typeof one === 'string' ? inYaml(one) : `{ query: ${inYaml(one.query)} }`))
  const verb = subjects.length === 1 ? 'differs' : 'differ'
  return `Only ${subject} ${verb}. Add to platform.config.yaml: recordings.ignore: [${entries.join(', ')}]`
}

const nouns: Readonly<Record<string, string>> = {
  ...{ dates: 'a date', times: 'a time', uuids: 'a UUID', ids: 'an id' },
  ...{ paths: 'a path', toolResults: 'what a tool said' },
}

const inYaml = (text: string) => (/^[a-z$_][\w.$-]*$/i.test(text) ? text : JSON.stringify(text))

/** A miss in the message of a failed test. */
export const missInTest = (miss: Omit<Missed, 'scope'>): string =>
  [missText(miss), ...(miss.nearest?.ignore ? [`→ ${ignoreAdvice(miss.nearest.ignore)}`] : [])].join('\n')

/** The width of a value next to another one. */
const WIDTH = 48

export function missText({ method, path, reason, nearest }: Omit<Missed, 'scope'>, paint: Paint = unpainted): string {
  const { title: paintTitle, harmless } = paint
  const title = paintTitle(`No recording matches ${method} ${harmless(path)}.`)
  if (!nearest || nearest.differences.length === 0) return `${title} ${harmless(reason)}`
  return [`${title} The nearest is ${harmless(nearest.file)}:`, ...table(nearest.differences, paint)].join('\n')
}

function table(differences: readonly Difference[], { faint, harmless }: Paint): readonly string[] {
  const rows = differences.map(
    ({ field, recorded, asked }) => [field, ...sideBySide(recorded ?? ABSENT, asked ?? ABSENT, WIDTH)] as const,
  )
  const fieldWidth = Math.max('field'.length, ...rows.map(([field]) => field.length))
  const recordedWidth = Math.max('recorded'.length, ...rows.map(([, recorded]) => harmless(recorded).length))
  const line = (field: string, recorded: string, asked: string) =>
    `  ${harmless(field).padEnd(fieldWidth)}  ${harmless(recorded).padEnd(recordedWidth)}  ${harmless(asked)}`.trimEnd()
  return [faint(line('field', 'recorded', 'asked')), ...rows.map(row => line(...row))]
}

export const ABSENT = '(absent)'

const asItIs = (text: string) => text
export const unpainted: Paint = { title: asItIs, faint: asItIs, advice: asItIs, harmless: asItIs }

/** How many characters are shown before the first difference, for context. */
const BEFORE = 16

/** Cuts both texts to about `width` characters. */
export function sideBySide(one: string, other: string, width: number): readonly [string, string] {
  if (Math.max(one.length, other.length) <= width) return [one, other]
  const start = Math.max(0, commonEnds(one, other).front - BEFORE)
  const shown = (text: string) => {
    const cut = text.slice(start, start + width)
    return `${start > 0 ? '…' : ''}${cut}${start + width < text.length ? '…' : ''}`
  }
  return [shown(one), shown(other)]
}

/** How many characters both texts have in common at the front, and after that at the back. */
export function commonEnds(one: string, other: string) {
  const shorter = Math.min(one.length, other.length)
  let front = 0
  while (front < shorter && one[front] === other[front]) front++
  let back = 0
  while (back < shorter - front && one.at(-1 - back) === other.at(-1 - back)) back++
  return { front, back }
}

/** How many characters are shown after the last difference. */
const AFTER = 12

/** Cuts both texts to what differs, with a little context, and to about `width` characters. */
export function changedParts(one: string, other: string, width: number): readonly [string, string] {
  if (Math.max(one.length, other.length) <= WIDTH) return [one, other]
  const { front, back } = commonEnds(one, other)
  const cut = Math.max(0, back - AFTER)
  const shown = (text: string) => (cut === 0 ? text : `${text.slice(0, text.length - cut)}…`)
  const start = Math.max(0, front - BEFORE)
  const shownFrom = (text: string) => (start === 0 ? text : `…${text.slice(start)}`)
  return sideBySide(shownFrom(shown(one)), shownFrom(shown(other)), width)
}
