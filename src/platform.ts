/** Puts the platform together: the parts, and their order. The only file that knows every part. */
import { randomBytes } from 'node:crypto'
import { type LoadedConfig, loadConfig } from './config/load.js'
import { isLoopback } from './core/origins.js'
import { createSerialQueue, once } from './core/work.js'
import { urlHost } from './http/address.js'
import { type Assemblies, createAssemblies } from './platform/assembly.js'
import { createDelivery, type Delivery } from './platform/delivery.js'
import { openForTests, platformOf } from './platform/open-platform.js'
import { createParts, type Part, type PlatformSources, type ResetOptions } from './platform/part.js'
import type { OpenPlatform } from './platform/platform.js'
import { clockPart, createContractPart, createRuntime, journalPart, type Runtime } from './platform/runtime.js'

export type { PlatformSources } from './platform/part.js'
export type { OpenPlatform as Platform } from './platform/platform.js'

/**
 * Reads the configuration, unless `read` has it, opens the port, and only then loads what not every request needs.
 * Rejects with a ProblemsError for an invalid configuration or rules, and with a StartError if the port or the state is
 * not available.
 */
export async function openPlatform(sources: PlatformSources, read?: LoadedConfig): Promise<OpenPlatform> {
  const parts = createPlatformParts(sources, read ?? (await loadConfig(sources)))
  const { delivery, assemblies } = parts
  const { host, port } = assemblies.current().loaded.config
  if (sources.listen !== false) await delivery.listen({ host, port })
  try {
    await parts.ready()
    return platformOf(parts)
  } catch (error) {
    await parts.stop(0)
    throw error
  }
}

function createPlatformParts(sources: PlatformSources, first: LoadedConfig) {
  const { host } = first.config
  const current = () => assemblies.current()
  const loaded = () => current().loaded
  const url = once(() => (sources.listen === false ? 'http://localhost' : `http://${urlHost(host)}:${delivery.port()}`))
  const runtime = createRuntime(first, sources, {
    ...{ current, url, redact: () => assemblies.completed().redact },
    ...{ port: () => delivery.port(), renew: () => delivery.renew() },
  })
  const assemblies: Assemblies = createAssemblies(first, sources, runtime)
  const generatedToken = once(() => (isLoopback(host) ? '' : randomBytes(24).toString('base64url')))
  const controlToken = () => loaded().config.controlToken || generatedToken()
  const forTests = openForTests(runtime, current)
  const ready = once(() => parts.open())
  const stopping = new AbortController()
  const delivery = createDelivery({
    ...{ line: () => current().line(), ...runtime },
    async loadApp() {
      await ready()
      const { loadApp } = await import('./platform/app.js')
      const { signal } = stopping
      return loadApp({ runtime, forTests, current, reset, controlToken, stopping: signal })
    },
  })

  const parts = createParts(orderedParts({ runtime, assemblies, delivery, stopping }))

  // No request may be answered in the middle of a reset.
  const reset = (options?: ResetOptions) => {
    runtime.scopes.beginReset(options?.scope)
    return delivery.traffic.hold(() => parts.reset(options))
  }

  // Reading takes longer for some files than for others, so an earlier reload could otherwise replace a later one.
  const reloads = createSerialQueue()
  const reload = () => reloads(async () => parts.reload(await loadConfig(sources)))
  const stop = (graceMs = 0) => parts.close(graceMs)
  return { runtime, forTests, assemblies, delivery, url, generatedToken, ready, reset, reload, stop }
}

interface PartsToOrder {
  readonly runtime: Runtime
  readonly assemblies: Assemblies
  readonly delivery: Delivery
  readonly stopping: AbortController
}

/** All parts. Each part comes after the parts that it needs. */
const orderedParts = ({ runtime, assemblies, delivery, stopping }: PartsToOrder): readonly Part[] => [
  runtime.modes,
  runtime.settings,
  assemblies,
  runtime.state,
  runtime.rules,
  runtime.mcp,
  runtime.faults,
  runtime.recordings,
  createContractPart(runtime),
  journalPart(runtime),
  clockPart(runtime),
  { prepare: async () => delivery.renew },
  delivery,
  { close: () => stopping.abort() },
]
