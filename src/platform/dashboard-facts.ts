/** What the dashboard's page is told of the platform. */
import { developmentUser } from '../core/development.js'
import type { Mode } from '../core/exchange.js'
import type { ConfigJson } from '../dashboard/operations.js'
import type { Assembly } from './assembly.js'

export async function configJson(
  { loaded: { config }, endpoints, tokens }: Assembly,
  mode: Mode,
  url: string,
): Promise<ConfigJson> {
  const { version, models, users, auth } = config
  const { email, password } = developmentUser
  const isThere = auth.mode === 'local' && users.some(user => user.email === email && user.password === password)
  return {
    ...{ url, auth_url: url, mode, version },
    anon_key: (await tokens()).anonKey,
    auth_mode: auth.mode,
    models: models.map(({ id }) => id),
    endpoints: endpoints.map(({ method, path, access }) => ({ method, path, access })),
    ...(isThere && { sign_in: { email, password } }),
  }
}
