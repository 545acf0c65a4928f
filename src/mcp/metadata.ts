/**
 * RFC 9728: the documents that say which credentials a server accepts, and the header of a 401 that points to them. A
 * separate file, because it implements a separate specification.
 */
import type { Exchange, Reply } from '../core/exchange.js'
import { jsonReply } from '../core/exchange.js'
import { AUTH } from '../core/paths.js'
import type { RunningServer } from './context.js'

export const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** The address that the client used to reach us. */
const baseOf = ({ headers: { host } }: Pick<Exchange, 'headers'>) => `http://${host ?? 'localhost'}`

/** The header of a 401. */
export const challenge = (path: string, exchange: Pick<Exchange, 'headers'>): string =>
  `Bearer resource_metadata="${baseOf(exchange)}${WELL_KNOWN}${path}"`

/**
 * Names the auth backend if the server accepts user tokens, because the backend issues them. API keys come from the
 * dashboard, so they have no authorization server. The backend is not an OAuth server, so no scopes are listed.
 */
export const metadata = ({ path, options }: RunningServer, exchange: Exchange): Reply =>
  jsonReply({
    resource: `${baseOf(exchange)}${path}`,
    resource_name: options.title ?? options.name,
    ...(options.access !== 'anyone' &&
      options.access.includes('user') && { authorization_servers: [`${baseOf(exchange)}${AUTH}`] }),
    bearer_methods_supported: ['header'],
  })
