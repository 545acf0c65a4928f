/** The parts that live as long as the process: a reload does not replace them. */

import { Violations } from '../contract/violations.js'
import type { Clock } from '../core/clock.js'
import { isStateUnavailable } from '../core/errors.js'
import type { RequestContext } from '../core/exchange.js'
import type { FaultCall } from '../core/fault.js'
import { createListeners, type Part, type ResetOptions } from '../core/part.js'
import { createChances, FaultCalls } from '../faults/index.js'
import { Holds } from '../holds/index.js'
import { createJournal } from '../journal/index.js'
import { createApiKeys } from '../keys/api-keys.js'
import { createCounters } from '../limits/index.js'
import type { Changes } from '../limits/options.js'
import { createPromptsPart } from '../prompts/part.js'
import { createRecordingsPart } from '../recordings/part.js'
import { RepairsInUse, SinceSave } from '../repairs/index.js'
import { conditionsOn, type Replies, requestTest } from '../replies/index.js'
import { createResourceRows } from '../resources/manage.js'
import { createScopes } from '../scopes/index.js'
import type { MessageRow } from '../state/rows.js'
import type { LoadedConfig } from './config/load.js'
import { createMcpPart } from './mcp.js'
import { allModes, createModes } from './modes.js'
import type { PlatformSources, PreparedConfig } from './prepare.js'
import { createRulesPart } from './rules.js'
import { createSettings } from './settings.js'
import { createStatePart, findUsers, type OpenedState } from './state.js'
import { TablesPart } from './tables.js'

/** What follows from the current configuration. */
interface Current extends Pick<PreparedConfig, 'loaded' | 'redact' | 'resources'> {
  readonly authenticator: { forget(): void }
  readonly replies: Replies
  /** Replaces all run-time changes, from the next request on. */
  applyChanges(changes: Changes): void
}

/** Available later, once everything is assembled. */
interface Later {
  readonly current: () => Current
  /** The port that is open, or will be; 0 if it is not known. */
  readonly port: () => number
  readonly url: () => string
  readonly renew: () => void
  readonly underWay: () => Iterable<RequestContext>
}

export type Runtime = ReturnType<typeof createRuntime>

/** What was read and opened before. */
interface Opened {
  readonly loaded: LoadedConfig
  readonly clock: Clock
  readonly state: OpenedState
  readonly tables: PreparedConfig['tables']
}

// Long because it lists all parts.
export function createRuntime(opened: Opened, sources: PlatformSources, later: Later) {
  const { warn = console.error, report: reportAny = console.error } = sources
  const { clock } = opened
  const { state } = opened.state
  const { current, renew } = later
  const redact = () => current().redact
  const report = exceptUnavailable(reportAny)
  const loaded = () => current().loaded
  const usersAreElsewhere = () => loaded().config.auth.mode === 'proxy'
  const messages = createListeners<MessageRow>({ isKept: true })
  const scopes = createScopes(renew, async users => (usersAreElsewhere() ? [] : findUsers(state, users)))
  const { isFromBeforeReset: isPast } = scopes
  const journal = createJournal({ redact, isPast, report, open: later.underWay })
  const apiKeys = createApiKeys({ state, report, now: clock.now, usersAreElsewhere })
  state.onRevoked(() => current().authenticator.forget())
  const modes = createModes(opened.loaded, { loaded, warn, port: later.port })
  modes.follow(renew)
  const counters = createCounters(clock.now)
  const settings = createSettings({
    loaded,
    counters,
    state,
    apply(changes) {
      current().applyChanges(changes)
      renew()
    },
  })
  const violations = new Violations(report, redact)
  const rules = createRulesPart(current, { onPaths: renew, warn, modeOf: request => modes.current().of(request) })
  return {
    warn,
    report,
    url: later.url,
    clock,
    journal,
    apiKeys,
    modes,
    counters,
    settings,
    violations,
    renew,
    scopes,
    usersAreElsewhere,
    tables: new TablesPart({ first: opened.tables, state, warn, renew }),
    state: createStatePart({ opened: opened.state, clock, apiKeys, scopes, report }),
    rules,
    sinceSave: new SinceSave({ journal, atRunTime: rules.atRunTime, redact }),
    mcp: createMcpPart(clock.now, loaded),
    faults: createFaultsPart(renew),
    holds: new Holds({ onSwitched: renew, compile: ({ on, when }) => requestTest({ on, when }, 'hold') }),
    /** The rows of resources, for the control API and tests. */
    resources: createResourceRows({ resources: () => current().resources, state, now: clock.now }),
    recordings: createRecordingsPart(new RepairsInUse(), {
      warn,
      report,
      isPast,
      violations: violations.counts,
      runName: sources.runName,
    }),
    prompts: createPromptsPart({ journal, warn }, current),
    /** Called with each email and text message that a live backend would have sent. */
    onMessage: messages.add,
    announce: messages.emit,
  }
}

/** The state itself already reports, once, that it is unavailable. */
const exceptUnavailable = (report: (error: unknown) => void) => (error: unknown) => {
  if (!isStateUnavailable(error)) report(error)
}

/** Checks live and recorded answers as they are journaled, while a mode has any. */
export function createContractPart({ journal, violations, modes }: Runtime): Part<PreparedConfig> {
  let end = () => {}

  function follow(): void {
    end()
    end = allModes(modes.current()).some(mode => mode !== 'emulate') ? journal.follow(violations.take) : () => {}
  }

  modes.follow(follow)
  return {
    open: follow,
    reset({ scope }) {
      if (scope === undefined) violations.forget()
    },
    close: violations.settle,
  }
}

export const journalPart = ({ journal }: Pick<Runtime, 'journal'>): Part<PreparedConfig> => ({
  reset: ({ scope }) => journal.clear(scope),
})

/** All scopes share the clock, so the reset of one scope leaves it. */
export const clockPart = ({ clock }: Pick<Runtime, 'clock'>): Part<PreparedConfig> => ({
  reset: ({ scope }) => (scope === undefined ? clock.reset() : undefined),
})

/** Faults for the next requests and random faults, across reloads. `renew` rebuilds the request line. */
function createFaultsPart(renew: () => void) {
  const calls = new FaultCalls(renew)
  const chances = createChances()

  /** Throws a ProblemsError for invalid conditions. */
  function addCall(call: FaultCall) {
    if (call.when === undefined) return calls.add(call)
    const { when, fit } = conditionsOn(call.when)
    return calls.add({ ...call, when: { ...when } }, fit)
  }

  return {
    calls,
    chances,
    /** Queues a fault for the next requests. Throws a ProblemsError for invalid conditions. */
    add: (call: FaultCall): { readonly id: string } => addCall(call),
    reset({ scope }: ResetOptions) {
      calls.clear(scope)
      chances.forget(scope)
    },
  }
}
