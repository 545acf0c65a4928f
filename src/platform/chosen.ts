/** Which modes are in force: those of the configuration, or those that somebody has switched to since. */
import { isDeepStrictEqual } from 'node:util'
import { check } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import { askingLive, type LoadedConfig } from '../config/load.js'
import { modeSwitch } from '../config/schema.js'
import type { Mode } from '../core/exchange.js'
import { isOpen } from '../core/origins.js'
import { isOwnAddress } from '../server/address.js'
import { type ModeOf, type ModesByEndpoint, modesFrom } from '../server/modes.js'

export interface Chosen {
  readonly mode: Mode
  readonly modes: ModesByEndpoint
  readonly of: ModeOf
}

const modesOf = ({ config: { mode, modes } }: Pick<LoadedConfig, 'config'>) => ({ mode, modes })

/** The configuration as if these were its modes. */
export const withModes = (loaded: LoadedConfig, { mode, modes }: Pick<Chosen, 'mode' | 'modes'>): LoadedConfig => ({
  ...loaded,
  config: { ...loaded.config, mode, modes },
})

/** What code asks for is as unchecked as what comes over the wire. Throws a ProblemsError for modes that there are not. */
export function requireModes(asked: Pick<Chosen, 'mode' | 'modes'>): void {
  const checked = check(modeSwitch, asked)
  if ('value' in checked) return
  throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'mode', sentence })))
}

export function chosenIn(loaded: Pick<LoadedConfig, 'config'>): Chosen {
  const { mode, modes } = modesOf(loaded)
  return { mode, modes, of: modesFrom(mode, modes) }
}

export const modesIn = ({ mode, modes }: Chosen) => [mode, ...Object.values(modes)]

/** Whether two readings of the configuration say the same of modes. */
export const sameModes = (one: LoadedConfig, other: LoadedConfig) => isDeepStrictEqual(modesOf(one), modesOf(other))

/** Throws a ProblemsError when the live platform would be the one that listens on `port` here: each request would ask itself. */
export function refuseSelf({ config, originOf }: LoadedConfig, port: number): void {
  const { auth, host, upstream } = config
  const refuse = (option: 'baseUrl' | 'authUrl', advice: string) => {
    if (!isOwnAddress(upstream[option], host, port)) return
    const sentence = `${upstream[option]} is this platform itself. ${advice}`
    throw new ProblemsError([{ origin: originOf(['upstream', option]), sentence }])
  }
  if (askingLive(config).length > 0) refuse('baseUrl', 'Name the live one with --upstream.')
  if (auth.mode === 'proxy') refuse('authUrl', 'Name the live auth backend, or leave auth.mode at local.')
}

/** Throws a ProblemsError for modes that need a live platform where none is named, or where it is this one. */
export function requirePossible(switched: LoadedConfig, port: number): void {
  const missing = switched.config.upstream.baseUrl === '' ? askingLive(switched.config) : []
  if (missing.length > 0) throw new ProblemsError(missing.map(({ sentence }) => ({ origin: 'mode', sentence })))
  refuseSelf(switched, port)
}

/** What there is to say of a configuration that lets every page use the live platform. */
export function openToAll({ config }: LoadedConfig): string | undefined {
  const goesLive = askingLive(config).length > 0 || config.auth.mode === 'proxy'
  if (!goesLive || !isOpen(config.cors.origins)) return undefined
  return 'cors.origins is "*": every web page that is opened in a browser here can use the live platform with the live credentials. List the origins of your own pages instead.'
}

/** Why these modes cannot work; nothing when they can. */
export function impossible(switched: LoadedConfig, port: number): readonly string[] | undefined {
  try {
    requirePossible(switched, port)
    return undefined
  } catch (error) {
    if (error instanceof ProblemsError) return error.problems.map(({ sentence }) => sentence)
    throw error
  }
}
