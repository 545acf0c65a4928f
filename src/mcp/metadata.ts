/** RFC 9728: the documents that say which credential opens a server, and where a 401 points to them. A file of its own, since it is another specification. */
import type { Exchange, Reply } from '../core/exchange.js'
import { jsonReply } from '../core/exchange.js'
import { AUTH } from '../core/paths.js'
import type { RunningServer } from './context.js'

export const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** The address under which the client has reached us. */
const baseOf = ({ headers: { host } }: Pick<Exchange, 'headers'>) => `http://${host ?? 'localhost'}`

/** The header of a 401. */
export const challenge = (path: string, exchange: Pick<Exchange, 'headers'>): string =>
  `Bearer resource_metadata="${baseOf(exchange)}${WELL_KNOWN}${path}"`

/**
 * The auth backend is named where user tokens open the server, since it issues them. API keys come from the dashboard, and no
 * server issues them to a client. The backend's own metadata says that it is no OAuth server; here nothing is promised that it
 * cannot do, such as scopes.
 */
export const metadata = ({ path, options }: RunningServer, exchange: Exchange): Reply =>
  jsonReply({
    resource: `${baseOf(exchange)}${path}`,
    resource_name: options.title ?? options.name,
    ...(options.access !== 'anyone' &&
      options.access.includes('user') && { authorization_servers: [`${baseOf(exchange)}${AUTH}`] }),
    bearer_methods_supported: ['header'],
  })
