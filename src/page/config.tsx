/** What the page knows of the platform, for every part of it. */
import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import type { ConfigJson } from '../dashboard/operations.js'

const Config = createContext<ConfigJson | undefined>(undefined)

export const ConfigProvider = Config.Provider

export function useConfig(): ConfigJson {
  const config = useContext(Config)
  if (!config) throw new Error('The configuration is asked for before it is there.')
  return config
}

const CHANGED = 'standin-config-changed'

/** Has what the page knows of the platform read anew. */
export const configHasChanged = () => void dispatchEvent(new Event(CHANGED))

/** Calls `reload` whenever somebody on the page has changed the platform. */
export function useConfigChanges(reload: () => void): void {
  useEffect(() => {
    addEventListener(CHANGED, reload)
    return () => removeEventListener(CHANGED, reload)
  }, [reload])
}
