/** What decides the next answer: each part in words, and how it is taken back to what is configured. */
import type { Problem } from '../check/problem.js'
import type { Clock } from '../core/clock.js'
import type { Mode } from '../core/exchange.js'
import { type Pace, paceFrom } from '../core/pace.js'
import { faultInWords } from '../core/reply.js'
import type { Changeable } from '../limits/options.js'
import { type Decides, Situation } from '../situation/index.js'
import type { Assembly } from './assembly.js'
import type { Runtime } from './runtime.js'

interface Dependencies {
  readonly runtime: Runtime
  readonly current: () => Assembly
  /** Why the files, as they are now, cannot be used. */
  readonly problems: () => readonly Problem[]
}

/** More of one kind would not be read. */
const MOST = 50

export function createSituation({ runtime, current, problems }: Dependencies): Situation {
  const loaded = () => current().loaded
  return new Situation({
    items: () => itemsOf(runtime, current()),
    problems,
    saved: () => runtime.sinceSave.last(),
    loaded,
    undo: id => undo(id, runtime, current()),
  })
}

function itemsOf(runtime: Runtime, { loaded: { config } }: Pick<Assembly, 'loaded'>): readonly Decides[] {
  const { settings, modes, clock, recordings } = runtime
  const { isChanged: isOtherPace, inForce: pace } = settings.setting('pace')
  const { isChanged: areOtherLimits, inForce: limits, configured } = settings.setting('limits')
  const { isChanged: isOtherChance, inForce: random } = settings.setting('random')
  const mode = modeInWords(modes.current())
  const limitsSay = limitsInWords(limits, configured)
  const isPaced = pace.firstTokenMs > 0 || pace.tokensPerSecond > 0 || Object.keys(pace.models).length > 0
  const clockSays = clockInWords(clock.state())

  const items: Decides[] = [{ what: 'mode', says: mode, undo: mode === modeInWords(config) ? null : 'mode' }]
  items.push(...faultItems(runtime))
  if (random.length > 0 || isOtherChance)
    items.push({ what: 'random faults', says: randomInWords(random), undo: isOtherChance ? 'random-faults' : null })
  items.push(...holdItems(runtime))
  if (areOtherLimits || limitsInWords(limits) !== '')
    items.push({ what: 'limits', says: limitsSay || 'no limits', undo: areOtherLimits ? 'limits' : null })
  if (isOtherPace || isPaced) items.push({ what: 'pace', says: pacesInWords(pace), undo: isOtherPace ? 'pace' : null })
  if (clockSays !== undefined) items.push({ what: 'clock', says: clockSays, undo: 'clock' })
  items.push(...ruleItems(runtime))
  items.push(...recordings.repairs.all().map(({ id, says }) => ({ what: 'repair', says, undo: id }) as const))
  return items
}

/** Faults for the next requests. */
const faultItems = ({ faults }: Runtime) =>
  faults.calls
    .waiting()
    .slice(0, MOST)
    .map(({ id, fault, times, path, method, when, scope }): Decides => {
      const who = times === 1 ? 'the next request' : `the next ${times} requests`
      const where = [method, path, when && 'that match', scope && `of ${scope}`].filter(Boolean).join(' ')
      const says = `${who}${where && ` ${where}`}: ${faultInWords(fault)}`
      return { what: 'faults', says, undo: id, isCounted: true }
    })

/** Holds at which requests wait, or may wait. */
const holdItems = ({ holds }: Runtime) =>
  holds
    .list()
    .filter(({ times, waiting }) => times > 0 || waiting > 0)
    .slice(0, MOST)
    .map(({ id, title, waiting }): Decides => {
      const says = waiting > 0 ? `${title}: ${waiting} ${waiting === 1 ? 'waits' : 'wait'}` : title
      return { what: 'holds', says, undo: id, isCounted: true }
    })

