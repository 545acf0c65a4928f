/** Finds rules that cannot do what their author intended, such as rules that never answer. */
import { isDeepStrictEqual } from 'node:util'
import { didYouMean } from '../check/suggest.js'
import type { CommonWhen, When } from './conditions/form.js'
import { partsOf } from './conditions/literals.js'
import { expressionIn } from './conditions/text.js'
import { nameTest } from './conditions/whole.js'
import type { ReadyRule } from './dialect.js'
import { areAmbiguous, routeOf } from './http/route.js'
import { START } from './memory.js'
import { isActive } from './ready-rule.js'
import { isHttpRule, isMcpRule } from './rules.js'

/** A valid rule that is probably a mistake. */
export interface LintFinding {
  /** The position of the rule. */
  readonly place: string
  readonly sentence: string
}

/**
 * Returns probable mistakes in rules, in the order in which the rules are tried. `models` are the ids that the platform knows.
 */
export function lint(written: readonly ReadyRule[], models: readonly string[]): readonly LintFinding[] {
  const active = written.filter(isActive)
  const rules = active.toSorted((a, b) => b.priority - a.priority)
  const findingFor = (rule: ReadyRule, sentence: string | undefined): LintFinding[] =>
    sentence === undefined ? [] : [{ place: rule.place, sentence: `${rule.title} ${sentence}` }]
  const earlier: EarlierRule[] = []
  const routes = new Map<string, ReadyRule>()
  const findings: LintFinding[] = []
  for (const rule of rules) {
    findings.push(
      ...findingFor(rule, hiddenBy(rule, earlier)),
      ...findingFor(rule, deadScenario(rule, rules)),
      ...findingFor(rule, dividedScenario(rule, rules)),
      ...findingFor(rule, ambiguousPath(rule, routes)),
      ...whensOf<When>(rule.written.when ?? {}).flatMap(when => findingFor(rule, unknownModel(when, models))),
      ...expressionsIn(rule.written.when).flatMap(text => findingFor(rule, slow(text))),
    )
    if (answersAlways(rule)) earlier.push({ rule, conditions: Object.entries(rule.written.when ?? {}) })
  }
  return findings
}

/** With more rules than this, rules are not compared with each other. */
const MOST_ROUTES = 1000

/** `before` are the routes of earlier rules. Adds the route of this one. */
function ambiguousPath(rule: ReadyRule, before: Map<string, ReadyRule>): string | undefined {
  const { written } = rule
  if (!isHttpRule(written) || before.has(written.on) || before.size >= MOST_ROUTES) return undefined
  const route = routeOf(written.on)
  const [, other] = [...before].find(([on]) => areAmbiguous(route, routeOf(on))) ?? []
  before.set(written.on, rule)
  if (!other || !isHttpRule(other.written)) return undefined
  return `answers ${written.on}, and ${other.title} (${other.place}) answers ${other.written.on}: a path can match both patterns, and neither is more specific.`
}

/** A rule that always answers when it matches. Its conditions are listed once, since each later rule is compared with them. */
interface EarlierRule {
  readonly rule: ReadyRule
  readonly conditions: readonly (readonly [name: string, wanted: unknown])[]
}

/** An earlier rule that answers whenever this one could. */
function hiddenBy(rule: ReadyRule, earlier: readonly EarlierRule[]): string | undefined {
  const when = rule.written.when ?? {}
  const hasSameTarget = (other: ReadyRule) => targetOf(other) === targetOf(rule)
  const hiding = earlier.find(({ rule, conditions }) => hasSameTarget(rule) && covers(conditions, when))?.rule
  if (!hiding) return undefined
  const everything = hiding.conditions.length === 0
  const why = everything ? 'matches everything' : 'matches everything that this one matches'
  return `never answers: ${hiding.title} (${hiding.place}) comes before it and ${why}.`
}

/** The target of a rule. Only rules with the same target can hide each other. */
const targetOf = ({ written }: ReadyRule) =>
  isHttpRule(written) ? `${written.on} ${written.access ?? ''}` : isMcpRule(written) ? written.on : ''

/** Whether a rule always answers when its conditions hold. */
const answersAlways = ({ written: { times, scenario }, then, replies }: ReadyRule) =>
  times === undefined &&
  then !== 'miss' &&
  scenario?.state === undefined &&
  replies.every(({ mayBeSkipped }) => !mayBeSkipped)

/** Whether `narrow` implies `wide`. False if the conditions do not show it. */
function covers(wide: EarlierRule['conditions'], narrow: object): boolean {
  return wide.every(([key, wanted]) => {
    const other = (narrow as Readonly<Record<string, unknown>>)[key]
    if (wanted === undefined || isSame(wanted, other)) return true
    if (other === undefined) return false
    if (key === 'user' || key === 'system' || key === 'assistant' || key === 'any') return isPart(wanted, other)
    if (key === 'model') return namesOf(other).every(name => namesOf(wanted).some(glob => nameTest(glob).holds(name)))
    return false
  })
}

