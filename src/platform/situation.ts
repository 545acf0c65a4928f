/** What decides the next answer: each part in words, and how it is taken back to what is configured. */
import type { Problem } from '../check/problem.js'
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

function itemsOf(runtime: Runtime, { loaded: { config } }: Assembly): readonly Decides[] {
  const { settings, modes, clock, faults, holds, recordings } = runtime
  const { isChanged: isOtherPace, inForce: pace } = settings.setting('pace')
  const { isChanged: areOtherLimits, inForce: limits, configured } = settings.setting('limits')
  const { isChanged: isOtherChance, inForce: random } = settings.setting('random')
  const isOtherMode = modeInWords(modes.current()) !== modeInWords(config)
  const clockSays = clockInWords(clock.state())
  return [
    { what: 'mode', says: modeInWords(modes.current()), undo: isOtherMode ? 'mode' : null },
    ...faults.calls
      .waiting()
      .slice(0, MOST)
      .map(({ id, fault, times, path, method, when, scope }): Decides => {
        const who = times === 1 ? 'the next request' : `the next ${times} requests`
        const where = [method, path, when && 'that match', scope && `of ${scope}`].filter(Boolean).join(' ')
        return {
          what: 'faults',
          says: `${who}${where && ` ${where}`}: ${faultInWords(fault)}`,
          undo: id,
          isCounted: true,
        }
      }),
    ...(random.length > 0 || isOtherChance
      ? [{ what: 'random faults', says: randomInWords(random), undo: isOtherChance ? 'random-faults' : null } as const]
      : []),
    ...holds
      .list()
      .filter(({ times, waiting }) => times > 0 || waiting > 0)
      .slice(0, MOST)
      .map(
        ({ id, title, waiting }): Decides => ({
          what: 'holds',
          says: waiting > 0 ? `${title}: ${waiting} ${waiting === 1 ? 'waits' : 'wait'}` : title,
          undo: id,
          isCounted: true,
        }),
      ),
    ...(areOtherLimits || limitsInWords(limits) !== ''
      ? [
          {
            what: 'limits',
            says: limitsInWords(limits, configured) || 'no limits',
            undo: areOtherLimits ? 'limits' : null,
          } as const,
        ]
      : []),
    ...(isOtherPace || pace.firstTokenMs > 0 || pace.tokensPerSecond > 0 || Object.keys(pace.models).length > 0
      ? [{ what: 'pace', says: pacesInWords(pace), undo: isOtherPace ? 'pace' : null } as const]
      : []),
    ...(clockSays === undefined ? [] : [{ what: 'clock', says: clockSays, undo: 'clock' } as const]),
    ...ruleItems(runtime),
    ...recordings.repairs.all().map(({ id, says }) => ({ what: 'repair', says, undo: id }) as const),
  ]
}

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

async function undo(id: string, runtime: Runtime, { loaded: { config } }: Assembly): Promise<boolean> {
  const { modes, settings, clock, faults, holds, rules, recordings } = runtime
  if (!itemsOf(runtime, { loaded: { config } } as Assembly).some(item => item.undo === id)) return false
  if (id === 'mode') modes.switch(config.mode, config.modes)
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
function clockInWords({
  now,
  frozen,
  offsetMs,
}: {
  readonly now: string
  readonly frozen: boolean
  readonly offsetMs: number
}) {
  if (frozen) return `clock stopped at ${now}`
  const size = Math.abs(offsetMs)
  if (size < 1000) return undefined
  const [unit, ms] = size >= DAY_MS ? ['day', DAY_MS] : size >= HOUR_MS ? ['hour', HOUR_MS] : ['min', 60_000]
  const many = Math.round((size / ms) * 10) / 10
  return `clock ${offsetMs < 0 ? '−' : '+'}${many} ${unit}${many === 1 || unit === 'min' ? '' : 's'}`
}