/** Rules that were added: each answer by hand, and all others of each scope together. */
function ruleItems({ rules, recordings }: Runtime): readonly Decides[] {
  const added = rules.atRunTime.all()
  const byHand = new Map(recordings.repairs.answers().map(answer => [answer.rule, answer]))
  const answers = added.flatMap(({ id }) => byHand.get(id) ?? [])
  const others = Map.groupBy(
    added.filter(({ id }) => !byHand.has(id)),
    ({ scope }) => scope,
  )
  return [
    ...answers.map(({ rule, says }) => ({ what: 'answer', says, undo: rule }) as const),
    ...[...others].slice(0, MOST).map(([scope, { length }]): Decides => {
      const says = `${length} temporary ${length === 1 ? 'rule' : 'rules'}${scope && ` of ${scope}`}`
      return { what: 'rules', says, undo: `rules:${scope}`, isCounted: true }
    }),
  ]
}

async function undo(id: string, runtime: Runtime, { loaded }: Assembly): Promise<boolean> {
  const { modes, settings, clock, faults, holds, rules, recordings } = runtime
  if (!itemsOf(runtime, { loaded }).some(item => item.undo === id)) return false
  if (id === 'mode') modes.switch(loaded.config.mode, loaded.config.modes)
  else if (id === 'pace') settings.change({ pace: undefined })
  else if (id === 'limits') settings.change({ limits: undefined })
  else if (id === 'random-faults') settings.change({ random: undefined })
  else if (id === 'clock') clock.reset()
  else if (id.startsWith('rules:')) {
    const byHand = new Set(recordings.repairs.answers().map(({ rule }) => rule))
    const scope = id.slice('rules:'.length)
    for (const one of rules.atRunTime.all())
      if (one.scope === scope && !byHand.has(one.id)) rules.rules.remove({ id: one.id })
  } else if (id.startsWith('rule-')) {
    recordings.repairs.forgetAnswer(id)
    rules.rules.remove({ id })
  } else return faults.calls.remove(id) || holds.remove(id) || recordings.repairs.remove(id)
  return true
}

const modeInWords = ({ mode, modes }: { readonly mode: Mode; readonly modes: Readonly<Record<string, Mode>> }) =>
  [mode, ...Object.entries(modes).map(([endpoint, own]) => `${endpoint} ${own}`)].join(', ')

const randomInWords = (random: Changeable['random']) =>
  random
    .map(
      ({ path, chance, ...fault }) => `${Number((chance * 100).toPrecision(2))} % of ${path}: ${faultInWords(fault)}`,
    )
    .join(', ') || 'no random faults'

function limitsInWords(limits: Changeable['limits'], usual: Partial<Changeable['limits']> = {}): string {
  const { requestsPerMinute, tokensPerMinute, bodyBytes } = limits
  return [
    requestsPerMinute > 0 && `${requestsPerMinute} requests a minute`,
    tokensPerMinute > 0 && `${tokensPerMinute} tokens a minute`,
    bodyBytes !== (usual.bodyBytes ?? bodyBytes) && `bodies of ${bodyBytes} bytes`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** The pace of all models, and of those that have one of their own. */
const pacesInWords = ({ models, ...usual }: Changeable['pace']): string =>
  [
    paceInWords(usual),
    ...Object.entries(models).map(([model, own]) => `${model}: ${paceInWords(paceFrom(own, usual))}`),
  ].join('; ')

function paceInWords({ firstTokenMs, tokensPerSecond }: Pace): string {
  if (firstTokenMs === 0 && tokensPerSecond === 0) return 'streams without pauses'
  return `first token after ${firstTokenMs} ms, ${tokensPerSecond === 0 ? 'then at once' : `${tokensPerSecond} a second`}`
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** `clock +1 day`; `undefined` while it shows the real time. */
function clockInWords({ now, frozen, offsetMs }: ReturnType<Clock['state']>): string | undefined {
  if (frozen) return `clock stopped at ${now}`
  const size = Math.abs(offsetMs)
  if (size < 1000) return undefined
  const [unit, ms] = size >= DAY_MS ? ['day', DAY_MS] : size >= HOUR_MS ? ['hour', HOUR_MS] : ['min', 60_000]
  const many = Math.round((size / ms) * 10) / 10
  return `clock ${offsetMs < 0 ? '−' : '+'}${many} ${unit}${many === 1 || unit === 'min' ? '' : 's'}`
}
