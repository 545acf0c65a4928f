/** Puts the platform together: the only file that knows every part. */
import { createApiKeys } from './auth/api-keys.js'
import { createIdentify } from './auth/identify.js'
import type { Tokens } from './auth/tokens.js'
import { type ConfigSources, type LoadedConfig, loadConfig, replyFilesOf } from './config/load.js'
import type { Config } from './config/schema.js'
import type { Endpoint, Mode } from './core/exchange.js'
import { ProblemsError } from './core/problem.js'
import { DASHBOARD, isAuth } from './core/reserved.js'
import { StartError } from './core/start-error.js'
import { createEndpoints, createRoutes } from './endpoints/index.js'
import { createJournal, type Journal } from './journal/index.js'
import { createReplies, loadRules, type Replies, type RuleInput, rulesFromCode } from './replies/index.js'
import type { App, Prototypes } from './server/app.js'
import { type Cors, createCors } from './server/cors.js'
import { createLine, type LineParts } from './server/handle.js'
import { listen } from './server/listen.js'
import { createPacer } from './streaming/pacer.js'

export interface PlatformSources extends ConfigSources {
  /** Rules written in code; they stand before those of the files. */
  readonly rules?: readonly RuleInput[]
  /** Told of errors that are ours, not a client's. */
  readonly report?: (error: unknown) => void
}

/** A platform that answers. */
export interface Platform {
  /** The `base_url` of the platform, without a slash at its end. OpenAI's clients take `${url}/v1`. */
  readonly url: string
  /** What an app hands to Supabase's `createClient`; the client adds `/auth/v1`. */
  readonly authUrl: string
  readonly dashboardUrl: string
  readonly anonKey: string
  readonly serviceKey: string
  /** The first configured API key that works; empty when there is none. */
  readonly apiKey: string
  /** Where answers come from. */
  readonly mode: Mode
  /** The configuration in force. */
  readonly loaded: LoadedConfig
  readonly journal: Journal
  /** Reads everything anew. Rejects with a ProblemsError and goes on as before when something is wrong with it. */
  reload(): Promise<void>
  /** Lets open streams end for `graceMs`, then cuts them. */
  stop(graceMs?: number): Promise<void>
}

/** Everything that follows from one reading of the configuration. */
interface Assembly {
  readonly loaded: LoadedConfig
  readonly line: LineParts
  readonly endpoints: readonly Endpoint[]
  /** Loads what requests would otherwise have to wait for, and gives back the keys. */
  complete(): Promise<Tokens>
}

/**
 * Reads the configuration, opens the port, and only then loads what not every request needs.
 * Rejects with a ProblemsError for bad configuration or rules, with a StartError for a port that cannot be had.
 */
export async function openPlatform(sources: PlatformSources): Promise<Platform> {
  const report = sources.report ?? console.error
  const journal = createJournal()
  let current = assemble(loadConfig(sources), sources)

  const { host, port: wantedPort } = current.loaded.config
  const line = createLine(() => current.line, { journal, pacer: createPacer(), report })
  let app: Promise<App> | undefined
  const listener = await listen(
    {
      line,
      rest(request, response, prototypes) {
        app ??= loadApp(prototypes)
        app
          .then(answer => answer(request, response))
          .catch(error => {
            report(error)
            response.destroy()
          })
      },
    },
    { host, port: wantedPort },
  ).catch(error => {
    throw startError(error, host, wantedPort)
  })

  const url = `http://${urlHost(host)}:${listener.port}`
  const dashboardUrl = `${url}${DASHBOARD}`

  async function loadApp(prototypes: Prototypes): Promise<App> {
    const [{ createApp }, { createDashboard }] = await Promise.all([
      import('./server/app.js'),
      import('./dashboard/index.js'),
    ])
    const dashboard = createDashboard(() => ({
      url,
      authUrl: url,
      mode: current.line.mode,
      models: current.loaded.config.models.map(({ id }) => id),
      endpoints: current.endpoints.filter(({ path }) => !isAuth(path)),
    }))
    const readiness = () => ({ mode: current.line.mode, url, version: current.loaded.config.version })
    return createApp({ prototypes, host, readiness, dashboard, report })
  }

  try {
    refuseSelf(current.loaded, listener.port)
    let tokens = await current.complete()
    return {
      url,
      authUrl: url,
      dashboardUrl,
      journal,
      get anonKey() {
        return tokens.anonKey
      },
      get serviceKey() {
        return tokens.serviceKey
      },
      get apiKey() {
        return current.loaded.config.apiKeys.find(isUsable)?.key ?? ''
      },
      get mode() {
        return current.line.mode
      },
      get loaded() {
        return current.loaded
      },
      async reload() {
        const next = assemble(loadConfig(sources), sources)
        refuseSelf(next.loaded, listener.port)
        tokens = await next.complete()
        current = next
      },
      stop: (graceMs = 0) => listener.stop(graceMs),
    }
  } catch (error) {
    await listener.stop(0)
    throw error
  }
}

