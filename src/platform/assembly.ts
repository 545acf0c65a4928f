/** Puts together what one reading of the configuration makes of a platform. */
import { askingLive, type LoadedConfig } from '../config/load.js'
import type { Config } from '../config/schema.js'
import type { Violations } from '../contract/violations.js'
import type { Clock } from '../core/clock.js'
import { asksLive, type Endpoint, type Exchange, usesRecordings } from '../core/exchange.js'
import { createOrigins } from '../core/origins.js'
import type { PaceInput } from '../core/pace.js'
import { AUTH } from '../core/paths.js'
import type { Scopes } from '../core/scope.js'
import type { MessageRow, State } from '../core/state.js'
import { onceLoaded } from '../core/work.js'
import { heavyPromptTokens, isHeavyPrompt } from '../endpoints/chat/heavy.js'
import { createEndpoints, createRoutes } from '../endpoints/index.js'
import { type Chances, createFaults, type FaultCalls } from '../faults/index.js'
import type { ApiKeys } from '../keys/api-keys.js'
import { createDoorkeeper, type Doorkeeper, identifyPassed } from '../keys/identify.js'
import { type Counters, createLimits } from '../limits/index.js'
import type { Library } from '../recordings/index.js'
import type { Redact } from '../redact/index.js'
import type { Replies } from '../replies/index.js'
import { liveAuthSurface, localAuthSurface } from '../server/auth-surface.js'
import { createAuthCors, createCors } from '../server/cors.js'
import type { LineParts } from '../server/line.js'
import { platformSurface } from '../server/platform-surface.js'
import type { Backend } from '../supabase/backend.js'
import { createGateway } from '../supabase/gateway.js'
import { createTokenHolders } from '../supabase/token-holders.js'
import type { Tokens } from '../supabase/tokens.js'
import { estimated, promptTokens, type Tokenizer, tokenizerNamed } from '../tokenizer/index.js'
import { type Chosen, type Modes, modesIn } from './modes.js'
import type { Part } from './part.js'
import { readReplies, whenLoaded } from './read-replies.js'
import type { LastingRules } from './rules.js'
import { type Changes, inForce, type Settings } from './settings.js'
import type { PlatformSources } from './sources.js'
import { loadRedact, type Taping } from './taping.js'
import { openAuthProxy, openProxy } from './ways.js'

/** Everything that follows from one reading of the configuration. */
export interface Assembly {
  readonly loaded: LoadedConfig
  /** What the line is put together from at this moment. */
  line(): LineParts
  readonly endpoints: readonly Endpoint[]
  readonly doorkeeper: Doorkeeper
  readonly tokens: () => Promise<Tokens>
  readonly replies: () => Promise<Replies>
  readonly backend: Backend
  /** From the next request on these changes hold, and no others. */
  steer(changes: Changes): void
  /** The recordings, for whoever only looks at them. */
  readonly library: () => Promise<Library>
  /** Loads what requests would otherwise have to wait for, and gives back what is known then: the keys, and the files that rules say. */
  complete(chosen: Chosen): Promise<Completed>
}

export interface Completed {
  readonly tokens: Tokens
  readonly files: readonly string[]
  /** Takes secrets out of what is shown. */
  readonly redact: Redact
}

/** What stays as it is over a reload. */
export interface Lasting {
  readonly state: () => Promise<State>
  readonly clock: Clock
  readonly apiKeys: ApiKeys
  /** What credentials have used of their limits. */
  readonly counters: Counters
  readonly faultCalls: FaultCalls
  readonly rules: () => Promise<LastingRules>
  readonly scopes: Scopes
  readonly chances: Chances
  readonly modes: Modes
  readonly settings: Settings
  readonly taping: Taping
  readonly violations: Violations
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
  /** The address of the platform, once it has one. */
  readonly url: () => string
  readonly announce: (message: MessageRow) => void
}

/** The assembly in force. */
export interface Assemblies extends Part {
  current(): Assembly
  /** What is known once everything is loaded. */
  completed(): Completed
}

export function createAssemblies(loaded: LoadedConfig, sources: PlatformSources, lasting: Lasting): Assemblies {
  let current = assemble(loaded, sources, lasting)
  let completed: Completed | undefined
  return {
    current: () => current,
    completed() {
      if (!completed) throw new Error('The platform is not open yet.')
      return completed
    },
    async open() {
      completed = await current.complete(lasting.modes.current())
    },
    async prepare(next) {
      const assembly = assemble(next, sources, lasting)
      const made = await assembly.complete(lasting.modes.after(next))
      return () => {
        assembly.steer(lasting.settings.changes())
        current = assembly
        completed = made
      }
    },
  }
}

