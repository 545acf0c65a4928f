/** What of the configuration can be changed while it runs: the mode, the pace of streams, limits, and faults by chance. */
import type * as v from 'valibot'
import { type Of, operation, type Schema } from '../api/operation.js'
import { listOf, mapOf, maybe, number, object, oneOf, text, whole, yesOrNo } from '../api/shapes.js'
import { ProblemsError } from '../check/problem.js'
import { modeNotPossible } from '../core/errors.js'
import { type Mode, modes } from '../core/exchange.js'
import { type RandomFault, randomFaultSchema } from '../core/fault.js'
import { distributions, type PaceChange, paceChange, paceInput } from '../core/pace.js'
import { type Changeable, type LimitsChange, limitsChange, type Setting } from './limit-options.js'
import { modeSwitch, randomFaultsChange } from './schema.js'

const modesInForce = object({ mode: oneOf(modes), modes: mapOf(oneOf(modes)) })
/** The mode, and the modes of single endpoints by their patterns, such as `GET /v1/*`. */
export type ModesInForce = Of<typeof modesInForce>

export interface ModeSwitch {
  current(): ModesInForce
  /** Throws a ProblemsError for a mode that cannot work. */
  change(mode: Mode, modes: ModesInForce['modes']): void
  /** What the configuration says. */
  configured(): ModesInForce
  /** Why a mode cannot work for all endpoints, in sentences; nothing when it can. */
  impossible(mode: Mode): readonly string[] | undefined
}

export const modeOperations = ({ modes: steered }: { readonly modes: ModeSwitch }) => {
  function change({
    mode,
    modes,
  }: {
    readonly mode: Mode
    readonly modes?: ModesInForce['modes'] | undefined
  }): ModesInForce {
    try {
      steered.change(mode, modes ?? {})
    } catch (error) {
      throw error instanceof ProblemsError ? modeNotPossible(error.problems.map(({ sentence }) => sentence)) : error
    }
    return current()
  }
  /** Picked one by one: what is handed in may know more. */
  const picked = ({ mode, modes }: ModesInForce) => ({ mode, modes })
  const current = () => picked(steered.current())
  const shared = { returns: modesInForce, answer: 'The mode, and the modes of single endpoints.' } as const

  return {
    getMode: operation({ at: 'GET /mode', does: 'Returns where answers come from.', ...shared, run: current }),
    setMode: operation({
      at: 'PUT /mode',
      does: 'Changes where answers come from, from the next request on.',
      body: modeSwitch,
      ...shared,
      errors: { 409: 'The configuration lacks what the mode needs.' },
      run: ({ body }) => change(body),
    }),
    restoreMode: operation({
      at: 'DELETE /mode',
      does: 'Goes back to the mode of the configuration.',
      ...shared,
      run: () => change(steered.configured()),
    }),
    listModes: operation({
      at: 'GET /mode/choices',
      does: 'Lists the modes, and what the configuration says.',
      returns: object({
        data: listOf(object({ mode: oneOf(modes), reason: maybe(text) })),
        configured: modesInForce,
      }),
      answer: 'Each mode, with the reason where it cannot work here.',
      run() {
        const data = modes.map(mode => {
          const sentences = steered.impossible(mode)
          return sentences ? { mode, reason: sentences.join(' ') } : { mode }
        })
        return { data, configured: picked(steered.configured()) }
      },
    }),
  }
}

/** What can be changed while it runs. */
export interface Steering {
  standing<Name extends keyof Changeable>(name: Name): Setting<Changeable[Name]>
  /** `undefined` goes back to the configuration. Throws a ProblemsError for a model that does not exist. */
  change(changes: {
    readonly pace?: PaceChange | undefined
    readonly limits?: LimitsChange | undefined
    readonly random?: readonly RandomFault[] | undefined
  }): void
  /** What each credential has used of its limits in its minute. */
  usage(): Promise<readonly Of<typeof usage>[]>
}

const pace = {
  firstTokenMs: number,
  tokensPerSecond: number,
  jitter: number,
  distribution: oneOf(distributions),
  promptTokensPerSecond: number,
  fullSpeedStreams: whole,
}

const limits = {
  bodyBytes: whole,
  requestsPerMinute: whole,
  tokensPerMinute: whole,
  concurrentStreams: whole,
  maxPromptTokens: whole,
}

/** What a credential has used in its minute, with a name for it that is no secret. */
const usage = object({
  /** `apiKey`, `user`, `anon`, `service`, or `stranger`: one that only the live platform can judge. */
  kind: text,
  /** Of the key, or of the user. */
  id: maybe(text),
  /** What its owner calls the key, or the address of the user. */
  name: maybe(text),
  /** The first characters of the key. */
  start: maybe(text),
  requests: whole,
  tokens: whole,
  streams: whole,
  refused: whole,
  resetMs: number,
})

interface Changed<P extends `/${string}`, B extends Schema, R extends Schema> {
  readonly path: P
  /** The object of a sentence: "the pace of streams". */
  readonly what: string
  readonly body: B
  readonly returns: R
  show(): Of<R> | Promise<Of<R>>
  /** Throws a ProblemsError for what cannot be. `undefined` goes back to the configuration. */
  change(to: v.InferOutput<B> | undefined): void
}

/** The three operations on what can be changed: GET shows it, PUT changes it, DELETE goes back to the configuration. */
function changeable<const P extends `/${string}`, B extends Schema, R extends Schema>(changed: Changed<P, B, R>) {
  const { path, what, body, returns, show, change } = changed
  const answer = 'What is in force, what the configuration says, and whether it was changed since.'
  // The types of `run` do not resolve while R is open.
  const run = (given: { readonly body?: v.InferOutput<B> }) => {
    change(given.body)
    return show()
  }
  return {
    get: operation({ at: `GET ${path}` as const, does: `Returns ${what}.`, returns, answer, run: show as never }),
    set: operation({
      at: `PUT ${path}` as const,
      does: `Sets ${what}, from the next request on. Left-out fields go back to the configuration.`,
      ...{ body, returns, answer },
      run: run as never,
    }),
    restore: operation({
      at: `DELETE ${path}` as const,
      does: `Restores ${what} from the configuration.`,
      ...{ returns, answer },
      run: run as never,
    }),
  }
}

const standing = <S extends Schema>(shape: S) => ({ inForce: shape, configured: shape, isChanged: yesOrNo })

export const steeringOperations = ({ steering }: { readonly steering: Steering }) => {
  const streams = changeable({
    path: '/pace',
    what: 'the pace of streams and of single models',
    body: paceChange,
    returns: object(standing(object({ ...pace, models: mapOf(paceInput) }))),
    show: () => steering.standing('pace'),
    change: pace => steering.change({ pace }),
  })
  const most = changeable({
    path: '/limits',
    what: 'the limits of each credential',
    body: limitsChange,
    returns: object({ ...standing(object(limits)), used: listOf(usage) }),
    show: async () => ({ ...steering.standing('limits'), used: await steering.usage() }),
    change: limits => steering.change({ limits }),
  })
  const chances = changeable({
    path: '/faults/random',
    what: 'the faults that happen by chance',
    body: randomFaultsChange,
    returns: object(standing(listOf(randomFaultSchema))),
    show: () => steering.standing('random'),
    change: to => steering.change({ random: to?.random }),
  })
  return {
    ...{ getPace: streams.get, setPace: streams.set, restorePace: streams.restore },
    ...{ getLimits: most.get, setLimits: most.set, restoreLimits: most.restore },
    ...{ getRandomFaults: chances.get, setRandomFaults: chances.set, restoreRandomFaults: chances.restore },
  }
}
