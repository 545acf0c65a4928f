/** Finds rules that can never answer, and those that can answer the calls of a tool. */
import { isDeepStrictEqual } from 'node:util'
import { expressionIn } from '../check/expressions.js'
import { didYouMean } from '../check/suggest.js'
import type { When } from './chat/form.js'
import { nameTest } from './conditions/value-tests.js'
import type { ReadyRule } from './dialect.js'
import { isActive } from './engine.js'
import { mcpTarget } from './mcp/call.js'
import { START } from './memory.js'
import { isHttpRule, isMcpRule } from './rules.js'

/** A valid rule that is probably a mistake. */
interface LintFinding {
  readonly place: string
  readonly sentence: string
}

/** Returns the rules that can never answer, in the order in which rules are tried. `models` are the ids that the platform knows. */
export function neverAnswering(written: readonly ReadyRule[], models: readonly string[]): readonly LintFinding[] {
  const rules = written.filter(isActive).toSorted((a, b) => b.priority - a.priority)
  const earlier: ReadyRule[] = []
  return rules.flatMap(rule => {
    const why = hiddenBy(rule, earlier) ?? deadScenario(rule, rules) ?? unknownModel(rule, models)
    if (answersAlways(rule)) earlier.push(rule)
    return why === undefined ? [] : [{ place: rule.place, sentence: `${rule.title} never answers: ${why}` }]
  })
}

/** Whether a rule can answer the calls of this tool of this server. */
export function answersTool({ written }: ReadyRule, server: string, tool: string): boolean {
  if (!isMcpRule(written)) return false
  const { method, name } = mcpTarget(written.on)
  const { server: wanted } = written.when ?? {}
  const isForServer = typeof wanted !== 'string' || nameTest(wanted).holds(server)
  return method === 'tools/call' && nameTest(name).holds(tool) && isForServer
}

/** An earlier rule that answers whenever this one could. */
function hiddenBy(rule: ReadyRule, earlier: readonly ReadyRule[]): string | undefined {
  const hiding = earlier.find(other => targetOf(other) === targetOf(rule) && covers(other, rule))
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

/** Whether the conditions of `narrow` imply those of `wide`. False if they do not show it. */
function covers(wide: ReadyRule, narrow: ReadyRule): boolean {
  const given = (narrow.written.when ?? {}) as Readonly<Record<string, unknown>>
  return Object.entries(wide.written.when ?? {}).every(([key, wanted]) => {
    const other = given[key]
    if (wanted === undefined || isDeepStrictEqual(wanted, other)) return true
    if (other === undefined) return false
    if (key === 'model') return namesOf(other).every(name => namesOf(wanted).some(glob => nameTest(glob).holds(name)))
    if (!textConditions.has(key)) return false
    const [part, whole] = [plainTextIn(wanted), plainTextIn(other)]
    return part !== undefined && whole?.includes(part) === true
  })
}

/** The conditions that a text meets if it has the wanted one somewhere in it. */
const textConditions: ReadonlySet<string> = new Set(['user', 'system', 'assistant', 'any'])

const namesOf = (wanted: unknown) => (Array.isArray(wanted) ? wanted : [wanted]).map(String)

/** The text of a condition that any longer text with it meets, too. */
function plainTextIn(written: unknown): string | undefined {
  if (typeof written === 'string') return expressionIn(written) ? undefined : written
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
  if (model === undefined || models.includes('*')) return undefined
  const names = namesOf(model)
  if (names.some(name => models.some(id => nameTest(name).holds(id)))) return undefined
  return `the platform does not list the model ${names.join(', ')}.${didYouMean(names[0] ?? '', models)}`
}
