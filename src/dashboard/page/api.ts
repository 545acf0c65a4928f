/** The two APIs as the page calls them: every operation by method and path, with its declared types; and failures in words. */

import type { ControlOperations } from '../../control/operations.js'
import { type Client, type ClientOptions, createClient } from '../../core/client.js'
import { DASHBOARD_HEADER } from '../../core/paths.js'
import type { DashboardOperations } from '../operations.js'
import { createShared } from './widgets/shared.js'

/** A failed request, described for the user. `status` is 0 if there was no answer. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor(
    readonly status: number,
    message: string,
    /** The server's error code, and the name of the field that caused it, if known. */
    readonly about: { readonly code?: string | undefined; readonly field?: string | undefined } = {},
  ) {
    super(message)
  }
}

export const NOT_RUNNING = 'Standin isn’t running. Restart it and this page will reconnect.'
export const noAnswer = () => new Failure(0, NOT_RUNNING)

export const notLoaded = () =>
  new Failure(0, 'This view could not be loaded. Standin may have stopped, or may have been rebuilt. Reload the page.')

/** Turns any thrown value into a Failure. */
export const failureOf = (thrown: unknown): Failure =>
  thrown instanceof Failure ? thrown : new Failure(-1, thrown instanceof Error ? thrown.message : String(thrown))

/** A Failure with the auth backend's own message, which may name the field it is about. */
function refusal(status: number, message: string, code?: string): Failure {
  // An address that is not confirmed is not a mistake in its field.
  const field = code === 'email_not_confirmed' ? undefined : /\b(password|email|phone)\b/i.exec(message)?.[1]
  return new Failure(status, message, { code, field: field?.toLowerCase() })
}

type DashboardApi = Client<DashboardOperations>

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

interface AuthRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: object
  /** The anon key, or the service key. */
  readonly key: string
  /** A user's token, if it is not the key itself. */
  readonly bearer?: string
}

/** Asks the auth backend, as supabase-js does. Rejects with a Failure that has its own message. */
export async function askAuth<T>(path: string, { method = 'POST', body, key, bearer = key }: AuthRequest): Promise<T> {
  const response = await fetch(`/auth/v1/${path}`, {
    method,
    headers: {
      apikey: key,
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      [DASHBOARD_HEADER]: 'yes',
      // With this version, errors have a `code` in words.
      'x-supabase-api-version': '2024-01-01',
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw noAnswer()
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const { message, msg, error, code } = answer
  throw refusal(response.status, message ?? msg ?? error ?? `The answer was ${response.status}.`, code)
}

/** The same with the service key, which is loaded each time, since the configuration can change it. */
export const askAsAdmin = async (path: string, request: Omit<AuthRequest, 'key'>): Promise<unknown> =>
  askAuth(path, { ...request, key: (await control('GET /credentials')).serviceKey })
