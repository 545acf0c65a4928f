/** What answers beside the request line: the control API and the dashboard. Loaded with the first request for them. */
import { isPublicSecret } from '../core/development.js'
import { type Journal, loadReader } from '../journal/index.js'
import type { Identify } from '../keys/identify.js'
import { loadExposition, type Meter } from '../metrics/index.js'
import type { App, Prototypes } from '../server/entrance.js'
import type { MintedToken, TokenRequest } from '../supabase/operations.js'
import { createPeople } from '../supabase/people.js'
import { version } from '../version.js'
import type { Assembly, Lasting } from './assembly.js'
import { configJson } from './dashboard-facts.js'
import { createDrafts } from './drafts.js'
import { usableKey } from './environment.js'
import type { FaultsPart } from './faults.js'
import type { ForTests } from './for-tests.js'
import type { Parts } from './part.js'
import type { RulesPart } from './rules.js'
import type { PlatformSources } from './sources.js'
import type { StatePart } from './state.js'

interface Surroundings {
  readonly current: () => Assembly
  readonly lasting: Lasting
  readonly state: StatePart
  readonly rules: RulesPart
  readonly faults: FaultsPart
  readonly journal: Journal
  readonly meter: Meter
  readonly sources: PlatformSources
  readonly forTests: ForTests
  readonly mintToken: (wish: TokenRequest) => Promise<MintedToken>
  readonly reset: Parts['reset']
  /** What opens the control API where others can reach it. */
  readonly controlToken: () => string
  /** Ends the streams that last as long as the platform does. */
  readonly stopping: AbortSignal
}

export async function loadApp(prototypes: Prototypes, surroundings: Surroundings): Promise<App> {
  const { current, lasting, state, rules, faults, journal, meter, sources, mintToken } = surroundings
  const { apiKeys, clock, taping, violations, settings, modes, url } = lasting
  const [{ createApp }, { createControl }, { createDashboard }, { createReader }, auth] = await Promise.all([
    import('../server/app.js'),
    import('../server/control.js'),
    import('../dashboard/index.js'),
    loadReader(),
    import('../supabase/open-sessions.js'),
  ])
  const identify: Identify = authorization => current().doorkeeper.identify(authorization)
  const { config } = current().loaded
  const keys = {
    identify,
    token: surroundings.controlToken,
    isServicePublic: () => isPublicSecret(current().loaded.config.auth.jwtSecret),
  }
  const people = createPeople(state.get)
  const dashboard = createDashboard({
    config: () => configJson(current(), modes.current().mode, url()),
    ...{ apiKeys, now: clock.now, identify, keys, people },
  })
  const control = createControl({
    ...{
      ...keys,
      people,
      rules: rules.rules,
      steering: settings,
      clock,
      journal,
      host: config.host,
      mintToken,
      violations,
    },
    ...taping,
    reader: createReader({ journal, url, stopping: surroundings.stopping }),
    readiness: () => ({ mode: modes.current().mode, url: url(), version: current().loaded.config.version }),
    faults: { ...faults.calls, add: faults.add },
    reset: surroundings.reset,
    modes: {
      current: () => ({ mode: modes.current().mode, modes: modes.current().modes }),
      configured: () => current().loaded.config,
      change: modes.switch,
      impossible: modes.impossible,
    },
    ...{ exportState: state.export, importState: state.import },
    metrics: async () => {
      const { createExposition } = await loadExposition()
      return createExposition(meter, () => ({
        version,
        mode: modes.current().mode,
        journal: { kept: journal.count(), passedOver: journal.passedOver() },
        receipt: taping.receipt(),
      }))
    },
    document: async () => {
      const { openApiOf } = await import('./openapi/document.js')
      return openApiOf(modes.loaded().config, { url: url() })
    },
    accounts: surroundings.forTests,
    async credentials() {
      const { loaded, tokens } = current()
      const { anonKey, serviceKey } = await tokens()
      const { publishableKey, secretKey } = loaded.config.auth
      return { anonKey, serviceKey, apiKey: usableKey(loaded.config, clock.now()), publishableKey, secretKey }
    },
    library: () => current().library(),
    sessions: auth.createOpenSessions(state.get, () => current().loaded.config.auth.jwtExp),
    drafts: createDrafts(current, sources),
  })
  return createApp({ prototypes, host: config.host, control, dashboard, report: lasting.report })
}
