/** What the dashboard is told of the platform. */
import { developmentUser } from '../core/development.js'
import type { Mode } from '../core/exchange.js'
import type { DashboardFacts } from '../dashboard/index.js'
import type { Assembly } from './assembly.js'

export async function factsOf(
  { loaded: { config }, endpoints, tokens }: Assembly,
  mode: Mode,
  url: string,
): Promise<DashboardFacts> {
  const { version, models, users, auth } = config
  const { email, password } = developmentUser
  const isThere = auth.mode === 'local' && users.some(user => user.email === email && user.password === password)
  return {
    ...{ url, authUrl: url, version, endpoints },
    anonKey: (await tokens()).anonKey,
    authMode: auth.mode,
    mode,
    models: models.map(({ id }) => id),
    ...(isThere && { signIn: { email, password } }),
  }
}