function assemble(loaded: LoadedConfig, sources: PlatformSources, lasting: Lasting): Assembly {
  const { config } = loaded
  const { auth, upstream } = config
  const { state, clock, apiKeys, counters, faultCalls: calls, chances, url, announce } = lasting
  const { now } = clock
  const tokens = onceLoaded(async () => {
    const { createTokens } = await import('../supabase/tokens.js')
    return createTokens({ jwtSecret: auth.jwtSecret, signingKeys: await loadSigningKeys(loaded), now })
  })
  const origins = createOrigins({ host: config.host, origins: config.cors.origins })
  const backend: Backend = { state, tokens, settings: auth, now, url: () => `${url()}${AUTH}`, origins, announce }
  const cors = createCors(origins.local)
  const liveCors = createCors(origins.live)
  const liveAuthCors = createAuthCors(origins.live)
  const replies = onceLoaded(() => readReplies(loaded, sources, lasting.rules))
  const { play: recordings, look } = lasting.taping.open(loaded)
  const proxy = onceLoaded(() => openProxy(config, liveCors.headersFor, lasting.warn))
  const authProxy = onceLoaded(() => openAuthProxy(config, tokens, liveAuthCors.headersFor, () => doorkeeper.forget()))
  // Whoever asks before the table of an encoding is there waits for it.
  let table = estimated
  const readTable = onceLoaded(async () => {
    table = await tokenizerNamed(config.tokenizer)
  })
  const tokenizer: Tokenizer = {
    name: config.tokenizer,
    count: text => table.count(text),
    cut: (text, most) => table.cut(text, most),
    pieces: text => table.pieces(text),
  }
  const loadedReplies = whenLoaded(async () => (await Promise.all([replies(), readTable()]))[0].replies)
  const authRoutes = onceLoaded(async () => {
    const { authEndpoints } = await import('../supabase/endpoints/index.js')
    return createRoutes(authEndpoints(backend))
  })
  const live = auth.mode === 'proxy' ? upstream : undefined
  const doorkeeper = createDoorkeeper({ tokens: createTokenHolders({ tokens, state, live, now }), apiKeys, now })

  /** What of the line can be changed while it runs. It is made anew then: nothing is asked for a request that was not asked before. */
  function changeable(changes: Changes) {
    const { pace, limits, random } = inForce(config, changes)
    const models = config.models.map(model => ({ ...model, pace: ownPace(pace.models, model.id) }))
    const endpoints = createEndpoints({ ...config, models, pace, replies: loadedReplies, tokenizer })
    return {
      endpoints,
      routes: createRoutes(endpoints),
      bodyLimitBytes: limits.bodyBytes,
      limits: createLimits({
        settings: limits,
        maxPromptTokensOf: maxPromptTokensOf(config),
        counters,
        promptTokens: request => promptTokens(request, tokenizer),
      }),
      faults: createFaults({ ...config.faults, random, seed: config.seed, calls, chances }),
    }
  }

  let changed = changeable({})
  const authSurface =
    auth.mode === 'proxy'
      ? liveAuthSurface({ cors: liveAuthCors, origins, proxy: authProxy })
      : localAuthSurface({
          routes: authRoutes,
          gateway: createGateway({ ...auth, kind: auth.gateway, tokens }),
          cors: createAuthCors(origins.local),
        })
  const heavyPrompt = (exchange: Exchange) =>
    isHeavyPrompt(exchange, tokenizer) ? heavyPromptTokens(exchange, tokenizer) : undefined

  /** The platform's own paths, as the modes are that hold now. */
  function platformNow() {
    const chosen = lasting.modes.current()
    const identify = (exchange: Exchange) =>
      upstream.credentials === 'pass' && asksLive(chosen.of(exchange))
        ? identifyPassed(exchange.authorization)
        : doorkeeper.identify(exchange.authorization)
    const local = { ...changed, identify, cors }
    if (modesIn(chosen).every(mode => mode === 'emulate')) return platformSurface(local)
    return platformSurface(local, {
      modeOf: chosen.of,
      onMiss: config.recordings.onMiss,
      errors: upstream.errors,
      passed: lasting.taping.passed,
      faultByRule: exchange => loadedReplies.faultFor(exchange),
      ...{ recordings, origins, liveCors, proxy },
    })
  }

  return {
    loaded,
    endpoints: changed.endpoints,
    doorkeeper,
    tokens,
    replies: async () => (await replies()).replies,
    backend,
    library: async () => (await look()).library,
    async complete(chosen) {
      const needed = [
        askingLive({ ...config, ...chosen }).length > 0 && proxy(),
        modesIn(chosen).some(usesRecordings) && recordings().then(({ ready }) => ready()),
        auth.mode === 'proxy' && authProxy(),
      ]
      const [found, { files }, redact] = await Promise.all([
        tokens(),
        replies(),
        loadRedact(config),
        authRoutes(),
        readTable(),
        ...needed,
      ])
      return { tokens: found, files, redact }
    },
    line: () => ({
      platform: platformNow(),
      auth: authSurface,
      scopes: lasting.scopes,
      limits: changed.limits,
      faults: changed.faults,
      contractHeaders: config.contract.check ? lasting.violations.headers : undefined,
      heavyPrompt,
    }),
    steer(changes) {
      changed = changeable(changes)
    },
  }
}

/** Nothing where a model has none of its own. */
const ownPace = (paces: Readonly<Record<string, PaceInput>>, id: string) =>
  Object.hasOwn(paces, id) ? paces[id] : undefined

/** Most configurations name no keys, and what reads them is then not loaded. */
async function loadSigningKeys(loaded: LoadedConfig) {
  if (loaded.config.auth.signingKeys === '') return undefined
  const { signingKeysOf } = await import('../config/signing-keys.js')
  return signingKeysOf(loaded)
}

/** The limits of those models that have their own. */
const maxPromptTokensOf = ({ models }: Config): ReadonlyMap<string, number> =>
  new Map(models.flatMap(({ id, maxPromptTokens: most }) => (most === undefined ? [] : [[id, most]])))
