/** Asks the server, and the dashboard's API in particular. */
import { Failure, noAnswer } from './failure.js'

export interface AskOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: object | undefined
  readonly bearer?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Asks the dashboard's API, as `askAt` does. */
export const ask = <Json>(path: string, how?: AskOptions): Promise<Json> => askAt(`/dashboard/api${path}`, how)

/** The JSON of the answer; `undefined` where there is none. Rejects with a Failure in the server's own words. */
export async function askAt<Json>(address: string, how?: AskOptions): Promise<Json> {
  const response = await answerAt(address, how)
  if (response.status === 204) return undefined as Json
  return response.json().catch(() => {
    throw unreadable(response)
  })
}

/** The answer as it comes, for whoever wants no JSON of it. Rejects with a Failure in the server's own words. */
export async function answerAt(
  address: string,
  { method = 'GET', body, bearer, signal }: AskOptions = {},
): Promise<Response> {
  const headers = new Headers()
  if (body) headers.set('content-type', 'application/json')
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) }
  const response = await fetch(address, init).catch(() => {
    throw noAnswer()
  })
  if (response.ok) return response
  const json = await response.json().catch(() => undefined)
  throw json ? new Failure(response.status, String(json.error)) : unreadable(response)
}

const unreadable = ({ status }: Response) => new Failure(status, `The answer ${status} cannot be read.`)
