/** What the page knows of the platform, for every part of it. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ConfigJson } from '../wire.js'

const Config = createContext<ConfigJson | undefined>(undefined)

export const ConfigProvider = Config.Provider

export function useConfig(): ConfigJson {
  const config = useContext(Config)
  if (!config) throw new Error('The configuration is asked for before it is there.')
  return config
}
