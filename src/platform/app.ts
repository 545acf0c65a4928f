/** What answers beside the request line: the control API and the dashboard. Loaded with the first request for them. */
import type { Mode } from '../core/exchange.js'
import { developmentApiKey, developmentUser, isPublicSecret } from '../core/secrets.js'
import type { ConfigJson } from '../dashboard/operations.js'
import type { App, Prototypes } from '../http/entrance.js'
import { loadReader } from '../journal/index.js'
import type { Identify } from '../keys/identify.js'
import { loadExposition } from '../metrics/index.js'
import type { MintedToken, TokenRequest } from '../supabase/operations.js'
import { ruleOfPasswords } from '../supabase/passwords.js'
import { createOutbox } from '../supabase/people.js'
import { version } from '../version.js'
import type { Assembly } from './assembly.js'
import type { ForTests } from './for-tests.js'
import type { Lasting } from './lasting.js'
import type { Parts, PlatformSources } from './part.js'
import { usableKey } from './platform.js'
import { createDrafts, createRuleEditing } from './rule-editing.js'

interface Surroundings {
  readonly sources: PlatformSources
  readonly lasting: Lasting
  readonly current: () => Assembly
  readonly forTests: ForTests
  readonly mintToken: (request: TokenRequest) => Promise<MintedToken>
  readonly reset: Parts['reset']
  /** What opens the control API where others can reach it. */
  readonly controlToken: () => string
  readonly reload: () => Promise<void>
  /** Ends the streams that last as long as the platform does. */
  readonly stopping: AbortSignal
}

/** Long because it only joins: each line hands one ability of the platform to the control API or the dashboard. */
export async function loadApp(prototypes: Prototypes, surroundings: Surroundings): Promise<App> {
  const { current, lasting, sources, mintToken } = surroundings
  const { apiKeys, clock, recordings, violations, settings, modes, url, state, rules, faults, journal, meter } = lasting
  // One after another: under jest 29, modules that share others cannot be linked at the same time.
  const { createApp } = await import('../http/app.js')
  const { createControl } = await import('../http/control.js')
  const { createDashboard } = await import('../dashboard/index.js')
  const { createReader } = await loadReader()
  const auth = await import('../supabase/people.js')
  const identify: Identify = authorization => current().doorkeeper.identify(authorization)
  const { config } = current().loaded
  const keys = {
    identify,
    token: surroundings.controlToken,
    isServicePublic: () => isPublicSecret(current().loaded.config.auth.jwtSecret),
  }
  const drafts = createDrafts({ current, sources, reload: surroundings.reload })
  const dashboard = createDashboard({
    config: async isLocal => ({
      ...(await configJson(current(), modes.current().mode, url())),
      users: state.origin(),
      ...(isLocal && developmentKeyIn(current(), clock.now())),
    }),
    ...{ apiKeys, now: clock.now, identify },
  })
  const control = createControl({
    ...{
      ...keys,
      people: createOutbox(state.get),
      apiKeys,
      rules: createRuleEditing({ current, sources, drafts, reload: surroundings.reload }, rules),
      steering: settings,
      clock,
      journal,
      host: config.host,
      mintToken,
      violations,
    },
    ...{ misses: recordings.misses, receipt: recordings.receipt },
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
        receipt: recordings.receipt(),
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
    userList: auth.createUserList(state.get),
    sessions: auth.createOpenSessions(state.get, () => current().loaded.config.auth.jwtExp),
    drafts,
  })
  return createApp({ prototypes, host: config.host, control, dashboard, report: lasting.report })
}

/** What the dashboard's page gets to know of the platform. */
export async function configJson(
  { loaded: { config }, endpoints, tokens }: Assembly,
  mode: Mode,
  url: string,
): Promise<Omit<ConfigJson, 'users'>> {
  const { models, users, auth } = config
  const { email, password } = developmentUser
  const isThere = auth.mode === 'local' && users.some(user => user.email === email && user.password === password)
  return {
    ...{ url, auth_url: url, mode, version },
    anon_key: (await tokens()).anonKey,
    auth_mode: auth.mode,
    models: models.map(({ id }) => id),
    endpoints: endpoints.map(({ method, path, access }) => ({ method, path, access })),
    ...(isThere && { sign_in: { email, password } }),
    ...(auth.mode === 'local' && { password_rule: ruleOfPasswords(auth) }),
  }
}

/** The public development key, if it is configured and works. */
const developmentKeyIn = ({ loaded: { config } }: Assembly, nowMs: number) =>
  usableKey({ apiKeys: config.apiKeys.filter(({ key }) => key === developmentApiKey) }, nowMs) !== '' && {
    development_key: developmentApiKey,
  }