/** Most values are texts, for which a deep comparison takes far longer. */
const isSame = (a: unknown, b: unknown) =>
  a === b || (typeof a === 'object' && typeof b === 'object' && isDeepStrictEqual(a, b))

const namesOf = (wanted: unknown) => (Array.isArray(wanted) ? wanted : [wanted]).map(String)

/** Whether any text that contains `narrow` also contains `wide`, if both are plain texts. */
const isPart = (wide: unknown, narrow: unknown) => {
  const [part, whole] = [partIn(wide), partIn(narrow)]
  // With many rules, nearly all comparisons end here; creating a regular expression takes time.
  if (part === undefined || whole?.includes(part) !== true) return false
  return ![wide, narrow].some(written => typeof written === 'string' && expressionIn(written))
}

function partIn(written: unknown): string | undefined {
  if (typeof written === 'string') return written
  const { contains } = (written ?? {}) as { readonly contains?: unknown }
  return typeof contains === 'string' ? contains : undefined
}

function deadScenario({ written: { scenario, per } }: ReadyRule, rules: readonly ReadyRule[]): string | undefined {
  if (scenario?.state === undefined || scenario.state === START) return undefined
  const { name, state } = scenario
  const others = rules.flatMap(({ written: other }) =>
    other.scenario?.name === name && other.per === per ? [other.scenario.next ?? START] : [],
  )
  if (others.includes(state)) return undefined
  return `never answers: no rule moves scenario "${name}" to the state "${state}".${didYouMean(state, others)}`
}

function dividedScenario({ written: { scenario, per } }: ReadyRule, rules: readonly ReadyRule[]): string | undefined {
  if (!scenario) return undefined
  const first = rules.find(rule => rule.written.scenario?.name === scenario.name)
  if (!first || first.written.per === per) return undefined
  const holderOf = (whose: typeof per) => (whose ? `per ${whose}` : 'for all callers')
  return `keeps scenario "${scenario.name}" ${holderOf(per)}, and ${first.title} (${first.place}) ${holderOf(first.written.per)}: neither sees the state of the other.`
}

function unknownModel({ model }: When, models: readonly string[]): string | undefined {
  if (model === undefined) return undefined
  // Running a slow expression could fail. It is reported as slow.
  const quick = namesOf(model).filter(name => slow(name) === undefined)
  const unlisted = quick.find(name => !models.some(id => nameTest(name).holds(id)))
  if (unlisted === undefined) return undefined
  return `asks for a model that the platform does not list: ${JSON.stringify(unlisted)}.${didYouMean(unlisted, models)}`
}

function slow(text: string): string | undefined {
  const expression = expressionIn(text)
  if (!expression || !slowExpression(expression)) return undefined
  return `has an expression that can take exponential time and block everything else: ${expression}. It repeats a group that contains a repetition.`
}

/** A condition and all conditions nested in it. */
function whensOf<W extends CommonWhen<W>>(when: W): readonly W[] {
  const { not, allOf = [], anyOf = [] } = when
  return [when, ...[...(not ? [not] : []), ...allOf, ...anyOf].flatMap(whensOf)]
}

/** The texts in conditions that can be regular expressions: all but `{ exact }` and `{ contains }`, which are compared as they are. */
function expressionsIn(conditions: unknown, isToolResult = false): readonly string[] {
  if (typeof conditions === 'string') return [conditions]
  if (typeof conditions !== 'object' || conditions === null) return []
  const isPlain = (key: string, value: unknown) =>
    typeof value === 'string' && (key === 'exact' || (key === 'contains' && !isToolResult))
  const entries = Object.entries(conditions).filter(([key, value]) => !isPlain(key, value))
  return entries.flatMap(([key, value]) => expressionsIn(value, key === 'toolResult'))
}

/**
 * Whether an unlimited repetition contains another one: `(a+)+`. Some of these are harmless, such as `(a+b)+`, but most
 * are mistakes.
 */
export function slowExpression({ source }: RegExp): boolean {
  /** For each open group: whether it contains an unlimited repetition, and whether something must follow it. */
  const open: { repeats: boolean; fenced: boolean }[] = []
  const parts = partsOf(source)
  for (const [i, part] of parts.entries()) {
    const next = parts[i + 1] ?? ''
    const isRepeated = /^(?:[*+]|\{\d+,\})$/.test(next)
    const group = part === ')' ? open.pop() : undefined
    const here = open.at(-1)
    if (part === '(') open.push({ repeats: false, fenced: false })
    else if (group) {
      if (group.repeats && !group.fenced && isRepeated) return true
      if (here && (isRepeated || group.repeats)) Object.assign(here, { repeats: true, fenced: false })
    } else if (!here) continue
    else if (part === '|') here.fenced = false
    else if (/^[*+?^${]/.test(part)) continue
    else if (isRepeated) Object.assign(here, { repeats: true, fenced: false })
    // If something must follow the inner repetition, it separates the rounds of the outer one.
    else if (here.repeats && !/^[?*{]/.test(next)) here.fenced = true
  }
  return false
}
