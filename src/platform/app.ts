/** Serves what is not on the request line: the control API and the dashboard. Loaded with the first request for them. */
import path from 'node:path'
import type { Problem } from '../check/problem.js'
import type { Exchange, Mode } from '../core/exchange.js'
import type { Parts } from '../core/part.js'
import { developmentApiKey, developmentUser, isPublicSecret } from '../core/secrets.js'
import type { ConfigJson } from '../dashboard/operations.js'
import { namedModels } from '../endpoints/options.js'
import { requestsUnderWay } from '../holds/held.js'
import type { UnderWay } from '../holds/operations.js'
import type { App } from '../http/entrance.js'
import { loadReader, type Reader } from '../journal/index.js'
import type { Identify } from '../keys/identify.js'
import { redactionOf } from '../redact/index.js'
import { Repairs } from '../repairs/index.js'
import { answerable, type DraftSource, draftOf, type RuleInput } from '../replies/index.js'
import type { SharedRun } from '../run/shared-run.js'
import { workingEndpoints } from '../supabase/endpoints/index.js'
import { ruleOfPasswords } from '../supabase/passwords.js'
import { version } from '../version.js'
import type { Assembly } from './assembly.js'
import type { Delivery } from './delivery.js'
import { createForTests } from './for-tests.js'
import { sharesLiveKey } from './own-secrets.js'
import { usableKey } from './platform.js'
import type { Runtime } from './runtime.js'
import { mcpPathsOf } from './upstream.js'

interface Dependencies {
  readonly runtime: Runtime
  /** Which tests of other processes can join. */
  readonly sharedRun: SharedRun | undefined
  readonly current: () => Assembly
  readonly reset: Parts['reset']
  /** The credentials for the control API if other machines can reach it. */
  readonly controlToken: () => string
  /** Aborted when the platform stops, which ends open streams. */
  readonly stopping: AbortSignal
  /** Why the files, as they are now, cannot be used. */
  readonly problems: () => readonly Problem[]
  readonly underWay: Delivery['underWay']
}

export type LoadedControl = Awaited<ReturnType<typeof loadControl>>

/** The operations of the control API, for HTTP and for tests in the same process. */
export async function loadControl(dependencies: Dependencies) {
  const { current, runtime } = dependencies
  // Imported one after another, because jest 29 cannot link modules that share others at the same time.
  const { controlOperations } = await import('../control/operations.js')
  const { createReader } = await loadReader()
  const { createSituation } = await import('./situation.js')
  const people = await import('../supabase/people.js')
  const { clock, journal, state, url } = runtime
  const situation = createSituation(dependencies)
  const reader = createReader({
    journal,
    url,
    situation,
    holds: () => holdsIn(requestsUnderWay(dependencies.underWay, runtime.holds)),
    stopping: dependencies.stopping,
  })
  const parts = {
    ...controlParts(dependencies),
    situation,
    reader,
    repairs: repairsOf(dependencies, reader.sendAgain),
    people: people.createOutbox(state.state, clock.now),
    userList: people.createUserList(state.state),
    sessions: people.createOpenSessions(state.state, () => current().loaded.config.auth.jwtExp),
  }
  const { rules } = runtime.rules
  return {
    situation,
    operations: controlOperations(parts),
    /** The rules of a test in this process may use files, as those of the configuration do. */
    forTests: controlOperations({
      ...parts,
      rules: { ...parts.rules, addSent: async (sent, scope) => [await rules.add(sent as RuleInput, { scope })] },
    }),
  }
}

export async function loadApp(dependencies: Dependencies, { situation, operations }: LoadedControl): Promise<App> {
  const { current, runtime } = dependencies
  const { createApp, createControl } = await import('../control/app.js')
  const { createDashboard } = await import('../dashboard/index.js')
  const { apiKeys, clock, modes, state, url, report } = runtime
  const { host } = current().loaded.config
  const keys = {
    identify: (authorization => current().authenticator.identify(authorization)) satisfies Identify,
    token: dependencies.controlToken,
    isServiceKeyPublic: () => isPublicSecret(current().loaded.config.auth.jwtSecret),
  }
  const dashboard = createDashboard({
    config: async isLocal => ({
      ...configJson(current(), modes.current().mode, url()),
      endpoints: listedEndpoints(current()),
      // With it, a neighbour could sign up, and spend the live key as a user.
      ...(!isLocal && sharesLiveKey(modes.loaded().config, host) && { anon_key: '' }),
      clock: clock.state(),
      users: state.origin(),
      ...(isLocal && { ...developmentKeyOf(current(), clock.now()), folders: foldersOf(current()) }),
    }),
    apiKeys,
    now: clock.now,
    identify: keys.identify,
  })
  const control = createControl({ host, ...keys, situation, operations })
  return createApp({ host, control, dashboard, report })
}

