/** The two APIs as the page calls them: every operation by method and path, with its declared types. */
import { useMemo } from 'preact/hooks'
import { type Client, type ClientOptions, createClient } from '../api/client.js'
import type { DashboardOperations } from '../dashboard/operations.js'
import type { ControlOperations } from '../http/operations.js'
import { Failure, noAnswer } from './failure.js'
import { useServiceKey } from './widgets/developer-only.jsx'

export type Control = Client<ControlOperations>
export type DashboardApi = Client<DashboardOperations>

/** Prefers the server's own message. */
const failed: ClientOptions['failed'] = ({ status, message }) =>
  status === 0 ? noAnswer() : new Failure(status, message ?? `The response (${status}) could not be read.`)

/** The control API, with the key that was entered if other machines can reach the platform. A new client for each key. */
export function useControl(): Control {
  const serviceKey = useServiceKey()
  return useMemo(() => createClient('/__standin', { bearer: () => serviceKey, failed }), [serviceKey])
}

export const dashboardApi = (bearer?: ClientOptions['bearer']): DashboardApi =>
  createClient<DashboardOperations>('/dashboard/api', { bearer, failed })
