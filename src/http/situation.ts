/** What decides the next answer: mode, faults, pace, clock and rules added at run time, and who changed each of them last. */
import { isDeepStrictEqual } from 'node:util'
import {
  arrayOf,
  closed,
  map,
  moment,
  number,
  optionalMember,
  orNull,
  text,
  wholeNumber,
  word,
} from '../check/forms.js'
import { operation, type Schema, type ValueOf } from '../control/operation.js'
import { modes } from '../core/exchange.js'
import { waitingFault } from '../faults/operations.js'

const members = {
  mode: closed({ mode: word(modes), modes: map(text, word(modes), 'an object') }),
  pace: closed({ firstTokenMs: number, tokensPerSecond: number, jitter: number }),
  /** The faults that wait for requests. */
  faults: arrayOf(waitingFault),
  /** `frozenAt` is the time at which the clock stands; null while it runs. */
  clock: closed({ offsetMs: number, frozenAt: orNull(text) }),
  /** How many rules were added at run time. */
  rules: wholeNumber,
  /** How many repairs of misses are in use. */
  repairs: wholeNumber,
}
type Members = { readonly [Name in keyof typeof members]: ValueOf<(typeof members)[Name]> }
type Member = keyof Members

const actors = ['dashboard', 'test', 'control API', 'configuration'] as const
type Actor = (typeof actors)[number]

/** Who changed a part, when, and what it was before. Absent while it is as configured. */
const changeOf = <const S extends Schema>(form: S) =>
  optionalMember(closed({ by: word(actors), at: moment, from: form }))

const situation = closed({
  ...members,
  /** The parts that are not as configured. */
  changed: closed({
    mode: changeOf(members.mode),
    pace: changeOf(members.pace),
    faults: changeOf(members.faults),
    clock: changeOf(members.clock),
    rules: changeOf(members.rules),
    repairs: changeOf(members.repairs),
  }),
})
export type SituationJson = ValueOf<typeof situation>

interface Change<Value = unknown> {
  readonly by: Actor
  readonly at: string
  readonly from: Value
}

interface SituationParts {
  /** The parts as they are, or as they are configured. */
  readonly now: () => Members
  readonly configured: () => Members
  /** Changes with each reload of the configuration. */
  readonly loaded: () => unknown
}

/** How often changes are looked for while somebody follows: tests in this process make them without a request. */
const LOOK_MS = 200

export type Situations = ReturnType<typeof createSituation>

export function createSituation({ now, configured, loaded }: SituationParts) {
  let latest = configured()
  let configuration = loaded()
  let changed: { readonly [Name in Member]?: Change } = {}
  let acting: Actor | undefined
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const before = latest
    latest = now()
    const usual = configured()
    const by = acting ?? (configuration === loaded() ? 'test' : 'configuration')
    configuration = loaded()
    const differing = (Object.keys(members) as Member[]).filter(name => !isDeepStrictEqual(before[name], latest[name]))
    for (const name of differing) {
      const isUsual = isDeepStrictEqual(latest[name], usual[name])
      // A fault that has hit is gone, but nobody has changed anything.
      if (!isUsual && name === 'faults' && !acting && areUsed(before.faults, latest.faults)) continue
      const change = isUsual ? undefined : { by, at: new Date().toISOString(), from: before[name] }
      changed = { ...changed, [name]: change }
    }
    if (differing.length > 0) for (const listener of listeners) listener()
  }

  return {
    current(): SituationJson {
      look()
      return { ...latest, changed: changed as SituationJson['changed'] }
    },
    /** Calls `listener` at each change. Returns a function that stops this. */
    follow(listener: () => void): () => void {
      look()
      listeners.add(listener)
      timer ??= setInterval(look, LOOK_MS).unref()
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    /** Notes who makes the changes until the returned function is called. */
    by(actor: Actor): () => void {
      look()
      acting = actor
      return () => {
        look()
        acting = undefined
      }
    },
  }
}

/** Whether the only difference is that faults have hit requests. */
const areUsed = (before: Members['faults'], after: Members['faults']) =>
  after.every(({ id }) => before.some(fault => fault.id === id))

export const situationOperations = ({ situation: of }: { readonly situation: Situations }) => ({
  getSituation: operation({
    at: 'GET /situation',
    does: 'Returns what decides the next answer: mode, pace, faults, clock and rules added at run time, and who changed each.',
    returns: situation,
    run: () => of.current(),
  }),
})