function assemble(loaded: LoadedConfig, sources: PlatformSources): Assembly {
  const { config } = loaded
  const tokens = once(async () => {
    const { createTokens } = await import('./auth/tokens.js')
    return createTokens({ jwtSecret: config.auth.jwtSecret })
  })
  const cors = createCors(config.cors.origins)
  const replies = once(() => readReplies(loaded, sources))
  const proxy = once(() => openProxy(config, cors.headersFor))
  const endpoints = createEndpoints({
    ...config,
    replies: whenLoaded(replies),
    jwks: async () => (await tokens()).jwks,
  })
  return {
    loaded,
    endpoints,
    async complete() {
      const [found] = await Promise.all([tokens(), replies(), config.mode === 'proxy' && proxy()])
      return found
    },
    line: {
      mode: config.mode,
      routes: createRoutes(endpoints),
      identify: createIdentify({ tokens, apiKeys: createApiKeys(config.apiKeys) }),
      cors,
      bodyLimitBytes: config.limits.bodyBytes,
      proxy,
    },
  }
}

const isUsable = ({ revoked, expiresAt }: { revoked: boolean; expiresAt?: string | undefined }) =>
  !revoked && (expiresAt === undefined || Date.parse(expiresAt) > Date.now())

async function readReplies(loaded: LoadedConfig, { rules: inCode = [], file: wanted }: PlatformSources) {
  const { pace, seed } = loaded.config
  const files = replyFilesOf(loaded)
  // Whoever asks for no file at all gets nothing from the disk by surprise.
  const unasked = wanted === false && loaded.originOf(['replies']) === 'default'
  const patterns = unasked ? [] : files.patterns
  const fromFiles = await loadRules({ ...files, patterns, pace })
  return createReplies({ rules: [...rulesFromCode(inCode, pace), ...fromFiles], seed, pace })
}

async function openProxy({ upstream }: Config, corsFor: Cors['headersFor']) {
  const { createProxy } = await import('./server/proxy.js')
  return createProxy({ ...upstream, corsFor })
}

/** Replies that are asked before their files are read wait; afterwards nothing stands in between. */
function whenLoaded(load: () => Promise<Replies>): Replies {
  let loaded: Replies | undefined
  const wait = async () => {
    loaded = await load()
    return loaded
  }
  return { answer: request => loaded?.answer(request) ?? wait().then(replies => replies.answer(request)) }
}

/** Calls `make` the first time only. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Throws a ProblemsError when the live platform would be the one that listens on `port` here: each request would ask itself. */
function refuseSelf({ config: { mode, host, upstream }, originOf }: LoadedConfig, port: number): void {
  if (mode !== 'proxy') return
  const url = new URL(upstream.baseUrl)
  const ownName = /^(localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\])$/.test(url.hostname) || url.hostname === host
  if (!ownName || Number(url.port || 80) !== port) return
  const sentence = `${upstream.baseUrl} is this platform itself. Name the live one with --upstream.`
  throw new ProblemsError([{ origin: originOf(['upstream', 'baseUrl']), sentence }])
}

/** How to reach a server that listens on `host` from this machine. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

function startError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartError(
        `Port ${port} is already in use. Stop what uses it, or start with --port 0 for any free port.`,
      )
    case 'EACCES':
      return new StartError(`Port ${port} may not be used by this user. Start with --port and a number from 1024.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartError(`${host} is not an address of this machine. Start with --host 127.0.0.1.`)
    default:
      return error
  }
}
