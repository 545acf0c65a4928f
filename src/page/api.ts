/** The two APIs as the page calls them: every operation by its method and path, with the types that it declares. */
import { useMemo } from 'preact/hooks'
import { type Client, createClient } from '../api/client.js'
import type { DashboardOperations } from '../dashboard/operations.js'
import type { ControlOperations } from '../http/operations.js'
import { Failure, noAnswer } from './failure.js'
import { useServiceKey } from './people/service-key.jsx'
import { useSession } from './session/session.jsx'

export type Control = Client<ControlOperations>
export type DashboardApi = Client<DashboardOperations>

interface Failed {
  readonly status: number
  readonly message: string | undefined
}

/** In the server's own words. */
function failed({ status, message }: Failed): Failure {
  return status === 0 ? noAnswer() : new Failure(status, message ?? `The answer ${status} cannot be read.`)
}

/** The control API, with the key that was typed in where other machines can reach it. */
export const controlWith = (key: string | undefined): Control =>
  createClient<ControlOperations>('/__standin', { bearer: () => key, failed })

/** The same for a view; another one whenever the key is another one. */
export function useControl(): Control {
  const { serviceKey } = useServiceKey()
  return useMemo(() => controlWith(serviceKey), [serviceKey])
}

type Bearer = () => string | undefined | Promise<string | undefined>

export const dashboardApi = (bearer: Bearer = () => undefined): DashboardApi =>
  createClient<DashboardOperations>('/dashboard/api', { bearer, failed })

/** What of the dashboard's API is for the developer. */
export function useDeveloperApi(): DashboardApi {
  const { serviceKey } = useServiceKey()
  return useMemo(() => dashboardApi(() => serviceKey), [serviceKey])
}

/** What of the dashboard's API is for the user; whoever is signed out by then is told so. */
export function useUserApi(): DashboardApi {
  const { token, end } = useSession()
  return useMemo(() => {
    const failing = (failure: Failed) => {
      if (failure.status === 401) void end()
      return failed(failure)
    }
    return createClient<DashboardOperations>('/dashboard/api', { bearer: token, failed: failing })
  }, [token, end])
}
