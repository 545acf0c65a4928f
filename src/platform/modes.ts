/** Where answers come from: as configured, or as switched at run time. */
import { isDeepStrictEqual } from 'node:util'
import { check } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import type { Mode } from '../core/exchange.js'
import { allowsAllPages } from '../core/origins.js'
import { createListeners, type ResetOptions } from '../core/part.js'
import { isOwnAddress } from '../http/listen.js'
import { createModeOf, type ModeOf, type ModesByEndpoint, modeSwitch } from '../http/modes.js'
import { type LoadedConfig, mistakesWithoutLive } from './config/load.js'
import { hasPublicSecret, sharesLiveKey } from './own-secrets.js'
import type { PreparedConfig } from './prepare.js'

export interface ModeSettings {
  readonly mode: Mode
  readonly modes: ModesByEndpoint
  readonly of: ModeOf
}

const modesOf = ({ config: { mode, modes } }: Pick<LoadedConfig, 'config'>) => ({ mode, modes })

const withModes = (loaded: LoadedConfig, { mode, modes }: Pick<ModeSettings, 'mode' | 'modes'>): LoadedConfig => ({
  ...loaded,
  config: { ...loaded.config, mode, modes },
})

/** Throws a ProblemsError for unknown modes, which code may pass as well as a request. */
function requireModes(settings: Pick<ModeSettings, 'mode' | 'modes'>): void {
  const checked = check(modeSwitch, settings)
  if ('value' in checked) return
  throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'mode', sentence })))
}

function modeSettingsOf(loaded: Pick<LoadedConfig, 'config'>): ModeSettings {
  const { mode, modes } = modesOf(loaded)
  return { mode, modes, of: createModeOf(mode, modes) }
}

export const allModes = ({ mode, modes }: ModeSettings) => [mode, ...Object.values(modes)]

const sameModes = (one: LoadedConfig, other: LoadedConfig) => isDeepStrictEqual(modesOf(one), modesOf(other))

/** Throws a ProblemsError if the live platform is this one, listening on `port`, because requests would loop. */
function refuseSelf({ config, placeOf }: LoadedConfig, port: number): void {
  const { auth, host, upstream } = config
  const refuse = (option: 'baseUrl' | 'authUrl', advice: string) => {
    if (!isOwnAddress(upstream[option], host, port)) return
    const sentence = `${upstream[option]} is this platform itself. ${advice}`
    throw new ProblemsError([{ ...placeOf(['upstream', option]), sentence }])
  }
  if (mistakesWithoutLive(config).length > 0) refuse('baseUrl', 'Name the live one with --upstream.')
  if (auth.mode === 'proxy') refuse('authUrl', 'Name the live auth backend, or leave auth.mode at local.')
}

/** Throws a ProblemsError if these modes would let everybody who reaches `host` spend the live key. */
function refusePublicSecrets({ config }: LoadedConfig, host: string): void {
  if (!sharesLiveKey(config, host) || !hasPublicSecret(config)) return
  const sentence = `Other machines can reach ${host}, and could spend the live key with the public development secrets. Start with this mode, which makes new secrets, or name your own: apiKeys, auth.jwtSecret, auth.publishableKey and auth.secretKey.`
  throw new ProblemsError([{ origin: 'mode', sentence }])
}

interface Where {
  readonly host: string
  readonly port: number
}

/**
 * Throws a ProblemsError for modes that need a live platform if none is configured, if it is this one, or if everybody
 * could use it.
 */
function requirePossible(switched: LoadedConfig, { host, port }: Where): void {
  const missing = switched.config.upstream.baseUrl === '' ? mistakesWithoutLive(switched.config) : []
  if (missing.length > 0) throw new ProblemsError(missing.map(({ sentence }) => ({ origin: 'mode', sentence })))
  refuseSelf(switched, port)
  refusePublicSecrets(switched, host)
}

const openToAllWarning =
  'cors.origins is "*": every web page that is opened in a browser here can use the live platform with the live credentials. List the origins of your own pages instead.'

/** Whether a configuration lets every page use the live platform. */
const isOpenToAll = ({ config }: LoadedConfig) =>
  allowsAllPages(config.cors.origins) && (mistakesWithoutLive(config).length > 0 || config.auth.mode === 'proxy')

/** Why these modes cannot work; `undefined` if they can. */
function impossible(switched: LoadedConfig, where: Where): readonly string[] | undefined {
  try {
    requirePossible(switched, where)
    return undefined
  } catch (error) {
    if (error instanceof ProblemsError) return error.problems.map(({ sentence }) => sentence)
    throw error
  }
}

interface Dependencies {
  readonly loaded: () => LoadedConfig
  readonly warn: (sentence: string) => void
  /** The port that the platform listens on; 0 without one. */
  readonly port: () => number
}

export function createModes(first: LoadedConfig, { loaded, warn, port }: Dependencies) {
  const listeners = createListeners()
  let chosen = modeSettingsOf(first)
  // A reload does not change the host.
  const { host } = first.config
  const where = () => ({ host, port: port() })
  const current = () => chosen
  function change(next: ModeSettings): void {
    chosen = next
    listeners.emit()
  }
  const running = () => withModes(loaded(), current())
  /** The modes after a reload. A switch at run time survives it, unless the configured modes have changed. */
  const after = (next: LoadedConfig) => (sameModes(next, loaded()) ? current() : modeSettingsOf(next))
  const warnIfOpenToAll = (loaded: LoadedConfig) => isOpenToAll(loaded) && warn(openToAllWarning)

  return {
    current,
    /** Calls the listener whenever modes change. */
    follow: listeners.add,
    after,
    loaded: running,
    /** Throws a ProblemsError for modes that cannot work. */
    switch(mode: Mode, modes: ModesByEndpoint = {}): void {
      requireModes({ mode, modes })
      const before = running()
      const switched = withModes(loaded(), { mode, modes })
      requirePossible(switched, where())
      change(modeSettingsOf(switched))
      if (!sameModes(switched, before)) warnIfOpenToAll(switched)
    },
    /** Why a mode cannot work for all endpoints; `undefined` if it can. */
    impossible: (mode: Mode) => impossible(withModes(loaded(), { mode, modes: {} }), where()),
    async open() {
      refuseSelf(loaded(), port())
      warnIfOpenToAll(running())
    },
    async prepare({ loaded: next }: PreparedConfig) {
      const nextInForce = withModes(next, after(next))
      refuseSelf(nextInForce, port())
      refusePublicSecrets(nextInForce, host)
      const wasOpen = isOpenToAll(running())
      return () => {
        // The mode may have been switched since.
        change(after(next))
        if (!wasOpen) warnIfOpenToAll(withModes(next, current()))
      }
    },
    reset({ scope }: ResetOptions) {
      if (scope === undefined) change(modeSettingsOf(loaded()))
    },
  }
}
