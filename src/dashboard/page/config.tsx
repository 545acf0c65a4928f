/** The platform's configuration, shared by all parts of the page. */
import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import type { ConfigJson } from '../operations.js'

const Config = createContext<ConfigJson | undefined>(undefined)

export const ConfigProvider = Config.Provider

export function useConfig(): ConfigJson {
  const config = useContext(Config)
  if (!config) throw new Error('useConfig was called before the configuration was loaded.')
  return config
}

/** The time in milliseconds on Standin's clock, which may be adjusted: it decides when tokens, keys, sessions and bans expire. */
export function useNow(): number {
  const { now, frozen, offsetMs } = useConfig().clock
  return frozen ? Date.parse(now) : Date.now() + offsetMs
}

const CHANGED = 'standin-config-changed'

/** Reloads the configuration in every part of the page. */
export const configHasChanged = () => void dispatchEvent(new Event(CHANGED))

/** Calls `reload` whenever something on the page has changed the platform. */
export function useConfigChanges(reload: () => void): void {
  useEffect(() => {
    addEventListener(CHANGED, reload)
    return () => removeEventListener(CHANGED, reload)
  }, [reload])
}