/** The parts of the control API that need no further imports. */
function controlParts({ current, runtime, sharedRun, reset, underWay }: Dependencies) {
  const { apiKeys, clock, recordings, holds, modes, url, rules, faults, journal } = runtime
  return {
    sharedRun,
    apiKeys,
    clock,
    journal,
    violations: runtime.violations,
    reset,
    scopes: runtime.scopes,
    misses: recordings.misses,
    receipt: recordings.receipt,
    endTest: recordings.endTest,
    resources: runtime.resources,
    mcp: runtime.mcp.servers,
    tables: runtime.tables.rows,
    sinceSave: runtime.sinceSave,
    accounts: createForTests(runtime, current),
    settings: runtime.settings,
    rules: { ...rules.rules, explain: rules.explain },
    draftRule: (exchange: Exchange, source: DraftSource) => ruleFor(exchange, source, current),
    faults: { ...faults.calls, add: faults.add },
    holds,
    underWay: requestsUnderWay(underWay, holds),
    library: () => current().library(),
    readiness: () => ({ mode: modes.current().mode, url: url(), version: current().loaded.config.version }),
    modes: {
      current: () => ({ mode: modes.current().mode, modes: modes.current().modes }),
      configured: () => current().loaded.config,
      change: modes.switch,
      impossible: modes.impossible,
    },
    async metrics() {
      const { createMetrics } = await import('../journal/metrics.js')
      return createMetrics({ journal, version, mode: () => modes.current().mode, receipt: recordings.receipt })
    },
    document: () => documentOf(current(), url()),
    credentials: async () => credentialsOf(current(), clock.now()),
  }
}

function credentialsOf({ loaded: { config }, tokens: { anonKey, serviceKey } }: Assembly, nowMs: number) {
  const { publishableKey, secretKey } = config.auth
  return { anonKey, serviceKey, apiKey: usableKey(config, nowMs), publishableKey, secretKey, env: config.env }
}

async function ruleFor(exchange: Exchange, source: DraftSource, current: Dependencies['current']) {
  // A path may have a secret in it, and so may what is said about a body.
  const known = await identified(exchange, current)
  const target = await answerable({ ...known, path: source.request.path }, isMcpIn(current))
  const { text } = redactionOf(exchange, current().redact)
  return draftOf(source, typeof target === 'string' ? text(target) : target)
}

/** The holds at which requests wait, by the ids of these. */
const holdsIn = (underWay: UnderWay): ReadonlyMap<string, string> =>
  new Map(underWay.list().flatMap(({ id, hold }) => (hold === null ? [] : [[id, hold] as const])))

const isMcpIn =
  (current: Dependencies['current']) =>
  (path: string): boolean =>
    mcpPathsOf(current().loaded.config)?.(path) ?? false

/** An exchange with the caller of its credential: a path that nobody answers does not ask for it. */
async function identified(exchange: Exchange, current: Dependencies['current']): Promise<Exchange> {
  const { caller, authorization } = exchange
  if (caller.kind !== 'anonymous' || authorization === undefined) return exchange
  try {
    return { ...exchange, caller: await current().authenticator.identify(authorization) }
  } catch {
    return exchange
  }
}

/** What repairs need of the other parts. */
function repairsOf({ current, runtime }: Dependencies, sendAgain: Reader['sendAgain']): Repairs {
  const { journal, modes, recordings, rules } = runtime
  return new Repairs({
    inUse: recordings.repairs,
    journal,
    sendAgain,
    rules: { ...rules.rules, whyNot: rules.whyNot },
    isMcp: isMcpIn(current),
    identified: exchange => identified(exchange, current),
    modeOf: exchange => modes.current().of(exchange),
    whyNotRecord: () => modes.impossible('record'),
    keyOf: async (exchange, ignore) => (await current().recordings()).keyOf(exchange, ignore),
    async isSaved(file) {
      await (await current().recordings()).flush()
      return (await (await current().library()).text(file)) !== undefined
    },
    redact: () => current().redact,
    credentials: async () => credentialsOf(current(), runtime.clock.now()),
  })
}

/** The OpenAPI document of the current configuration, as served at this URL. */
async function documentOf({ loaded, endpoints, ownPaths }: Assembly, url: string) {
  const { openApiOf } = await import('../contract/openapi.js')
  const { version, auth } = loaded.config
  return openApiOf({ url, version, endpoints: [...endpoints, ...ownPaths()], hasGateway: auth.gateway === 'kong' })
}

/** What the dashboard shows about the platform. */
function configJson(
  { loaded: { config }, tokens }: Assembly,
  mode: Mode,
  url: string,
): Omit<ConfigJson, 'clock' | 'users' | 'endpoints'> {
  const { models, users, auth } = config
  const { email, password } = developmentUser
  const isThere = auth.mode === 'local' && users.some(user => user.email === email && user.password === password)
  return {
    url,
    auth_url: url,
    mode,
    version,
    anon_key: tokens.anonKey,
    auth_mode: auth.mode,
    models: namedModels(models),
    ...(isThere && { sign_in: { email, password } }),
    ...(auth.mode === 'local' && { password_rule: ruleOfPasswords(auth) }),
  }
}

/** Everything that clients can request: the documented endpoints, the user's own paths, and those of the auth backend. */
function listedEndpoints({ loaded, endpoints, ownPaths, backend }: Assembly) {
  const { mode, gateway } = loaded.config.auth
  const auth = mode === 'local' ? workingEndpoints(backend, { hasGateway: gateway === 'kong' }) : []
  const own = [...ownPaths(), ...auth].map(({ method, path, access }) => ({ method, path, access }))
  const documented = endpoints.map(({ method, path, access, name, callsModel }) => ({
    ...{ method, path, access },
    ...(name && { name }),
    ...(callsModel && { callsModel }),
  }))
  return [...documented, ...own]
}

const foldersOf = ({ loaded: { dir, config } }: Assembly) => ({
  rules: dir,
  recordings: path.resolve(dir, config.recordings.dir),
})

/** The public development key, if it is configured and works. */
const developmentKeyOf = ({ loaded: { config } }: Assembly, nowMs: number) =>
  usableKey({ apiKeys: config.apiKeys.filter(({ key }) => key === developmentApiKey) }, nowMs) !== '' && {
    development_key: developmentApiKey,
  }
