/** Finds rules that can never answer, and calls of tools whose names are misspelt. */
import { isDeepStrictEqual } from 'node:util'
import { didYouMean } from '../check/suggest.js'
import type { ReadyChatReply } from './chat-reply.js'
import type { When } from './conditions/form.js'
import { expressionIn } from './conditions/text.js'
import { nameTest } from './conditions/whole.js'
import type { ReadyRule } from './dialect.js'
import { START } from './memory.js'
import { isActive } from './ready-rule.js'
import { isHttpRule, isMcpRule } from './rules.js'
import { hasTemplate } from './templates.js'

/** A valid rule that is probably a mistake. */
interface LintFinding {
  /** The position of the rule. */
  readonly place: string
  readonly sentence: string
}

/** Returns the rules that can never answer, in the order in which rules are tried. `models` are the ids that the platform knows. */
export function neverAnswering(written: readonly ReadyRule[], models: readonly string[]): readonly LintFinding[] {
  const rules = written.filter(isActive).toSorted((a, b) => b.priority - a.priority)
  const earlier: EarlierRule[] = []
  return rules.flatMap(rule => {
    const why = hiddenBy(rule, earlier) ?? deadScenario(rule, rules) ?? unknownModel(rule, models)
    if (answersAlways(rule)) earlier.push({ rule, conditions: Object.entries(rule.written.when ?? {}) })
    return why === undefined ? [] : [{ place: rule.place, sentence: `${rule.title} never answers: ${why}` }]
  })
}

/** Returns the calls of tools that no MCP server has, if one has a tool of a similar name. Others may be the client's own. */
export const misspeltCalls = (rules: readonly ReadyRule[], tools: readonly string[]): readonly LintFinding[] =>
  rules.filter(isActive).flatMap(({ written, replies, place, title }) => {
    if (isHttpRule(written) || isMcpRule(written)) return []
    return (replies as readonly ReadyChatReply[]).flatMap(({ calls }) =>
      calls.flatMap(called => {
        const isKnown = hasTemplate(called) || tools.some(tool => isCallOf(called, tool))
        const meant = isKnown ? '' : didYouMean(called, tools)
        return meant === '' ? [] : [{ place, sentence: `${title} calls ${called}, which no MCP server has.${meant}` }]
      }),
    )
  })

/** Clients may put the name of a server before that of its tool: `mcp__weather__get_weather`. */
const isCallOf = (called: string, tool: string) => called === tool || called.endsWith(`_${tool}`)

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
  return `${hiding.title} (${hiding.place}) comes before it and ${why}.`
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
  return `no rule moves scenario "${name}" to the state "${state}".${didYouMean(state, others)}`
}

function unknownModel({ written: { when } }: ReadyRule, models: readonly string[]): string | undefined {
  const { model } = (when ?? {}) as When
  if (model === undefined) return undefined
  const names = namesOf(model)
  if (names.some(name => models.some(id => nameTest(name).holds(id)))) return undefined
  return `the platform does not list the model ${names.join(', ')}.${didYouMean(names[0] ?? '', models)}`
}
