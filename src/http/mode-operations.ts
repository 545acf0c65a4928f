/** Operations that change the configuration at run time: the mode, the pace of streams, limits, and random faults. */

import type * as v from 'valibot'
import { arrayOf, boolean, closed, map, number, optionalMember, text, wholeNumber, word } from '../check/forms.js'
import { ProblemsError } from '../check/problem.js'
import { operation, type Schema, type ValueOf } from '../control/operation.js'
import { refusal } from '../core/errors.js'
import { type Mode, modes } from '../core/exchange.js'
import { randomFaultSchema, randomFaultsChange } from '../core/fault.js'
import { paceChange, paceInput } from '../core/pace.js'
import { type Changeable, type Changes, limitsChange, type Setting } from '../limits/options.js'
import { modeSwitch } from './modes.js'

const currentModes = closed({ mode: word(modes), modes: map(text, word(modes), 'an object') })
/** The mode, and the modes of single endpoints by their patterns, such as `GET /v1/*`. */
export type CurrentModes = ValueOf<typeof currentModes>

interface ModeSwitch {
  current(): CurrentModes
  /** Throws a ProblemsError for a mode that cannot work. */
  change(mode: Mode, modes: CurrentModes['modes']): void
  configured(): CurrentModes
  /** Why a mode cannot work for all endpoints, in sentences; `undefined` if it can. */
  impossible(mode: Mode): readonly string[] | undefined
}

function changeModes(switcher: ModeSwitch, { mode, modes = {} }: v.InferOutput<typeof modeSwitch>): CurrentModes {
  try {
    switcher.change(mode, modes)
  } catch (error) {
    throw error instanceof ProblemsError ? modeNotPossible(error.problems.map(({ sentence }) => sentence)) : error
  }
  return switcher.current()
}

export const modeOperations = ({ modes: switcher }: { readonly modes: ModeSwitch }) => ({
  getMode: operation({
    at: 'GET /mode',
    does: 'Returns the current mode: where answers come from.',
    returns: currentModes,
    run: () => switcher.current(),
  }),
  setMode: operation({
    at: 'PUT /mode',
    does: 'Changes the mode, from the next request on.',
    body: modeSwitch,
    returns: currentModes,
    run: ({ body }) => changeModes(switcher, body),
  }),
  listModes: operation({
    at: 'GET /mode/choices',
    does: 'Lists the available modes, and the configured one.',
    returns: closed({
      data: arrayOf(closed({ mode: word(modes), reason: optionalMember(text) })),
      configured: currentModes,
    }),
    run() {
      // The configuration has more than these.
      const { mode, modes: byEndpoint } = switcher.configured()
      const data = modes.map(mode => {
        const sentences = switcher.impossible(mode)
        return sentences ? { mode, reason: sentences.join(' ') } : { mode }
      })
      return { data, configured: { mode, modes: byEndpoint } }
    },
  }),
})

interface RuntimeSettings {
  setting<Name extends keyof Changeable>(name: Name): Setting<Changeable[Name]>
  /** `undefined` restores the configured value. Throws a ProblemsError for a model that does not exist. */
  change(changes: Changes): void
  /** What each credential has used of its limits in the current minute. */
  usage(): Promise<readonly NamedUsage[]>
}

const pace = closed({
  firstTokenMs: number,
  tokensPerSecond: number,
  jitter: number,
  models: map(text, paceInput, 'an object'),
})
const limits = closed({
  bodyBytes: wholeNumber,
  requestsPerMinute: wholeNumber,
  tokensPerMinute: wholeNumber,
  concurrentStreams: wholeNumber,
})

/** The usage of a credential in the current minute, with a name for it that is not secret. */
const usage = closed({
  /** `apiKey`, `user`, `anon`, `service`, or `stranger`, for one that only the live platform can check. */
  kind: text,
  /** The id of the key or of the user. */
  id: optionalMember(text),
  /** The name of the key, or the address of the user. */
  name: optionalMember(text),
  /** The first characters of the key. */
  start: optionalMember(text),
  requests: wholeNumber,
  tokens: wholeNumber,
  streams: wholeNumber,
  refused: wholeNumber,
  resetMs: number,
})

export type NamedUsage = ValueOf<typeof usage>

interface ChangeableSetting<P extends `/${string}`, B extends Schema, R extends Schema> {
  readonly path: P
  /** For use in a sentence: "the pace of streams". */
  readonly what: string
  readonly body: B
  readonly returns: R
  show(): ValueOf<R> | Promise<ValueOf<R>>
  /** Throws a ProblemsError for invalid values. `undefined` restores the configured value. */
  change(to: v.InferOutput<B> | undefined): void
}

/** The three operations of a setting: GET returns it, PUT changes it, DELETE restores the configured value. */
function changeable<const P extends `/${string}`, B extends Schema, R extends Schema>(
  changed: ChangeableSetting<P, B, R>,
) {
  const { path, what, body, returns, show, change } = changed
  // The types of `run` do not resolve while R is open.
  const run = (request: { readonly body?: v.InferOutput<B> }) => {
    change(request.body)
    return show()
  }
  return {
    get: operation({ at: `GET ${path}` as const, does: `Returns ${what}.`, returns, run: show as never }),
    set: operation({
      at: `PUT ${path}` as const,
      does: `Sets ${what}, from the next request on. Fields that are left out get their configured values.`,
      body,
      returns,
      run: run as never,
    }),
    restore: operation({
      at: `DELETE ${path}` as const,
      does: `Restores ${what} from the configuration.`,
      returns,
      run: run as never,
    }),
  }
}

const settingOf = <S extends Schema>(shape: S) => ({ inForce: shape, configured: shape, isChanged: boolean })

export const steeringOperations = ({ steering: runtime }: { readonly steering: RuntimeSettings }) => {
  const paceSettings = changeable({
    path: '/pace',
    what: 'the pace of streams and of single models',
    body: paceChange,
    returns: closed(settingOf(pace)),
    show: () => runtime.setting('pace'),
    change: pace => runtime.change({ pace }),
  })
  const limitSettings = changeable({
    path: '/limits',
    what: 'the limits of each credential',
    body: limitsChange,
    returns: closed({ ...settingOf(limits), used: arrayOf(usage) }),
    show: async () => ({ ...runtime.setting('limits'), used: await runtime.usage() }),
    change: limits => runtime.change({ limits }),
  })
  const randomFaults = changeable({
    path: '/faults/random',
    what: 'the random faults',
    body: randomFaultsChange,
    returns: closed(settingOf(arrayOf(randomFaultSchema))),
    show: () => runtime.setting('random'),
    change: to => runtime.change({ random: to?.random }),
  })
  return {
    getPace: paceSettings.get,
    setPace: paceSettings.set,
    restorePace: paceSettings.restore,
    getLimits: limitSettings.get,
    setLimits: limitSettings.set,
    restoreLimits: limitSettings.restore,
    getRandomFaults: randomFaults.get,
    setRandomFaults: randomFaults.set,
    restoreRandomFaults: randomFaults.restore,
  }
}

const modeNotPossible = (sentences: readonly string[]) => refusal(409, 'mode_not_possible', sentences.join(' '))
