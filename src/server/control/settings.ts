/** The pace of streams, limits and faults by chance, over HTTP. */
import { type LimitsChange, limitsChange } from '../../config/limit-options.js'
import { randomFaultsChange } from '../../config/schema.js'
import type { Changeable, Standing } from '../../core/changes.js'
import type { RandomFault } from '../../core/fault.js'
import { distributions, type PaceChange, paceChange } from '../../core/pace.js'
import { createChangeablePart } from './changeable.js'
import type { ControlPart } from './part.js'
import { listOf, number, object, oneOf, text, wholeNumber } from './shapes.js'

/** What can be changed while it runs. */
export interface Steering {
  standing<Name extends keyof Changeable>(name: Name): Standing<Changeable[Name]>
  /** `undefined` goes back to the configuration. Throws a ProblemsError for a model that there is not. */
  change(changes: {
    readonly pace?: PaceChange | undefined
    readonly limits?: LimitsChange | undefined
    readonly random?: readonly RandomFault[] | undefined
  }): void
  /** What each credential has used of its limits in its minute. */
  usage(): Promise<readonly object[]>
}

const pace = {
  firstTokenMs: number,
  tokensPerSecond: number,
  jitter: number,
  distribution: oneOf(distributions),
  promptTokensPerSecond: number,
  fullSpeedStreams: wholeNumber,
}

const ownPace = object(Object.fromEntries(Object.entries(pace).map(([name, schema]) => [`${name}?`, schema])))

const limits = {
  bodyBytes: wholeNumber,
  requestsPerMinute: wholeNumber,
  tokensPerMinute: wholeNumber,
  concurrentStreams: wholeNumber,
  maxPromptTokens: wholeNumber,
}

const usage = object({
  kind: text,
  'id?': text,
  'name?': text,
  'start?': text,
  requests: wholeNumber,
  tokens: wholeNumber,
  streams: wholeNumber,
  refused: wholeNumber,
  resetMs: number,
})

export const createPacePart = (steering: Steering): ControlPart =>
  createChangeablePart({
    at: '/pace',
    name: 'Pace',
    what: 'The usual pace of streams, and those of models that have one of their own',
    body: paceChange,
    shape: object({ ...pace, models: { type: 'object', additionalProperties: ownPace } }),
    show: async () => steering.standing('pace'),
    change: to => steering.change({ pace: to }),
  })

export const createLimitsPart = (steering: Steering): ControlPart =>
  createChangeablePart({
    at: '/limits',
    name: 'Limits',
    what: 'What a credential may use, and what each has used of it in its minute',
    body: limitsChange,
    shape: object(limits),
    more: { used: listOf(usage) },
    show: async () => ({ ...steering.standing('limits'), used: await steering.usage() }),
    change: to => steering.change({ limits: to }),
  })

export const createRandomFaultsPart = (steering: Steering): ControlPart =>
  createChangeablePart({
    at: '/faults/random',
    name: 'RandomFaults',
    what: 'Faults that befall requests by chance',
    body: randomFaultsChange,
    shape: listOf({ type: 'object', properties: { chance: number, path: text }, required: ['chance', 'path'] }),
    show: async () => steering.standing('random'),
    change: to => steering.change({ random: to?.random }),
  })
