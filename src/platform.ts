/** Puts the platform together: the parts, and their order. The only file that knows every part. */
import { randomBytes } from 'node:crypto'
import { type Problem, problemsIn } from './check/problem.js'
import { type Clock, createClock } from './core/clock.js'
import { isLoopback } from './core/origins.js'
import { createParts, type Part, type ResetOptions } from './core/part.js'
import { DASHBOARD } from './core/paths.js'
import { createSerialQueue, once } from './core/work.js'
import { urlHost } from './http/listen.js'
import { type Assemblies, createAssemblies } from './platform/assembly.js'
import { type LoadedConfig, loadConfig } from './platform/config/load.js'
import { createDelivery, type Delivery } from './platform/delivery.js'
import { ownSecretsFor } from './platform/own-secrets.js'
import { type OpenPlatform, usableKey } from './platform/platform.js'
import { type PlatformSources, type PreparedConfig, prepareConfig } from './platform/prepare.js'
import { runHostOf } from './platform/run.js'
import { clockPart, createContractPart, createRuntime, journalPart, type Runtime } from './platform/runtime.js'
import { type OpenedState, openSeededState } from './platform/state.js'
import { withoutSecrets } from './redact/index.js'
import type { SharedRun } from './run/shared-run.js'

export type { OpenPlatform as Platform } from './platform/platform.js'
export type { PlatformSources } from './platform/prepare.js'

/**
 * Reads the configuration, unless `read` has it, and everything that it names, opens the state, and then the port.
 * Rejects with a ProblemsError for an invalid configuration or rules, and with a StartError if the port or the state is
 * not available.
 */
export async function openPlatform(sources: PlatformSources, read?: LoadedConfig): Promise<OpenPlatform> {
  const clock = createClock()
  const firstRead = read ?? (await loadConfig(sources))
  // A reload does not change the host.
  const withOwnSecrets = ownSecretsFor(firstRead.config.host)
  const prepare = (loaded: LoadedConfig) =>
    prepareConfig(withOwnSecrets(loaded), { warn: console.error, ...sources, now: clock.now })
  const first = await prepare(firstRead)
  const state = await openSeededState(first, clock.now, sources.warn ?? console.error)
  const { SharedRun } = sources.isSharingRun ? await import('./run/shared-run.js') : {}
  const parts = createPlatformParts(sources, { first, clock, state, prepare, SharedRun })
  try {
    await parts.open()
    return platformOf(parts)
  } catch (error) {
    await parts.stop(0)
    throw error
  }
}

interface Opened {
  readonly first: PreparedConfig
  readonly clock: Clock
  readonly state: OpenedState
  readonly prepare: (loaded: LoadedConfig) => Promise<PreparedConfig>
  /** If tests of other processes can join. */
  readonly SharedRun: typeof SharedRun | undefined
}

// Long because the parts refer to one another.
function createPlatformParts(sources: PlatformSources, { first, clock, state, prepare, SharedRun }: Opened) {
  const { host, port } = first.loaded.config
  const listens = sources.listen !== false
  const current = () => assemblies.current()
  const loaded = () => current().loaded
  const url = once(() => (listens ? `http://${urlHost(host)}:${delivery.port()}` : 'http://localhost'))
  let redact = () => first.redact
  const { warn = console.error, report = console.error } = sources
  const printing = {
    warn: (sentence: string) => warn(String(withoutSecrets(sentence, redact()))),
    report: (error: unknown) => report(withoutSecrets(error, redact())),
  }
  const runtime = createRuntime(
    { loaded: first.loaded, clock, state, tables: first.tables },
    { ...sources, ...printing },
    {
      current,
      url,
      renew: () => delivery.renew(),
      underWay: () => delivery.underWay(),
      port: () => delivery.port() || (listens ? port : 0),
    },
  )
  const assemblies: Assemblies = createAssemblies(first, runtime)
  redact = () => current().redact
  const generatedToken = once(() => (isLoopback(host) ? '' : randomBytes(24).toString('base64url')))
  const controlToken = () => loaded().config.controlToken || generatedToken()
  const sharedRun = SharedRun && new SharedRun(runHostOf({ runtime, current, url }))
  const stopping = new AbortController()
  const delivery = createDelivery({
    line: () => current().line(),
    ...runtime,
    runningTest: sources.currentTest,
    async loadApp() {
      const { loadApp } = await import('./platform/app.js')
      return loadApp(ofApp(), await control())
    },
  })
  const ofApp = () => ({
    ...{ runtime, sharedRun, current, reset, controlToken },
    ...{ stopping: stopping.signal, underWay: delivery.underWay, problems: files.problems },
  })
  const control = once(async () => (await import('./platform/app.js')).loadControl(ofApp()))

  const parts = createParts(orderedParts({ runtime, assemblies, delivery, stopping }))

  async function open(): Promise<void> {
    await parts.open()
    if (listens) await delivery.listen({ host, port })
  }

  // No request may be answered in the middle of a reset.
  const reset = (options?: ResetOptions) => {
    runtime.scopes.beginReset(options?.scope)
    return delivery.traffic.hold(() => parts.reset(options))
  }

  const files = createFilesInUse(async () => parts.reload(await prepare(await loadConfig(sources))))
  const stop = (graceMs = 0) => parts.close(graceMs)
  return {
    runtime,
    sharedRun,
    control,
    assemblies,
    delivery,
    url,
    generatedToken,
    open,
    reset,
    reload: files.reload,
    stop,
  }
}

