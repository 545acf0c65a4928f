/** Secrets of a start's own, where other machines could spend the live key with the public development secrets. */
import { randomBytes } from 'node:crypto'
import { isLoopback } from '../core/origins.js'
import {
  developmentApiKey,
  developmentPublishableKey,
  developmentSecretKey,
  developmentUser,
  isPublicSecret,
} from '../core/secrets.js'
import { once } from '../core/work.js'
import { newSecret } from '../keys/api-keys.js'
import { type LoadedConfig, mistakesWithoutLive } from './config/load.js'
import type { Config } from './config/schema.js'

const random = (prefix = '') => prefix + randomBytes(24).toString('base64url')

/** A new value for each public secret that a configuration may have. */
const createOwnSecrets = () =>
  new Map([
    [developmentApiKey, newSecret()],
    [developmentPublishableKey, random('sb_publishable_')],
    [developmentSecretKey, random('sb_secret_')],
    [developmentUser.password, random()],
  ])

/** Whether others than this machine can reach the live platform through `host`, with the live key. */
export const sharesLiveKey = (config: Config, host: string) =>
  !isLoopback(host) &&
  config.upstream.credentials === 'swap' &&
  config.upstream.apiKey !== '' &&
  mistakesWithoutLive(config).length > 0

/** Whether everybody knows a secret that is valid with this configuration. */
export const hasPublicSecret = ({ apiKeys, auth }: Pick<Config, 'apiKeys' | 'auth'>) =>
  apiKeys.some(({ key }) => key === developmentApiKey) ||
  isPublicSecret(auth.jwtSecret) ||
  auth.publishableKey === developmentPublishableKey ||
  auth.secretKey === developmentSecretKey

/** Creates a function that replaces public secrets if the live key is shared, by the same ones each time. */
export function ownSecretsFor(host: string): (loaded: LoadedConfig) => LoadedConfig {
  const secrets = once(createOwnSecrets)
  const jwtSecret = once(random)
  const own = (value: string) => secrets().get(value) ?? value
  return loaded => {
    const { config } = loaded
    if (!sharesLiveKey(config, host)) return loaded
    const auth = {
      ...config.auth,
      jwtSecret: isPublicSecret(config.auth.jwtSecret) ? jwtSecret() : config.auth.jwtSecret,
      publishableKey: own(config.auth.publishableKey),
      secretKey: own(config.auth.secretKey),
    }
    const apiKeys = config.apiKeys.map(one => ({ ...one, key: own(one.key) }))
    const users = config.users.map(({ password, ...one }) => (password ? { ...one, password: own(password) } : one))
    return { ...loaded, config: { ...config, auth, apiKeys, users } }
  }
}
