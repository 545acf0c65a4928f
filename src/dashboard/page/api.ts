/** The two APIs as the page calls them: every operation by method and path, with its declared types. */
import { type Client, type ClientOptions, createClient } from '../../control/client.js'
import { DASHBOARD_HEADER } from '../../core/paths.js'
import type { ControlOperations } from '../../http/operations.js'
import type { DashboardOperations } from '../operations.js'
import { Failure, noAnswer } from './failure.js'
import { createShared } from './widgets/shared.js'

export type DashboardApi = Client<DashboardOperations>

/** Prefers the server's own message. One about invalid input begins with the name of the field: `name must be …`. */
const failed: ClientOptions['failed'] = ({ status, message = `The response (${status}) could not be read.` }) => {
  if (status === 0) return noAnswer()
  const [, field] = (status === 400 && /^(\w+) (?:must|is) /.exec(message)) || []
  return new Failure(status, message, { field })
}

/** The control token or service key that was entered on another machine. Kept in the page's memory only. */
export const serviceKey = createShared<string | undefined>(undefined)

/** The control API. Resources are loaded again when another key is entered. */
export const control = createClient<ControlOperations>('/__standin', {
  bearer: serviceKey.get,
  // Other tabs are told who made a change.
  headers: { [DASHBOARD_HEADER]: 'yes' },
  failed,
})

export const dashboardApi = (bearer?: ClientOptions['bearer']): DashboardApi =>
  createClient<DashboardOperations>('/dashboard/api', { bearer, failed })