/** Reloads the files, one reload after the other, since some take longer to read than others; and remembers why they are not in use. */
function createFilesInUse(load: () => Promise<void>) {
  const reloads = createSerialQueue()
  let problems: readonly Problem[] = []
  return {
    /** The mistakes in the files as they are now; empty if they are in use. */
    problems: () => problems,
    reload: () =>
      reloads(async () => {
        try {
          await load()
          problems = []
        } catch (error) {
          problems = problemsIn(error)
          throw error
        }
      }),
  }
}

interface PartsToOrder {
  readonly runtime: Runtime
  readonly assemblies: Assemblies
  readonly delivery: Delivery
  readonly stopping: AbortController
}

/** All parts. Each part comes after the parts that it needs. */
const orderedParts = ({ runtime, assemblies, delivery, stopping }: PartsToOrder): readonly Part<PreparedConfig>[] => [
  runtime.modes,
  runtime.settings,
  assemblies,
  runtime.state,
  // After the state, whose users it has, also on a reset.
  runtime.tables,
  runtime.rules,
  runtime.mcp,
  runtime.faults,
  // Closed after the recordings, which it reads.
  runtime.prompts,
  runtime.recordings,
  createContractPart(runtime),
  journalPart(runtime),
  clockPart(runtime),
  { prepare: async () => delivery.renew },
  delivery,
  // After delivery, because the last part is closed first: requests that wait would otherwise keep the port open.
  runtime.holds,
  { close: () => stopping.abort() },
]

/** What the commands and the test API get: the public interface of the parts. */
function platformOf(parts: ReturnType<typeof createPlatformParts>): OpenPlatform {
  const { runtime, delivery, reset, reload, stop } = parts
  const { current } = parts.assemblies
  const { modes, recordings, faults, clock, journal, violations, onMessage } = runtime
  const url = parts.url()
  return {
    ...{ url, authUrl: url, dashboardUrl: `${url}${DASHBOARD}` },
    clock,
    journal,
    violations,
    faultCalls: faults.calls,
    holds: runtime.holds,
    rules: runtime.rules.rules,
    receipt: recordings.receipt,
    sharedRun: parts.sharedRun,
    endTest: recordings.endTest,
    endRun: ended => recordings.end({ ...ended, isRecorded: request => modes.current().of(request) === 'record' }),
    misses: recordings.misses,
    overBudget: runtime.prompts.overBudget,
    onMiss: recordings.onMiss,
    onMessage,
    reset,
    reload,
    stop,
    ownPathsAt: path => current().ownPathsAt(path),
    forTests: {
      traffic: delivery.traffic,
      handler: delivery.handler,
      operations: async () => (await parts.control()).forTests,
    },
    get anonKey() {
      return current().tokens.anonKey
    },
    get serviceKey() {
      return current().tokens.serviceKey
    },
    get apiKey() {
      return usableKey(current().loaded.config, clock.now())
    },
    get controlToken() {
      return current().loaded.config.controlToken === '' ? parts.generatedToken() : ''
    },
    get mode() {
      return modes.current().mode
    },
    get modes() {
      return modes.current().modes
    },
    get loaded() {
      return current().loaded
    },
    get redact() {
      return current().redact
    },
    get textFiles() {
      return current().files
    },
  }
}
